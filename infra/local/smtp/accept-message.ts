// Accepts a message that came by SMTP. It runs as a request to a route of its own, so that scope,
// rate limit, idempotency, audit log and request log are those of POST /send.
import { createHash, randomUUID } from "node:crypto";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import * as z from "zod";
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
import { headerNames, readMessage } from "./smtp-message.ts";

export const maxRecipients = 50;
const recipientsHeader = "x-smtp-recipients";

/** Not in the route groups: only the SMTP server of this process calls it. */
const smtp = routeGroup("smtp", [
  route("POST /smtp/messages", "Send a message that came by SMTP", {
    audit: "counted",
    operationId: "sendEmail",
    level: "site",
    rateLimit: "send",
    scopeGroup: "send",
    right: "sending:write",
    rawBodyTypes: { "message/rfc822": z.string() },
    status: 202,
    returns: z.object({ ids: z.array(z.int()), refused: z.array(z.string()) }),
    handle: async ({ caller, request }) => {
      const recipients = JSON.parse(request.headers[recipientsHeader]!) as string[];
      const mails = await readMessage(request.rawBody, recipients);
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
    },
  }),
]);

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
  const { statusCode = 500, body = "" } = await smtp.handler(toEvent(given));
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
  402: [452, "4.3.1"],
  403: [550, "5.7.1"],
  413: [552, "5.3.4"],
  429: [451, "4.7.0"],
};

/** A client repeats the message after a code of 4xx, and returns it to its sender after 5xx. */
function toRefusal(status: number, problem: unknown): SmtpAnswer {
  const { error = "The message was not accepted", code: reason } = (
    isObject(problem) ? problem : {}
  ) as { error?: string; code?: string };
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
  const { bytes, recipients, apiKey, address } = given;
  const path = `${basePath}/smtp/messages`;
  const requestId = randomUUID();
  return {
    version: "2.0",
    routeKey: `POST ${path}`,
    rawPath: path,
    rawQueryString: "",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "content-type": "message/rfc822",
      [recipientsHeader]: JSON.stringify(recipients),
      ...idempotencyKey(given),
    },
    body: bytes.toString("base64"),
    isBase64Encoded: true,
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
