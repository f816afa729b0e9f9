// A fake mail provider that records accepted mails and fails on demand. It implements parts of the
// APIs of Postmark and SparkPost (batches, no idempotency keys), Resend (batches, with keys) and SES
// (one mail per call).
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as clock from "../../shared/clock.ts";

export interface FakeProviderMail {
  sendId: number;
  to: string;
  /** Postmark and SparkPost only: name and address. */
  from?: string | undefined;
  replyTo?: string | undefined;
  headers?: Record<string, string> | undefined;
  /** Postmark only. */
  cc?: string | undefined;
  bcc: string | undefined;
  subject: string;
  html: string;
  text: string;
  attachments: { filename: string; content: string }[];
  trackOpens: boolean | undefined;
  trackClicks: boolean | undefined;
  /** The number of its call, counted from 1. */
  call: number;
  /** When it was accepted, in ms since 1970. */
  at: number;
}

interface FakeProviderCall {
  n: number;
  /** Time of the service's clock, in ms since 1970. */
  at: number;
  recipients: number;
  key: string | undefined;
}

/**
 * An error status refuses the mails. `reset` accepts no mail and cuts the connection. The others
 * accept the mails: `lost` cuts the connection, `half` cuts it in the middle of the response, and
 * `garbled` responds with truncated JSON.
 */
export type ProviderFault =
  | { status: number; headers?: Record<string, string>; body?: unknown }
  | "reset"
  | "lost"
  | "half"
  | "garbled";

export interface FakeProvider {
  mails: FakeProviderMail[];
  calls: FakeProviderCall[];
  /** The largest number of concurrent calls. */
  maxConcurrentCalls: number;
  /** The fault of a call, or undefined. */
  faultFor: (call: FakeProviderCall) => ProviderFault | undefined;
  /** Whether the mail to this address is refused. */
  isRefused: (to: string) => boolean;
  /** Milliseconds until each response. */
  latencyMs: number;
  /** Calls wait for this promise before they get a response. */
  gate: Promise<void> | undefined;
  /** Headers of the responses to accepted calls. */
  headers: Record<string, string>;
  /** After this time, the search has a mail. Undefined: the credentials do not permit it. */
  searchDelaySeconds: number | undefined;
  /** SparkPost: how far the provider's clock is ahead. */
  clockAheadSeconds: number;
  /** SparkPost: the provider refuses to send the mails that it accepted. */
  refusesAccepted: boolean;
  /** Requests to the search. */
  searches: string[];
  /** SES: `SendQuota` of GetAccount. Undefined: the credentials do not permit it. */
  sendQuota: { MaxSendRate: number; Max24HourSend: number; SentLast24Hours: number } | undefined;
  stop(): Promise<void>;
}

type JsonObject = Record<string, unknown>;

interface ProviderDialect {
  mail(message: JsonObject): Omit<FakeProviderMail, "call" | "at">;
  /** The response for these accepted mails. Undefined stands for a refused mail. */
  answer(ids: (string | undefined)[], single: boolean): { status: number; body: unknown };
}

