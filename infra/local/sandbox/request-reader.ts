// The common parts of requests to all ten providers: credentials, body, recipients, headers,
// attachments and delivery time.
import * as z from "zod";
import * as clock from "../../../shared/clock.ts";
import { isValidEmail } from "./addresses.ts";
import {
  type AcceptedMail,
  type Attachment,
  type Mailbox,
  type SandboxCall,
  SandboxRefusal,
  type SandboxRequest,
  type SandboxResponse,
} from "./types.ts";

export const notSupported = "is not supported by the Pennymail sandbox";

export const ok = (body: unknown): SandboxResponse => ({ status: 200, body });

export function refuse(answer: SandboxResponse): never {
  throw new SandboxRefusal(answer);
}

/** Lower-case header names, separated by blanks. */
export const headerNames = (names: string): ReadonlySet<string> => new Set(names.split(" "));

// Credentials

export const bearerToken = ({ headers }: SandboxRequest): string | undefined =>
  /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];

/** The user and password of Basic authentication. */
export const basicCredentials = ({ headers }: SandboxRequest): string[] =>
  Buffer.from(/^Basic (.+)$/i.exec(headers.authorization ?? "")?.[1] ?? "", "base64")
    .toString()
    .split(":");

// Bodies

const parsedBodies = new WeakMap<SandboxRequest, unknown>();

/** Parses the body once per request, because some providers read their key from it. */
export function parseJson(request: SandboxRequest, malformed: SandboxResponse): unknown {
  if (parsedBodies.has(request)) return parsedBodies.get(request);
  try {
    const json: unknown = JSON.parse(request.body.toString("utf8"));
    parsedBodies.set(request, json);
    return json;
  } catch {
    return refuse(malformed);
  }
}

/** Refuses the call with the first issue. `path` is dotted: personalizations.0.to. */
export function parseBody<S extends z.ZodType>(
  schema: S,
  value: unknown,
  toErrorResponse: (path: string, message: string) => SandboxResponse,
): z.output<S> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const issue = error.issues[0]!;
  const unknownKeys = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  return refuse(toErrorResponse([...issue.path, ...unknownKeys].join("."), issue.message));
}

/** A field that callers can omit or set to null. */
export const optionalOrNull = <S extends z.ZodType>(schema: S) =>
  schema.nullish().transform((value) => value ?? undefined);

/**
 * A field of the real API that the sandbox lacks. List it first in a schema, so that its refusal
 * comes first.
 */
export const unsupported = z.null(notSupported).optional();

export const stringRecord = z.record(z.string(), z.string());

/** `{ email, name }`, as SendGrid, Brevo and others write an address. */
export const NamedAddress = z.object({ email: z.string(), name: z.string().optional() });

/** Turns a list of names and values into a record. The last value of a name wins. */
export const toRecord = <N extends string, V extends string>(
  list: Record<N | V, string>[] | undefined,
  name: N,
  value: V,
): Record<string, string> => Object.fromEntries((list ?? []).map((one) => [one[name], one[value]]));

/** Parses ISO 8601 or Unix seconds. Returns an invalid date for any other text. */
export function readTime(value: string | number | undefined): Date | undefined {
  if (value === undefined) return undefined;
  return new Date(typeof value === "number" ? value * 1000 : value);
}

// Mails

/** One mail of a request, for all its recipients. */
export interface MailInput
  extends Pick<AcceptedMail, "from" | "content">,
    Partial<Omit<AcceptedMail, "from" | "to" | "shown" | "content" | "messageId">> {
  to: Mailbox[];
  cc?: Mailbox[] | undefined;
  bcc?: Mailbox[] | undefined;
  /** The delivery time of a scheduled mail. */
  due?: Date | undefined;
}

/** The faults that every provider refuses. The response differs by provider. */
export type MailFault =
  | "sender"
  | "unverifiedSender"
  | "recipient"
  | "recipientCount"
  | "noContent"
  | "subject"
  | "header"
  | "attachment"
  | "time";

export interface MailRules {
  /** In To, Cc and Bcc together. */
  maxRecipients: number;
  /** The recipients that refuse the mail. With "none", the result reports bad addresses. */
  refusedFor: "invalid or rejected" | "invalid" | "none";
  needsSubject?: boolean;
  asciiHeaders?: boolean;
  reservedHeaders: ReadonlySet<string>;
  /** How many days ahead a mail can be scheduled. Absent: mail cannot be scheduled. */
  maxScheduleDays?: number;
  /** `index` is the index of the recipient or attachment. */
  toResponse(fault: MailFault, detail: string, index: number): SandboxResponse;
}

