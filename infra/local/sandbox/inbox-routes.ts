// /_local/inbox and /_local/sandbox: JSON for programs, pages for people.
import { readFileSync } from "node:fs";
import type { SandboxAccounts } from "./accounts.ts";
import { mailboxLogin } from "./bounce-mailboxes.ts";
import { renderPart, type SandboxInbox } from "./inbox.ts";
import { renderAccountsPage } from "./pages/accounts-page.ts";
import { base64ByteLength, copyKind, shownIn } from "./request-reader.ts";
import { simulatedOutcome, simulatedOutcomes, simulatorDomain } from "./simulator.ts";
import type { CapturedMail, SandboxAccount, SandboxProvider } from "./types.ts";

export interface LocalRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer;
}

export interface LocalResponse {
  status: number;
  headers: Record<string, string>;
  body: string | Buffer;
}

export interface LocalContext {
  inbox: SandboxInbox;
  accounts: SandboxAccounts;
  providers: SandboxProvider[];
  /** The SMTP server, which has no webhooks. */
  smtp: { credentials(account: SandboxAccount): Record<string, string>; url: string };
  /** The JSON file of the account's key at Google, for Postmaster Tools. */
  createGoogleKey(account: SandboxAccount): Promise<string>;
  publicUrl: () => string;
  /** The URL of each provider's API, by provider key. */
  urls: Record<string, string>;
}

/** Returns undefined for any other path. */
export async function handleLocalRequest(
  request: LocalRequest,
  context: LocalContext,
): Promise<LocalResponse | undefined> {
  if (!/^\/_local\/(inbox|sandbox)(\/|$)/.test(request.path)) return undefined;
  for (const [pattern, handle] of routes) {
    const found = pattern.exec(`${request.method} ${request.path.replace(/\/$/, "")}`);
    if (found) return handle(request, context, found.slice(1));
  }
  return json(404, { error: "Not found" });
}

type LocalRoute = (
  request: LocalRequest,
  context: LocalContext,
  params: string[],
) => LocalResponse | Promise<LocalResponse>;

const routes: [RegExp, LocalRoute][] = [
  [
    /^GET \/_local\/inbox$/,
    (request, context) =>
      wantsPage(request) ? serveAsset("inbox.html") : listMails(request, context),
  ],
  [/^DELETE \/_local\/inbox$/, (_, { inbox }) => emptyInbox(inbox)],
  [
    /^GET \/_local\/inbox\/(\d+)$/,
    (request, context, [id]) =>
      wantsPage(request) ? serveAsset("inbox.html") : getMail(context, id),
  ],
  [/^GET \/_local\/inbox\/(\d+)\/html$/, (_, context, [id]) => withMail(context, id, mailFrame)],
  [
    /^GET \/_local\/inbox\/(\d+)\/attachments\/(\d+)$/,
    (_, context, [id, index]) =>
      withMail(context, id, (mail) => downloadAttachment(mail, Number(index))),
  ],
  [
    /^GET \/_local\/(?:inbox|sandbox)\/(look\.css|inbox\.css|inbox\.js|mail\.js|sandbox\.js)$/,
    (_, __, [name]) => serveAsset(name!),
  ],
  [/^GET \/_local\/sandbox$/, (request, context) => showAccount(request, context)],
];

const wantsPage = ({ headers }: LocalRequest) => (headers.accept ?? "").includes("text/html");

function listMails({ query }: LocalRequest, { inbox }: LocalContext): LocalResponse {
  const [to, subject, search] = ["to", "subject", "search"].map(
    (name) => query.get(name)?.slice(0, 500) || undefined,
  );
  const limit = parsePositiveInt(query.get("limit"), 50, 1000) ?? 50;
  const [before, after] = [
    parsePositiveInt(query.get("cursor")),
    parsePositiveInt(query.get("after")),
  ];
  const found = inbox.list({ to, subject, search, before, after, limit: limit + 1 });
  const filtered = to ?? subject ?? search ?? after;
  const mails = found.slice(0, limit);
  const nextCursor = found.length > limit ? String(mails.at(-1)!.id) : null;
  return json(200, {
    data: {
      mails: mails.map(toListEntry),
      pagination: { limit, total: filtered ? null : inbox.count(), nextCursor },
    },
  });
}

/** Returns `fallback` when the text is no positive whole number. */
function parsePositiveInt(
  text: string | null,
  fallback?: number,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const number = /^\d{1,15}$/.test(text ?? "") ? Number(text) : fallback;
  return number === undefined ? undefined : Math.max(1, Math.min(max, number));
}

function emptyInbox(inbox: SandboxInbox): LocalResponse {
  const deleted = inbox.count();
  inbox.empty();
  return json(200, { data: { deleted } });
}

const getMail = (context: LocalContext, id: string | undefined) =>
  withMail(context, id, (mail) => json(200, { data: toDetail(mail) }));

function withMail(
  { inbox }: LocalContext,
  id: string | undefined,
  respond: (mail: CapturedMail) => LocalResponse,
): LocalResponse {
  const mail = inbox.find(Number(id));
  return mail
    ? respond(mail)
    : json(404, { error: `There is no mail ${id}: the inbox keeps the newest 10,000` });
}

const toListEntry = (mail: CapturedMail) => ({
  id: mail.id,
  at: mail.at.toISOString(),
  provider: mail.provider,
  from: mail.from,
  to: mail.to,
  /** "cc" or "bcc" for a copy of a mail to another recipient. */
  copy: copyKind(mail) ?? null,
  /** The recipient in To, for a copy. */
  copyOf: copyKind(mail) ? (mail.shown?.to[0] ?? null) : null,
  subject: renderPart(mail, "subject") ?? "",
  preview: previewText(mail),
  attachments: mail.content.attachments.length,
  fate: simulatedOutcome(mail.to.email) ?? "delivered",
  events: mail.webhookAttempts,
});

