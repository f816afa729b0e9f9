// The operations of the SDK and the command line, read from the OpenAPI document.
import type {
  OpenApiDocument,
  OperationObject,
  Parameter,
} from "../../shared/http/openapi/document.ts";
import { idempotencyKeyReference } from "../../shared/http/openapi/document.ts";
import {
  type Components,
  type JsonSchema,
  resolveSchema,
} from "../../shared/http/openapi/json-schemas.ts";
import type { MediaType, ResponseObject } from "../../shared/http/openapi/response-objects.ts";
import { basePath } from "../../shared/http/route.ts";

export interface SdkOperation {
  group: string;
  action: string;
  /** `createContact` */
  id: string;
  method: string;
  /** Path after the base path: /contacts/{id} */
  path: string;
  summary: string;
  description: string;
  pathParameters: Parameter[];
  queryParameters: Parameter[];
  /** Undefined if the operation takes no body. */
  body: SdkBody | undefined;
  /** Schema of what a method returns; undefined for text. */
  returns: JsonSchema | undefined;
  /** Schema of what it returns instead of a long file. */
  deferredReturns: JsonSchema | undefined;
  /** Whether it can return CSV. */
  returnsText: boolean;
  list: SdkList | undefined;
  takesIdempotencyKey: boolean;
  takesSite: boolean;
  isRepeatable: boolean;
  isPublic: boolean;
  takesApiKey: boolean;
}

export interface SdkBody {
  required: boolean;
  /** Undefined if the body can only be a file or a form. */
  json: JsonSchema | undefined;
  takesFile: boolean;
  takesPicture: boolean;
  takesForm: boolean;
}

export interface SdkList {
  itemsName: string;
  items: JsonSchema;
  paging: "cursor" | "page" | undefined;
}

/** Sorted by group, each group in the order of the document. */
export function readOperations({ paths, components }: OpenApiDocument): SdkOperation[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => path.startsWith(basePath) && isForPrograms(operation))
      .map(([method, operation]) =>
        readOperation({ ...operation, path, method: method.toUpperCase() }, components.schemas),
      ),
  );
  return [...Map.groupBy(all, ({ group }) => group).values()].flat();
}

/** Not pages and scripts, nor endpoints that other services call. */
function isForPrograms(operation: OperationObject): boolean {
  const [mainType = ""] = Object.keys(successOf(operation).content ?? {});
  const isPage = !["application/json", "text/csv"].includes(mainType);
  const takesOnlyForms = operation.requestBody && !readBody(operation);
  const isCalledByOthers = /^(receive|getOpenApiDocument|getResendEmail)/.test(
    operation.operationId,
  );
  return !isPage && !takesOnlyForms && !isCalledByOthers;
}

function readOperation(
  operation: OperationObject & { path: string; method: string },
  schemas: Components,
): SdkOperation {
  const { path, method } = operation;
  const [group = "", action = ""] = operation["x-sdk-method"].split(".");
  const parameters = operation.parameters.filter((one) => "in" in one);
  const queryParameters = parameters.filter((one) => one.in === "query");
  const body = readBody(operation);
  const success = successOf(operation).content ?? {};
  const json = success["application/json"];
  const returns = json && dataOf(json, schemas);
  const deferred = operation.responses[202] as ResponseObject | undefined;
  const isDeferred = Boolean(deferred && operation.responses[200]);
  const takesIdempotencyKey = operation.parameters.some(
    (one) => "$ref" in one && one.$ref === idempotencyKeyReference.$ref,
  );
  const isPublic = !operation.security.length;
  return {
    group,
    action,
    id: operation.operationId,
    method,
    path: path.slice(basePath.length),
    summary: operation.summary,
    description: operation.description,
    pathParameters: parameters.filter((one) => one.in === "path"),
    // A body of the same fields has better types.
    queryParameters: method === "DELETE" && body ? [] : queryParameters,
    body,
    returns,
    deferredReturns: isDeferred
      ? dataOf(deferred!.content!["application/json"]!, schemas)
      : undefined,
    returnsText: "text/csv" in success,
    list:
      method === "GET" && returns
        ? readList(resolveSchema(returns, schemas), queryParameters)
        : undefined,
    takesIdempotencyKey,
    takesSite:
      /GET|POST/.test(method) &&
      (queryParameters.some(({ name }) => name === "siteId") || hasSite(body?.json, schemas)),
    isRepeatable: method !== "POST" || takesIdempotencyKey || !isPublic,
    isPublic,
    takesApiKey: operation.security.some((way) => "apiKey" in way),
  };
}

const successOf = ({ responses }: OperationObject): ResponseObject =>
  Object.entries(responses).find(([status]) => status.startsWith("2"))![1] as ResponseObject;

const dataOf = ({ schema }: MediaType, schemas: Components): JsonSchema | undefined =>
  resolveSchema(schema, schemas).properties?.data;

const hasSite = (body: JsonSchema | undefined, schemas: Components): boolean =>
  body !== undefined &&
  alternativesOf(body, schemas).some(({ properties }) => properties?.siteId !== undefined);

/** The objects that a schema permits: itself, or each of its alternatives. */
export function alternativesOf(schema: JsonSchema, schemas: Components): JsonSchema[] {
  const resolved = resolveSchema(schema, schemas);
  const alternatives = resolved.anyOf ?? resolved.oneOf;
  return alternatives?.flatMap((one) => alternativesOf(one, schemas)) ?? [resolved];
}

function readBody({ requestBody }: OperationObject): SdkBody | undefined {
  if (!requestBody) return undefined;
  const { required, content } = requestBody;
  const types = Object.keys(content);
  const json = content["application/json"]?.schema;
  const takesFile = types.includes("text/csv");
  const takesPicture = types.includes("application/octet-stream");
  if (!json && !takesFile && !takesPicture) return undefined;
  const takesForm = types.includes("multipart/form-data");
  return { required, json, takesFile, takesPicture, takesForm };
}

/** A response with one array, and nothing else but its pagination, is a list. */
function readList({ properties = {} }: JsonSchema, query: Parameter[]): SdkList | undefined {
  const others = Object.entries(properties).filter(([name]) => name !== "pagination");
  const [[itemsName, schema] = []] = others;
  if (others.length !== 1 || !itemsName || !schema?.items) return undefined;
  const takes = (parameter: string) => query.some(({ name }) => name === parameter);
  const pagingByNumber = takes("page") ? "page" : undefined;
  return { itemsName, items: schema.items, paging: takes("cursor") ? "cursor" : pagingByNumber };
}