/** Starts the provider and directs the adapter of this key to it. */
export async function startFakeProvider(key: keyof typeof dialects): Promise<FakeProvider> {
  const provider: FakeProvider = {
    mails: [],
    calls: [],
    maxConcurrentCalls: 0,
    faultFor: () => undefined,
    isRefused: () => false,
    latencyMs: 0,
    gate: undefined,
    headers: {},
    searchDelaySeconds: undefined,
    clockAheadSeconds: 0,
    refusesAccepted: false,
    searches: [],
    sendQuota: undefined,
    stop,
  };
  const answersByKey = new Map<string, { status: number; body: unknown; question: string }>();
  let busy = 0;
  const server = createServer((request, response) => {
    provider.maxConcurrentCalls = Math.max(provider.maxConcurrentCalls, ++busy);
    void serve(request, response).finally(() => busy--);
  });

  async function serve(request: IncomingMessage, response: ServerResponse) {
    const { url = "" } = request;
    if (url.startsWith("/messages/outbound?")) return search(url, response, searchPostmark);
    if (url.startsWith("/api/v1/events/message?")) return search(url, response, searchSparkPost);
    if (request.method === "GET") return replyAboutAccount(response);
    const body: unknown = JSON.parse(await textOf(request));
    const messages = messagesIn(body as JsonObject | JsonObject[]);
    const idempotencyKey = request.headers["idempotency-key"] as string | undefined;
    const call: FakeProviderCall = {
      n: provider.calls.length + 1,
      at: clock.now().getTime(),
      recipients: messages.length,
      key: idempotencyKey,
    };
    provider.calls.push(call);
    if (provider.latencyMs) await new Promise((resolve) => setTimeout(resolve, provider.latencyMs));
    await provider.gate;
    const fault = provider.faultFor(call);
    const requestText = `${request.url} ${JSON.stringify(body)}`;
    const storedAnswer = answersByKey.get(String(idempotencyKey));
    if (fault === "reset") return request.socket.destroy();
    // A call whose key is known is not refused as invalid.
    if (typeof fault === "object" && !(storedAnswer && fault.status === 400))
      return reply(response, fault);
    if (storedAnswer && storedAnswer.question !== requestText)
      return reply(response, { status: 409, body: { name: "invalid_idempotent_request" } });
    const answer = storedAnswer ?? {
      ...acceptMails(messages, call, !Array.isArray(body)),
      question: requestText,
    };
    if (idempotencyKey !== undefined) answersByKey.set(idempotencyKey, answer);
    if (fault === "lost") return request.socket.destroy();
    return fault === "half" || fault === "garbled"
      ? truncateResponse(response, answer.body, fault)
      : reply(response, { ...answer, headers: provider.headers });
  }

  function search(
    url: string,
    response: ServerResponse,
    find: (query: URLSearchParams, indexed: FakeProviderMail[]) => object,
  ) {
    provider.searches.push(url);
    const { searchDelaySeconds } = provider;
    if (searchDelaySeconds === undefined) return reply(response, { status: 401 });
    const newest = clock.addSeconds(-searchDelaySeconds).getTime();
    const indexed = provider.mails.filter(({ at }) => at <= newest);
    reply(response, { status: 200, body: find(new URL(url, "http://any").searchParams, indexed) });
  }

  function searchPostmark(query: URLSearchParams, indexed: FakeProviderMail[]) {
    const Messages = indexed
      .filter(({ to }) => to === query.get("recipient"))
      .map(({ sendId }) => ({ MessageID: `m-${sendId}`, Metadata: { sendId: String(sendId) } }));
    return { TotalCount: Messages.length, Messages };
  }

  function searchSparkPost(query: URLSearchParams, indexed: FakeProviderMail[]) {
    const { clockAheadSeconds, refusesAccepted } = provider;
    const from = Date.parse(query.get("from")!);
    const to = Date.parse(
      query.get("to") ?? clock.addSeconds(clockAheadSeconds - 60).toISOString(),
    );
    const toOwnTime = ({ at }: FakeProviderMail) => at + clockAheadSeconds * 1000;
    const results = indexed
      .filter((mail) => query.get("recipients")!.split(",").includes(mail.to))
      .filter((mail) => toOwnTime(mail) >= from && toOwnTime(mail) <= to)
      .map(({ sendId }) => ({
        type: refusesAccepted ? "policy_rejection" : "injection",
        ...(refusesAccepted && { reason: "550 Not allowed" }),
        transmission_id: `m-${sendId}`,
        rcpt_meta: { sendId: String(sendId) },
      }));
    return { results, total_count: results.length, links: {} };
  }

  function replyAboutAccount(response: ServerResponse) {
    const { sendQuota: SendQuota } = provider;
    reply(response, SendQuota ? { status: 200, body: { SendQuota } } : { status: 403 });
  }

  function acceptMails(messages: JsonObject[], call: FakeProviderCall, single: boolean) {
    const ids = messages.map((message) => {
      const mail = { ...dialects[key].mail(message), call: call.n, at: clock.now().getTime() };
      if (provider.isRefused(mail.to)) return undefined;
      provider.mails.push(mail);
      return `m-${mail.sendId}`;
    });
    return dialects[key].answer(ids, single);
  }

  async function stop() {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env[`PROVIDER_URL_${key.toUpperCase()}`] =
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return provider;
}

function reply(
  response: ServerResponse,
  { status, headers = {}, body = { message: `status ${status}` } }: Exclude<ProviderFault, string>,
) {
  response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(JSON.stringify(body));
}

function truncateResponse(response: ServerResponse, body: unknown, how: "half" | "garbled") {
  const text = JSON.stringify(body);
  const half = text.slice(0, text.length / 2);
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": (how === "half" ? text : half).length,
  });
  if (how === "garbled") response.end(half);
  else response.write(half, () => setTimeout(() => response.destroy(), 5));
}

/** A request to SparkPost has one content and several recipients. */
const messagesIn = (body: JsonObject | JsonObject[]): JsonObject[] =>
  (Array.isArray(body) ? body : [body]).flatMap((message: JsonObject): JsonObject[] =>
    Array.isArray(message.recipients)
      ? message.recipients.map((recipient) => ({ ...message, recipients: [recipient] }))
      : [message],
  );

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

const address = (mailbox: string): string => /<(.*)>/.exec(mailbox)?.[1] ?? mailbox;

