// What the other APIs share: the mail in our fields, errors in the names of the other API, and
// acceptance.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { now } from "../../clock.ts";
import { getQuota, requireAffordable } from "../../domain/billing/quota.ts";
import { acceptMessages } from "../../domain/sending/accept/accept-messages.ts";
import { acceptSingle } from "../../domain/sending/accept/accept-single.ts";
import {
  type AttachmentFile,
  validateAttachments,
} from "../../domain/sending/accept/attachments.ts";
import { loadIntake, parseSchedule, refuse } from "../../domain/sending/accept/intake.ts";
import { renderedFlaws } from "../../domain/sending/accept/rendered-flaws.ts";
import {
  addressesOf,
  type SingleMessage,
  TranslatedMessage,
} from "../../domain/sending/accept/single-message.ts";
import { invalid, Problem } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { validate } from "../validate.ts";

export type TranslatedFields = z.input<typeof TranslatedMessage>;

/** The official libraries for .NET parse ids as UUIDs. */
export const SendUuid = z
  .string()
  .describe("Id of the send as a UUID, which ends in its number. GET /sends/:id takes both.");

/** Our name of a field to that of the other API, or to "" if it has no such level. */
export type FieldNames = Record<string, string>;

/** Marks an object whose other fields are refused. */
export const closed = { additionalProperties: false };

/** An object whose unknown fields are refused, because ignoring one could change the mail. */
export const supportedFields = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .object(shape)
    .catchall(z.null({ error: "is not supported" }))
    .meta(closed) as unknown as z.ZodObject<Shape>;

/** PHP writes an empty object as `[]`. */
export const orEmptyList = <T extends z.ZodType>(object: T) =>
  z
    .union([object, z.array(z.unknown()).max(0)])
    .transform((given) => (Array.isArray(given) ? undefined : given)) as unknown as z.ZodType<
    z.output<T> | undefined,
    z.input<T> | never[]
  >;

/** Libraries for Ruby pass on the headers that its mail library sets in each mail. */
export const withoutComposerHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !composerHeaders.has(name.toLowerCase())),
  );
const composerHeaders = new Set(
  "date message-id mime-version content-type content-transfer-encoding".split(" "),
);

/** Without what surrounds the id in the HTML or in a header: `cid:logo`, `<logo>`. */
export const bareContentId = (id: string): string =>
  id.replace(/^cid:/, "").replace(/^<(.*)>$/, "$1");

/** The other APIs have no Liquid, so its signs are shown as they are. */
export const toLiteral = (text: string): string => text.replace(/\{(?=[{%])/g, '{{ "{" }}');

/** Throws 400 that names the field of the other API. */
export function toMessage(
  fields: TranslatedFields,
  names: FieldNames,
  place?: string,
): SingleMessage {
  try {
    return validate(TranslatedMessage, withoutAbsent(fields)) as SingleMessage;
  } catch (error) {
    throw renamed(error, names, place);
  }
}

/** A mail that is not valid is a problem instead. */
export function tryToMessage(
  fields: () => TranslatedFields,
  names: FieldNames,
): SingleMessage | Problem {
  try {
    return toMessage(fields(), names);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** `validate` would report them as unknown. */
const withoutAbsent = (fields: TranslatedFields): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/**
 * The same problem with the field names of the other API. `place` is where the mail is in the
 * request, such as `personalizations.3`.
 */
export function renamed(given: unknown, names: FieldNames, place?: string): unknown {
  if (!(given instanceof Problem)) return given;
  const error = withField(given);
  if (!error.details) return error;
  const rename = (text: string, path: string) => {
    if (path === "" || !text.startsWith(path)) return text;
    return wirePath(path, names, place) + text.slice(path.length);
  };
  const [{ path: firstPath } = { path: "" }] = error.details;
  const details = error.details.map(({ path, message }) => ({
    path: wirePath(path, names, place),
    message: rename(message, path),
  }));
  const { kind, code, bodyFields } = error;
  return new Problem(kind, rename(error.message, firstPath), { code, details, bodyFields });
}

/** Names the field where only `error` or the code says which one it is. */
function withField(problem: Problem): Problem {
  const { kind, code, details } = problem;
  if (details) return problem;
  const path = kind === "missing" ? "templateId" : "fromEmail";
  if (kind !== "missing" && code !== "no_sending_config") return problem;
  const text =
    kind === "missing"
      ? problem.message
      : "no sending config has this address, and no verified one has its domain";
  const message = `${path}: ${text}`;
  return new Problem(kind, message, { code, details: [{ path, message }] });
}

/** 400 that names a field of the other API. */
export function wrongField(path: string, text: string): Problem {
  const message = `${path}: ${text}`;
  return invalid(message, { details: [{ path, message }] });
}

/** Their fields have names of the caller's own. */
const freeFields = ["headers", "metadata", "variables"];

function wirePath(path: string, names: FieldNames, place: string | undefined): string {
  const [root = "", ...rest] = path.split(".");
  const inner = freeFields.includes(root)
    ? rest
    : rest.map((name) => names[name] ?? name).filter(Boolean);
  return [...(place === undefined ? [] : [place]), names[root] ?? root, ...inner].join(".");
}

const intakeOptions = { withSiteBcc: true, canFailOver: true };

/** Reads what the acceptance of a message needs, and checks it. */
export const loadChecked = (caller: Caller, message: SingleMessage, files?: AttachmentFile[]) =>
  loadIntake(caller, message, { emails: addressesOf(message), files, ...intakeOptions });

/** Checks the attachments once that all of the messages have. They can have 25 MB. */
export async function checkSharedFiles(
  { orgId }: Caller,
  [message]: SingleMessage[],
  names: FieldNames,
): Promise<AttachmentFile[]> {
  try {
    return await validateAttachments(orgId, message!.attachments);
  } catch (error) {
    throw renamed(error, names);
  }
}

/** Accepts one mail as POST /send does. */
export async function acceptMail(caller: Caller, message: SingleMessage, names: FieldNames) {
  try {
    const context = await loadChecked(caller, message);
    return await acceptSingle(caller, message, { context });
  } catch (error) {
    throw renamed(error, names);
  }
}

/** Accepts each mail as POST /send/messages does: one that is not valid is rejected alone. */
export const acceptEach = (
  caller: Caller,
  messages: (SingleMessage | Problem)[],
  files?: AttachmentFile[],
) => acceptMessages(caller, messages, { ...intakeOptions, files });

const concurrency = 8;

interface AcceptanceChecks {
  /** Gets the error and the position of its mail. */
  rename(error: unknown, index: number): unknown;
  files?: AttachmentFile[];
}

/** Throws if one of the mails could not be accepted. */
export async function requireAllAcceptable(
  caller: Caller,
  messages: SingleMessage[],
  { rename, files }: AcceptanceChecks,
): Promise<void> {
  if (ids.isRepeated()) return;
  await inParallel(concurrency, messages, async (message, index) => {
    try {
      const context = await loadChecked(caller, message, files);
      parseSchedule(message);
      refuse(renderedFlaws(message, context, now())(message));
    } catch (error) {
      throw rename(error, index);
    }
  });
  const count = messages.flatMap(addressesOf).length;
  await requireAffordable(caller.orgId, count, await getQuota(caller.orgId));
}
