// Accepts a message that came by SMTP. It runs as a request to a route of its own, so that scope,
// rate limit, idempotency, audit log and request log are those of POST /send.
import { createHash, randomUUID } from "node:crypto";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import * as z from "zod";
import type { Caller } from "../../../shared/caller.ts";
import { Problem } from "../../../shared/errors.ts";
import {
  acceptEach,
  acceptMail,
  checkSharedFiles,
  renamed,
  requireAllAcceptable,
  toMessage,
} from "../../../shared/http/compat/translated-mail.ts";
import { routeGroup } from "../../../shared/http/dispatch.ts";
import { basePath, route } from "../../../shared/http/route.ts";
import { isObject, parseJson } from "../../../shared/kernel/json.ts";
import { digestOfMessage } from "./message-identity.ts";
import { headerNames, readMessage } from "./smtp-message.ts";

export const maxRecipients = 50;

type Message = Pick<SmtpRequest, "bytes" | "recipients">;
/** By the id of the request, whose body is only the digest of the message. */
const messagesInProgress = new Map<string, Message>();
const messageHeader = "x-smtp-message";

/** Not in the route groups: only the SMTP server of this process calls it. */
const smtp = routeGroup("smtp", [
  route("POST /smtp/messages", "Send a message that came by SMTP", {
    audit: "counted",
    operationId: "sendEmail",
    level: "site",
    rateLimit: "send",
    scopeGroup: "send",
    right: "sending:write",
    rawBodyTypes: { "text/plain": z.string() },
    status: 202,
    returns: z.object({ ids: z.array(z.int()), refused: z.array(z.string()) }),
    handle: ({ caller, request }) =>
      accept(caller, messagesInProgress.get(request.headers[messageHeader]!)!).catch(
        withoutStoredRefusal,
      ),
  }),
]);

async function accept(caller: Caller, { bytes, recipients }: Message) {
  const mails = await readMessage(bytes, recipients);
  const messages = mails.map((mail) => toMessage(mail, headerNames));
  if (messages.length === 1) {
    const { id } = await acceptMail(caller, messages[0]!, headerNames);
    return { ids: [id], refused: [] };
  }
  const files = await checkSharedFiles(caller, messages, headerNames);
  const rename = (error: unknown) => renamed(error, headerNames);
  await requireAllAcceptable(caller, messages, { rename, files });
  const results = await acceptEach(caller, messages, files);
  return {
    ids: results.flatMap(({ id }) => id ?? []),
    refused: results.flatMap(({ index, error }) =>
      error === null ? [] : [`${recipients[index]}: ${error}`],
    ),
  };
}

/**
 * A mail server repeats the message until there are credits, so the refusal has a status that
 * idempotency.ts does not store.
 */
function withoutStoredRefusal(error: unknown): never {
  if (!(error instanceof Problem && error.kind === "unpaid")) throw error;
  const { kind, code, message } = error;
  throw new Problem(kind, message, { code, status: 429 });
}

interface SmtpRequest {
  bytes: Buffer;
  recipients: string[];
  /** The header Message-ID. Without it, a repeated message is a new one. */
  messageId: string | undefined;
  apiKey: string;
  address: string;
}

export interface SmtpAnswer {
  /** Reply code (RFC 5321) and enhanced status code (RFC 3463). */
  code: number;
  enhanced: string;
  text: string;
}

/** Stores the message before it answers with 250. */
export async function acceptMessage(given: SmtpRequest): Promise<SmtpAnswer> {
  const event = toEvent(given);
  const { requestId } = event.requestContext;
  messagesInProgress.set(requestId, given);
  const { statusCode = 500, body = "" } = await smtp
    .handler(event)
    .finally(() => messagesInProgress.delete(requestId));
  const parsed = parseJson(body);
  if (statusCode >= 300) return toRefusal(statusCode, parsed);
  const { ids, refused } = (parsed as { data: { ids: number[]; refused: string[] } }).data;
  if (refused.length)
    return {
      code: 554,
      enhanced: "5.6.0",
      text: `${ids.length} recipients are accepted, these are not: ${refused.join("; ")}`,
    };
  return { code: 250, enhanced: "2.0.0", text: `Accepted as send ${ids.join(", ")}` };
}

const refusals: Record<number, [number, string]> = {
  401: [535, "5.7.8"],
  403: [550, "5.7.1"],
  413: [552, "5.3.4"],
  429: [451, "4.7.0"],
};

/** A client repeats the message after a code of 4xx, and returns it to its sender after 5xx. */
function toRefusal(status: number, problem: unknown): SmtpAnswer {
  const { error = "The message was not accepted", code: reason } = (
    isObject(problem) ? problem : {}
  ) as { error?: string; code?: string };
  if (reason === "payment_required") return { code: 452, enhanced: "4.3.1", text: error };
  const isTemporary = status >= 500 || reason === "idempotency_in_progress";
  const [code, enhanced] = isTemporary ? [451, "4.3.0"] : (refusals[status] ?? [554, "5.6.0"]);
  return { code, enhanced, text: error };
}

/**
 * Clients may send one message to several recipients in several transactions, so the recipients are
 * a part of the key.
 */
const idempotencyKey = ({ messageId, recipients }: SmtpRequest) =>
  messageId === undefined
    ? {}
    : {
        "idempotency-key": `smtp-${createHash("sha256")
          .update(JSON.stringify([messageId, recipients.toSorted()]))
          .digest("hex")}`,
      };

function toEvent(given: SmtpRequest): APIGatewayProxyEventV2 {
  const { bytes, apiKey, address } = given;
  const path = `${basePath}/smtp/messages`;
  const requestId = randomUUID();
  return {
    version: "2.0",
    routeKey: `POST ${path}`,
    rawPath: path,
    rawQueryString: "",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "content-type": "text/plain",
      [messageHeader]: requestId,
      ...idempotencyKey(given),
    },
    body: digestOfMessage(bytes),
    isBase64Encoded: false,
    requestContext: {
      accountId: "000000000000",
      apiId: "local",
      domainName: "localhost",
      domainPrefix: "local",
      http: { method: "POST", path, protocol: "SMTP", sourceIp: address, userAgent: "" },
      requestId,
      routeKey: `POST ${path}`,
      stage: "$default",
      time: "",
      timeEpoch: 0,
    },
  };
}