const dialects: Record<"postmark" | "sparkpost" | "resend" | "ses", ProviderDialect> = {
  sparkpost: {
    mail: (message) => {
      const { recipients, content, options } = message as {
        recipients: { address: { email: string }; metadata: { sendId: string } }[];
        content: {
          from: { email: string; name?: string };
          reply_to?: string;
          headers: Record<string, string>;
          subject: string;
          html?: string;
          text?: string;
          attachments?: { name: string; data: string }[];
        };
        options: { open_tracking?: boolean; click_tracking?: boolean };
      };
      return {
        sendId: Number(recipients[0]!.metadata.sendId),
        to: recipients[0]!.address.email,
        from: content.from.name
          ? `${content.from.name} <${content.from.email}>`
          : content.from.email,
        replyTo: content.reply_to,
        headers: content.headers,
        bcc: undefined,
        subject: content.subject,
        html: content.html ?? "",
        text: content.text ?? "",
        attachments: (content.attachments ?? []).map(({ name, data }) => ({
          filename: name,
          content: data,
        })),
        trackOpens: options.open_tracking,
        trackClicks: options.click_tracking,
      };
    },
    answer: (ids) => {
      const accepted = ids.filter(Boolean).length;
      const results = {
        id: ids[0] ?? "refused",
        total_accepted_recipients: accepted,
        total_rejected_recipients: ids.length - accepted,
      };
      return { status: 200, body: { results } };
    },
  },
  postmark: {
    mail: (message) => ({
      sendId: Number((message.Metadata as JsonObject).sendId),
      to: address(String(message.To)),
      from: String(message.From),
      replyTo: message.ReplyTo as string | undefined,
      headers: Object.fromEntries(
        ((message.Headers ?? []) as { Name: string; Value: string }[]).map(({ Name, Value }) => [
          Name,
          Value,
        ]),
      ),
      cc: message.Cc as string | undefined,
      bcc: message.Bcc as string | undefined,
      subject: String(message.Subject),
      html: String(message.HtmlBody ?? ""),
      text: String(message.TextBody ?? ""),
      attachments: ((message.Attachments ?? []) as JsonObject[]).map(({ Name, Content }) => ({
        filename: String(Name),
        content: String(Content),
      })),
      trackOpens: message.TrackOpens as boolean | undefined,
      trackClicks: message.TrackLinks === undefined ? undefined : message.TrackLinks !== "None",
    }),
    answer: (ids, single) => {
      const results = ids.map((id) =>
        id
          ? { ErrorCode: 0, Message: "OK", MessageID: id }
          : { ErrorCode: 300, Message: "Invalid 'To'" },
      );
      return single
        ? { status: ids[0] ? 200 : 422, body: results[0] }
        : { status: 200, body: results };
    },
  },
  resend: {
    mail: (message) => ({
      sendId: Number((message.headers as Record<string, string>)["X-Send-Id"]),
      to: address((message.to as string[])[0]!),
      bcc: (message.bcc as string[] | undefined)?.[0],
      headers: message.headers as Record<string, string>,
      subject: String(message.subject),
      html: String(message.html ?? ""),
      text: String(message.text ?? ""),
      attachments: (message.attachments ?? []) as FakeProviderMail["attachments"],
      trackOpens: undefined,
      trackClicks: undefined,
    }),
    answer: (ids, single) => {
      const errors = ids.flatMap((id, index) =>
        id ? [] : [{ index, message: "Invalid `to` field" }],
      );
      if (single)
        return ids[0]
          ? { status: 200, body: { id: ids[0] } }
          : { status: 422, body: { name: "validation_error", message: "Invalid `to`" } };
      return { status: 200, body: { data: ids.flatMap((id) => (id ? [{ id }] : [])), errors } };
    },
  },
  ses: {
    mail: (message) => {
      const {
        Subject,
        Body,
        Attachments = [],
      } = (message.Content as { Simple: Record<string, never> }).Simple as unknown as {
        Subject: { Data: string };
        Body: { Html?: { Data: string }; Text?: { Data: string } };
        Attachments?: { FileName: string; RawContent: string }[];
      };
      const tags = message.EmailTags as { Name: string; Value: string }[];
      return {
        sendId: Number(tags.find(({ Name }) => Name === "sendId")?.Value),
        to: address((message.Destination as { ToAddresses: string[] }).ToAddresses[0]!),
        bcc: (message.Destination as { BccAddresses?: string[] }).BccAddresses?.[0],
        subject: Subject.Data,
        html: Body.Html?.Data ?? "",
        text: Body.Text?.Data ?? "",
        attachments: Attachments.map(({ FileName, RawContent }) => ({
          filename: FileName,
          content: RawContent,
        })),
        trackOpens: undefined,
        trackClicks: undefined,
      };
    },
    answer: ([id]) =>
      id
        ? { status: 200, body: { MessageId: id } }
        : { status: 400, body: { message: "Invalid address" } },
  },
};
