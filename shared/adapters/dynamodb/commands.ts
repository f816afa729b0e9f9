// The operations of DynamoDB that we use, with the names and types of the SDK's document client.
import type * as sdk from "@aws-sdk/lib-dynamodb";
import { replaceLoneSurrogates } from "../../kernel/json.ts";
import type { Key } from "../../keys.ts";
import { AwsJsonCommand } from "../aws/json-client.ts";
import { type MarshalledMap, marshall, marshallMap, unmarshallMap } from "./marshalling.ts";

abstract class DynamoDbCommand<Input extends object, Output extends object> extends AwsJsonCommand<
  Input,
  Output
> {
  override toBody(): string {
    return toValidText(toJson(this.input));
  }
  override toOutput(answer: object): Output {
    return toPlainValues(answer) as Output;
  }
}

/** DynamoDB rejects calls with a lone surrogate, which occurs when a text is truncated. */
const toValidText = (body: string) => (body.includes("\\ud") ? replaceLoneSurrogates(body) : body);

export class GetCommand extends DynamoDbCommand<sdk.GetCommandInput, sdk.GetCommandOutput> {
  readonly operation = "GetItem";
}
export class PutCommand extends DynamoDbCommand<sdk.PutCommandInput, sdk.PutCommandOutput> {
  readonly operation = "PutItem";
}
export class UpdateCommand extends DynamoDbCommand<
  sdk.UpdateCommandInput,
  sdk.UpdateCommandOutput
> {
  readonly operation = "UpdateItem";
}
export class DeleteCommand extends DynamoDbCommand<
  sdk.DeleteCommandInput,
  sdk.DeleteCommandOutput
> {
  readonly operation = "DeleteItem";
}
export class QueryCommand extends DynamoDbCommand<sdk.QueryCommandInput, sdk.QueryCommandOutput> {
  readonly operation = "Query";
}
export class BatchGetCommand extends DynamoDbCommand<
  sdk.BatchGetCommandInput,
  sdk.BatchGetCommandOutput
> {
  readonly operation = "BatchGetItem";
}
export class BatchWriteCommand extends DynamoDbCommand<
  sdk.BatchWriteCommandInput,
  sdk.BatchWriteCommandOutput
> {
  readonly operation = "BatchWriteItem";
}
export class BatchExecuteStatementCommand extends DynamoDbCommand<
  sdk.BatchExecuteStatementCommandInput,
  sdk.BatchExecuteStatementCommandOutput
> {
  readonly operation = "BatchExecuteStatement";
}
export class TransactWriteCommand extends DynamoDbCommand<
  sdk.TransactWriteCommandInput,
  sdk.TransactWriteCommandOutput
> {
  readonly operation = "TransactWriteItems";
  /** With a token, a retry after a lost answer succeeds instead of failing on its own writes. */
  override toBody(): string {
    return toValidText(toJson({ ClientRequestToken: crypto.randomUUID(), ...this.input }));
  }
}

/** The keys of the items that a command writes. */
export function listWrittenKeys(command: AwsJsonCommand<object, object>): Key[] {
  if (command instanceof PutCommand) return [command.input.Item as Key];
  if (command instanceof UpdateCommand || command instanceof DeleteCommand)
    return [command.input.Key as Key];
  if (command instanceof BatchWriteCommand)
    return Object.values(command.input.RequestItems ?? {})
      .flat()
      .map(({ PutRequest, DeleteRequest }) => (PutRequest?.Item ?? DeleteRequest?.Key) as Key);
  if (command instanceof TransactWriteCommand)
    return (command.input.TransactItems ?? []).map(
      ({ Put, Update, Delete, ConditionCheck }) =>
        (Put?.Item ?? (Update ?? Delete ?? ConditionCheck)?.Key) as Key,
    );
  if (command instanceof BatchExecuteStatementCommand)
    return (command.input.Statements ?? []).flatMap(({ Parameters = [] }) =>
      listPossibleKeys(Parameters),
    );
  return [];
}

/** The partition key and the sort key are neighbours among the parameters of our statements. */
const listPossibleKeys = (parameters: unknown[]): Key[] =>
  parameters.flatMap((pk, i) => {
    const sk = parameters[i + 1];
    return typeof pk === "string" && typeof sk === "string" ? { pk, sk } : [];
  });

const itemFields = new Set(["Item", "Key", "ExpressionAttributeValues", "ExclusiveStartKey"]);

const listFields: Record<string, (member: never) => string> = {
  Keys: marshallMap,
  Parameters: marshall,
};

/** The JSON text of a request. Items, keys and values are marshalled wherever they stand. */
function toJson(value: unknown, field?: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (field !== undefined && itemFields.has(field)) return marshallMap(value);
  if (Array.isArray(value)) {
    const toMember = listFields[field ?? ""] ?? toJson;
    return `[${value.map((member) => toMember(member as never)).join(",")}]`;
  }
  let members = "";
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    members += `${members && ","}${JSON.stringify(name)}:${toJson(member, name)}`;
  }
  return `{${members}}`;
}

const toPlainItems = (items: MarshalledMap[]) => items.map(unmarshallMap);
const mapTables = <T>(byTable: Record<string, T>, convert: (value: T) => unknown) =>
  Object.fromEntries(Object.entries(byTable).map(([table, value]) => [table, convert(value)]));

/** How the fields of an answer that contain items become plain values. */
const outputFields: Record<string, (value: never) => unknown> = {
  Item: unmarshallMap,
  Attributes: unmarshallMap,
  LastEvaluatedKey: unmarshallMap,
  Items: toPlainItems,
  UnprocessedKeys: (tables: Record<string, { Keys: MarshalledMap[] }>) =>
    mapTables(tables, (rest) => ({ ...rest, Keys: toPlainItems(rest.Keys) })),
  UnprocessedItems: (tables: Record<string, UnprocessedWrite[]>) =>
    mapTables(tables, (writes) => writes.map(toPlainWrite)),
  // BatchGetItem answers items by table, BatchExecuteStatement a list with errors.
  Responses: (responses: Record<string, MarshalledMap[]> | unknown[]) =>
    Array.isArray(responses) ? responses : mapTables(responses, toPlainItems),
};

interface UnprocessedWrite {
  PutRequest?: { Item: MarshalledMap };
  DeleteRequest?: { Key: MarshalledMap };
}

const toPlainWrite = ({ PutRequest, DeleteRequest }: UnprocessedWrite) =>
  PutRequest
    ? { PutRequest: { Item: unmarshallMap(PutRequest.Item) } }
    : { DeleteRequest: { Key: unmarshallMap(DeleteRequest!.Key) } };

function toPlainValues(answer: object): object {
  const plain: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(answer))
    plain[field] = value === null ? undefined : (outputFields[field]?.(value as never) ?? value);
  return plain;
}