const toDetail = (mail: CapturedMail) => ({
  ...toListEntry(mail),
  /** The To and Cc headers. */
  shown: shownIn(mail),
  replyTo: mail.replyTo ?? null,
  messageId: mail.messageId,
  account: mail.account,
  headers: mail.headers,
  html: renderPart(mail, "html") ?? null,
  text: renderPart(mail, "text") ?? null,
  tags: mail.tags,
  metadata: mail.metadata,
  tracksOpens: mail.tracksOpens,
  tracksClicks: mail.tracksClicks,
  attachments: mail.content.attachments.map(({ filename, type, content, contentId }, index) => ({
    filename,
    type,
    /** The HTML shows an image with this id by `cid:`. Null: a file in the list. */
    contentId: contentId ?? null,
    size: base64ByteLength(content),
    url: `/_local/inbox/${mail.id}/attachments/${index}`,
  })),
  forgotten: mail.content.discarded ?? false,
});

function previewText(mail: CapturedMail): string {
  const text = renderPart(mail, "text")?.slice(0, 300) ?? stripTags(renderPart(mail, "html") ?? "");
  return text.replace(/\s+/g, " ").trim().slice(0, 140);
}

const stripTags = (html: string) =>
  html
    .slice(0, 5000)
    .replace(/<(style|title|head)\b[\s\S]*?(<\/\1>|$)/gi, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/&nbsp;/g, " ")
    .replace(/&amp;/g, "&");

/** The HTML of a mail for a sandboxed frame: no script runs, and links open in a new tab. */
function mailFrame(mail: CapturedMail): LocalResponse {
  const html = (renderPart(mail, "html") ?? "").replace(
    /(["'(])cid:([^"')]+)/gi,
    (whole, before: string, name: string) => {
      const index = mail.content.attachments.findIndex(
        ({ filename, contentId = filename }) =>
          contentId === name || contentId.split(".")[0] === name,
      );
      return index < 0 ? whole : `${before}/_local/inbox/${mail.id}/attachments/${index}`;
    },
  );
  const base = '<base target="_blank">';
  const body = /<head[^>]*>/i.test(html)
    ? html.replace(/<head[^>]*>/i, `$&${base}`)
    : html.replace(/^(\s*<!doctype[^>]*>)?/i, `$&${base}`);
  const policy =
    "default-src 'none'; img-src 'self' https: http: data:; style-src 'unsafe-inline'; " +
    "font-src https: data:; sandbox allow-popups allow-popups-to-escape-sandbox";
  return htmlResponse(body, policy);
}

/** Serves files other than images as downloads, so that none runs as a page of this origin. */
function downloadAttachment(mail: CapturedMail, index: number): LocalResponse {
  const file = mail.content.attachments[index];
  if (!file) return json(404, { error: `Mail ${mail.id} has no attachment ${index}` });
  const image = /^image\/(png|jpe?g|gif|webp)$/.test(file.type);
  const filename = encodeURIComponent(file.filename.toWellFormed());
  const disposition = `${image ? "inline" : "attachment"}; filename*=UTF-8''${filename}`;
  return createResponse(200, Buffer.from(file.content, "base64"), {
    "content-type": image ? file.type : "application/octet-stream",
    "content-disposition": disposition,
    "content-security-policy": "default-src 'none'; sandbox",
  });
}

/** Creates an account, or shows the account of the query. */
async function showAccount(
  request: LocalRequest,
  { accounts, providers, smtp, createGoogleKey, publicUrl, urls }: LocalContext,
): Promise<LocalResponse> {
  const accountId = request.query.get("account");
  const account = accountId ? accounts.findById(accountId) : accounts.create();
  if (!account) return json(404, { error: "This sandbox has no such account" });
  const entries = providers.map((one) => {
    const [credentials, webhookSecret] = [
      one.credentials(account),
      one.webhook.deriveSecret(account),
    ];
    return [
      one.key,
      { name: one.name, url: urls[one.key] ?? "", credentials, webhookSecret },
    ] as const;
  });
  const smtpEntry = { name: "SMTP server", url: smtp.url, credentials: smtp.credentials(account) };
  const recipients = Object.fromEntries(
    Object.entries(simulatedOutcomes).map(([name, description]) => [
      `${name}@${simulatorDomain}`,
      description,
    ]),
  );
  const data = {
    account: account.id,
    providers: { ...Object.fromEntries(entries), smtp: smtpEntry },
    bounceMailbox: mailboxLogin(account),
    postmasterTools: { serviceAccountKey: await createGoogleKey(account) },
    recipients,
  };
  return wantsPage(request) ? page(renderAccountsPage(data, publicUrl())) : json(200, { data });
}

const json = (status: number, value: unknown) =>
  createResponse(status, JSON.stringify(value), { "content-type": "application/json" });

const assetTypes: Record<string, string> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};

function serveAsset(name: string): LocalResponse {
  const body = readFileSync(new URL(`./pages/${name}`, import.meta.url), "utf8");
  return name.endsWith(".html")
    ? page(body)
    : createResponse(200, body, { "content-type": assetTypes[name.split(".").at(-1)!]! });
}

const page = (body: string) =>
  htmlResponse(
    body,
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
      "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; " +
      "frame-ancestors 'none'",
  );

const htmlResponse = (body: string, contentSecurityPolicy: string) =>
  createResponse(200, body, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": contentSecurityPolicy,
  });

const createResponse = (
  status: number,
  body: string | Buffer,
  headers: Record<string, string>,
): LocalResponse => ({
  status,
  headers: {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    vary: "accept",
    ...headers,
  },
  body,
});
