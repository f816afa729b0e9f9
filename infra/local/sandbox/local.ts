// /_local/inbox and /_local/sandbox: JSON for programs, pages for people.
import { readFileSync } from "node:fs";
import type { Accounts } from "./accounts.ts";
import { decodedSize } from "./checks.ts";
import type { Mail, MailProvider } from "./contract.ts";
import { fate, fates, simulatorDomain } from "./fates.ts";
import { type Inbox, rendered } from "./inbox.ts";
import { sandboxPage } from "./pages/sandbox.ts";

export interface LocalRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer;
}

export interface LocalAnswer {
  status: number;
  headers: Record<string, string>;
  body: string | Buffer;
}

export interface Rooms {
  inbox: Inbox;
  accounts: Accounts;
  providers: MailProvider[];
  publicUrl: () => string;
}

/** Undefined when the path is not ours. */
export async function local(request: LocalRequest, rooms: Rooms): Promise<LocalAnswer | undefined> {
  if (!/^\/_local\/(inbox|sandbox)(\/|$)/.test(request.path)) return undefined;
  for (const [pattern, answer] of routes) {
    const found = pattern.exec(`${request.method} ${request.path.replace(/\/$/, "")}`);
    if (found) return answer(request, rooms, found.slice(1));
  }
  return json(404, { error: "Not found" });
}

type Local = (request: LocalRequest, rooms: Rooms, params: string[]) => LocalAnswer;

const routes: [RegExp, Local][] = [
  [/^GET \/_local\/inbox$/, (request, rooms) => (wantsPage(request) ? asset("inbox.html") : list(request, rooms))],
  [/^DELETE \/_local\/inbox$/, (_, { inbox }) => emptied(inbox)],
  [/^GET \/_local\/inbox\/(\d+)$/, (request, rooms, [id]) => (wantsPage(request) ? asset("inbox.html") : whole(rooms, id))],
  [/^GET \/_local\/inbox\/(\d+)\/html$/, (_, rooms, [id]) => withMail(rooms, id, framed)],
  [
    /^GET \/_local\/inbox\/(\d+)\/attachments\/(\d+)$/,
    (_, rooms, [id, index]) => withMail(rooms, id, (mail) => download(mail, Number(index))),
  ],
  [/^GET \/_local\/(?:inbox|sandbox)\/(look\.css|inbox\.css|inbox\.js|mail\.js|sandbox\.js)$/, (_, __, [name]) => asset(name!)],
  [/^GET \/_local\/sandbox$/, (request, rooms) => account(request, rooms)],
];

const wantsPage = ({ headers }: LocalRequest) => (headers.accept ?? "").includes("text/html");

function list({ query }: LocalRequest, { inbox }: Rooms): LocalAnswer {
  const [to, subject, search] = ["to", "subject", "search"].map((name) => query.get(name)?.slice(0, 500) || undefined);
  const limit = positive(query.get("limit"), 50, 1000) ?? 50;
  const [before, after] = [positive(query.get("cursor")), positive(query.get("after"))];
  const found = inbox.list({ to, subject, search, before, after, limit: limit + 1 });
  const filtered = to ?? subject ?? search ?? after;
  const mails = found.slice(0, limit);
  const nextCursor = found.length > limit ? String(mails.at(-1)!.id) : null;
  return json(200, { data: { mails: mails.map(line), pagination: { limit, total: filtered ? null : inbox.count(), nextCursor } } });
}

/** A positive whole number, or what stands for it. */
function positive(text: string | null, otherwise?: number, most = Number.MAX_SAFE_INTEGER): number | undefined {
  const number = /^\d{1,15}$/.test(text ?? "") ? Number(text) : otherwise;
  return number === undefined ? undefined : Math.max(1, Math.min(most, number));
}

function emptied(inbox: Inbox): LocalAnswer {
  const deleted = inbox.count();
  inbox.empty();
  return json(200, { data: { deleted } });
}

const whole = (rooms: Rooms, id: string | undefined) => withMail(rooms, id, (mail) => json(200, { data: everything(mail) }));

function withMail({ inbox }: Rooms, id: string | undefined, answer: (mail: Mail) => LocalAnswer): LocalAnswer {
  const mail = inbox.find(Number(id));
  return mail ? answer(mail) : json(404, { error: `There is no mail ${id}: the inbox keeps the newest 10,000` });
}

/** A mail in a list. */
const line = (mail: Mail) => ({
  id: mail.id,
  at: mail.at.toISOString(),
  provider: mail.provider,
  from: mail.from,
  to: mail.to,
  /** Of a blind copy: whom the mail is to. */
  copyOf: mail.copyOf ?? null,
  subject: rendered(mail, "subject") ?? "",
  preview: preview(mail),
  attachments: mail.content.attachments.length,
  fate: fate(mail.to.email) ?? "delivered",
  events: mail.posted,
});