/** Throws the provider's response to the first fault. */
export function checkMail(mail: MailInput, rules: MailRules, call: SandboxCall): void {
  const { from, content, headers = {}, due } = mail;
  const fail = (fault: MailFault, detail: string, index = 0) =>
    refuse(rules.toResponse(fault, detail, index));
  if (!isValidEmail(from.email)) fail("sender", from.email);
  const recipients = recipientsOf(mail);
  if (rules.refusedFor !== "none") {
    if (!call.isVerifiedSender(from.email)) fail("unverifiedSender", from.email);
    if (!recipients.length || recipients.length > rules.maxRecipients)
      fail("recipientCount", `1 to ${rules.maxRecipients} recipients are allowed`);
    const refusesRejected = rules.refusedFor === "invalid or rejected";
    const bad = recipients.findIndex(
      ({ email }) => !isValidEmail(email) || (refusesRejected && call.isRejected(email)),
    );
    if (bad >= 0) fail("recipient", recipients[bad]!.email, bad);
  }
  if (!content.html && !content.text) fail("noContent", "");
  if (rules.needsSubject && !content.subject) fail("subject", "is missing");
  if (hasLineBreak(content.subject)) fail("subject", "contains a line break");
  if ([from, ...recipients].some(({ name = "" }) => hasLineBreak(name)))
    fail("subject", "contains a line break in a name");
  const wrongHeader = findHeaderError(headers, rules);
  if (wrongHeader) fail("header", wrongHeader);
  const badFile = content.attachments.findIndex((file) => !isValidAttachment(file));
  if (badFile >= 0) fail("attachment", content.attachments[badFile]!.filename, badFile);
  const maxDays = rules.maxScheduleDays ?? 0;
  if (due && !(due <= clock.addSeconds(maxDays * 86_400))) fail("time", String(maxDays));
}

/** Returns one accepted mail per recipient, each with the To and Cc headers of the request. */
export function toAcceptedMails(input: MailInput, messageId: string): AcceptedMail[] {
  const { to, cc = [], bcc: _, due: __, ...mail } = input;
  return recipientsOf(input).map((recipient) => ({
    headers: {},
    tags: [],
    metadata: {},
    tracksOpens: true,
    tracksClicks: true,
    ...mail,
    messageId,
    to: recipient,
    shown: { to, cc },
  }));
}

const recipientsOf = ({ to, cc = [], bcc = [] }: MailInput) => [...to, ...cc, ...bcc];

/** The To and Cc headers of a mail. */
export const shownIn = ({ to, shown }: AcceptedMail) => shown ?? { to: [to], cc: [] };

export type Copy = "cc" | "bcc";

/** Returns undefined for a recipient in To. */
export function copyKind({ to, shown }: AcceptedMail): Copy | undefined {
  const includes = (list: Mailbox[]) => list.some(({ email }) => email === to.email);
  if (!shown || includes(shown.to)) return undefined;
  return includes(shown.cc) ? "cc" : "bcc";
}

/** Accepts mails with different delivery times in one call. */
export function acceptByTime(
  mails: { drafts: AcceptedMail[]; due?: Date | undefined }[],
  call: SandboxCall,
  id?: string,
): void {
  for (const group of Map.groupBy(mails, ({ due }) => due?.getTime()).values())
    call.accept(
      group.flatMap(({ drafts }) => drafts),
      group[0]!.due,
      id,
    );
}

function findHeaderError(headers: Record<string, string>, rules: MailRules): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!-9;-~]+$/.test(name)) return `The header name ${JSON.stringify(name)} is not valid`;
    if (hasLineBreak(value)) return `The value of header ${name} contains a line break`;
    if (rules.reservedHeaders.has(name.toLowerCase())) return `Header '${name}' not allowed.`;
    if (rules.asciiHeaders && !/^[\x20-\x7e]*$/.test(value))
      return `${name}: headers must be ASCII`;
  }
  return undefined;
}

const hasLineBreak = (text: string): boolean => /[\r\n\0]/.test(text);

/** Checks for standard base64 with padding and without line breaks. */
const isValidAttachment = ({ filename, content }: Attachment): boolean =>
  filename !== "" &&
  !hasLineBreak(filename) &&
  content.length % 4 === 0 &&
  /^[A-Za-z0-9+/]+={0,2}$/.test(content);

/** The number of bytes that a valid base64 text encodes. */
export const base64ByteLength = (content: string): number =>
  Math.floor((content.replace(/=+$/, "").length * 3) / 4);