const everything = (mail: Mail) => ({
  ...line(mail),
  replyTo: mail.replyTo ?? null,
  messageId: mail.messageId,
  account: mail.account,
  headers: mail.headers,
  html: rendered(mail, "html") ?? null,
  text: rendered(mail, "text") ?? null,
  tags: mail.tags,
  metadata: mail.metadata,
  tracksOpens: mail.tracksOpens,
  tracksClicks: mail.tracksClicks,
  attachments: mail.content.attachments.map(({ filename, type, content }, index) => ({
    filename,
    type,
    size: decodedSize(content),
    url: `/_local/inbox/${mail.id}/attachments/${index}`,
  })),
  forgotten: mail.content.forgotten ?? false,
});

function preview(mail: Mail): string {
  const text = rendered(mail, "text")?.slice(0, 300) ?? stripped(rendered(mail, "html") ?? "");
  return text.replace(/\s+/g, " ").trim().slice(0, 140);
}

const stripped = (html: string) =>
  html
    .slice(0, 5000)
    .replace(/<(style|title|head)\b[\s\S]*?(<\/\1>|$)/gi, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/&nbsp;/g, " ")
    .replace(/&amp;/g, "&");

/** The html alone, for a sandboxed frame: no script runs, links open elsewhere. */
function framed(mail: Mail): LocalAnswer {
  const html = (rendered(mail, "html") ?? "").replace(/(["'(])cid:([^"')]+)/gi, (whole, before: string, name: string) => {
    const index = mail.content.attachments.findIndex(({ filename }) => filename === name || filename.split(".")[0] === name);
    return index < 0 ? whole : `${before}/_local/inbox/${mail.id}/attachments/${index}`;
  });
  const base = '<base target="_blank">';
  const body = /<head[^>]*>/i.test(html) ? html.replace(/<head[^>]*>/i, `$&${base}`) : html.replace(/^(\s*<!doctype[^>]*>)?/i, `$&${base}`);
  const policy =
    "default-src 'none'; img-src 'self' https: http: data:; style-src 'unsafe-inline'; font-src https: data:; sandbox allow-popups allow-popups-to-escape-sandbox";
  return answer(200, body, "text/html; charset=utf-8", { "content-security-policy": policy });
}

/** Always a download: what a mail carries is never shown as a page of this origin. */
function download(mail: Mail, index: number): LocalAnswer {
  const file = mail.content.attachments[index];
  if (!file) return json(404, { error: `Mail ${mail.id} has no attachment ${index}` });
  const image = /^image\/(png|jpe?g|gif|webp)$/.test(file.type);
  const disposition = `${image ? "inline" : "attachment"}; filename*=UTF-8''${encodeURIComponent(file.filename.toWellFormed())}`;
  const headers = { "content-disposition": disposition, "content-security-policy": "default-src 'none'; sandbox" };
  return answer(200, Buffer.from(file.content, "base64"), image ? file.type : "application/octet-stream", headers);
}

/** Opens a fresh account, or shows the one asked for again. */
function account(request: LocalRequest, { accounts, providers, publicUrl }: Rooms): LocalAnswer {
  const named = request.query.get("account");
  const account = named ? accounts.named(named) : accounts.open();
  if (!account) return json(404, { error: "This sandbox has no such account" });
  const entries = providers.map(
    (one) => [one.key, { name: one.name, credentials: one.credentials(account), webhookSecret: one.webhook.secret(account) }] as const,
  );
  const recipients = Object.fromEntries(Object.entries(fates).map(([name, what]) => [`${name}@${simulatorDomain}`, what]));
  const data = { account: account.id, providers: Object.fromEntries(entries), recipients };
  return wantsPage(request) ? page(sandboxPage(data, publicUrl())) : json(200, { data });
}

const json = (status: number, value: unknown) => answer(status, JSON.stringify(value), "application/json");

const types: Record<string, string> = { html: "text/html", css: "text/css", js: "text/javascript" };

function asset(name: string): LocalAnswer {
  const body = readFileSync(new URL(`./pages/${name}`, import.meta.url), "utf8");
  return name.endsWith(".html") ? page(body) : answer(200, body, `${types[name.split(".").at(-1)!]}; charset=utf-8`);
}

const page = (body: string) =>
  answer(200, body, "text/html; charset=utf-8", {
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  });

const answer = (status: number, body: string | Buffer, type: string, headers: Record<string, string> = {}): LocalAnswer => ({
  status,
  headers: { "content-type": type, "cache-control": "no-store", "x-content-type-options": "nosniff", vary: "accept", ...headers },
  body,
});
