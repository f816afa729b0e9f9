// Secure messages: a page shows them to anyone with the link until they expire or are revoked. Each
// has the id of its send.
import * as z from "zod";
import { absent, all, exists, greaterThan } from "../../../adapters/dynamodb/conditions.ts";
import { get, getMany, update, updateReturning, write } from "../../../adapters/dynamodb/table.ts";
import * as objects from "../../../adapters/s3/objects.ts";
import type { Caller, CallerScope } from "../../../caller.ts";
import { now } from "../../../clock.ts";
import type { Brand } from "../../../email/brand/brand.ts";
import { conflict, missing, Problem, undefinedIfMissing } from "../../../errors.ts";
import { countSkipped, type PageRequest, toPagination } from "../../../kernel/paging.ts";
import { Count, RecordId, RecordSiteId, Timestamp } from "../../../kernel/record-fields.ts";
import { permitSite } from "../../../kernel/site-access.ts";
import { dueShardOf, indexAttributes, indexes, keys, ranges } from "../../../keys.ts";
import * as attemptLimits from "../../identity/attempt-limits.ts";
import * as passwords from "../../identity/passwords.ts";
import * as sites from "../../identity/sites.ts";
import * as sendFeed from "../send-feed.ts";
import { decrypt, decryptBody } from "./cipher.ts";
import { eraseBody } from "./erase-messages.ts";
import {
  blobKeyOf,
  createFileLinkBuilder,
  fileBlobKeyOf,
  openFileToken,
  openLinkToken,
  type SecureFile,
  type SecureMessageBody,
  type SecureMessageItem,
} from "./secure-message-item.ts";

const statuses = ["active", "expired", "revoked"] as const;

export const SecureMessage = z
  .object({
    id: RecordId.describe("Id of the message and of its send."),
    siteId: RecordSiteId,
    sendId: RecordId.describe("Id of the send: the same as `id`."),
    toEmail: z.string().describe("Email address of the recipient."),
    subject: z
      .string()
      .describe("Subject line. It is not encrypted, and the notice email shows it."),
    status: z
      .enum(statuses)
      .describe("`active`: can be viewed. `expired` and `revoked`: the content is deleted."),
    hasPassphrase: z.boolean().describe("Whether the page asks for a passphrase."),
    attachmentCount: Count.describe("Number of files that can be downloaded from the page."),
    viewCount: Count.describe(
      "How often the message was shown. Opening the link without pressing the button is " +
        "not counted.",
    ),
    firstViewedAt: Timestamp.nullable().describe(
      "When the message was first shown. `null`: never.",
    ),
    lastViewedAt: Timestamp.nullable().describe("When the message was last shown. `null`: never."),
    expiresAt: Timestamp.describe("When the content is deleted."),
    revokedAt: Timestamp.nullable().describe("When the message was revoked, or `null`."),
    createdAt: Timestamp.describe("When the email was accepted."),
    updatedAt: Timestamp.describe(
      "When it was last viewed, revoked or expired, else when it was created.",
    ),
  })
  .meta({ id: "SecureMessage" });
export type SecureMessage = z.output<typeof SecureMessage>;

function statusOf({ revokedAt, expiresAt }: SecureMessageItem): SecureMessage["status"] {
  if (revokedAt) return "revoked";
  return expiresAt <= now().toISOString() ? "expired" : "active";
}

const toApi = (item: SecureMessageItem): SecureMessage => ({
  id: item.id,
  siteId: item.siteId,
  sendId: item.id,
  toEmail: item.toEmail,
  subject: item.subject,
  status: statusOf(item),
  hasPassphrase: item.passphrase !== undefined,
  attachmentCount: item.files ?? 0,
  viewCount: item.views,
  firstViewedAt: item.firstViewedAt ?? null,
  lastViewedAt: item.lastViewedAt ?? null,
  expiresAt: item.expiresAt,
  revokedAt: item.revokedAt ?? null,
  createdAt: item.createdAt,
  updatedAt: lastChange(item),
});

function lastChange(item: SecureMessageItem): string {
  const { createdAt, lastViewedAt, revokedAt, expiresAt } = item;
  const times = [
    createdAt,
    lastViewedAt ?? "",
    revokedAt ?? "",
    statusOf(item) === "expired" ? expiresAt : "",
  ];
  return times.toSorted().at(-1)!;
}

/** Throws 404. */
export const findSecureMessage = async (caller: Caller, id: number): Promise<SecureMessage> =>
  toApi(await findStored(caller, id));

async function findStored(caller: CallerScope, id: number): Promise<SecureMessageItem> {
  const item = await get<SecureMessageItem>(keys.secureMessage(caller.orgId, id));
  if (!item) throw missing("The secure message does not exist");
  await permitSite(caller, item.siteId, () => missing("The secure message does not exist"));
  return item;
}

/** Newest first, over the sites that the caller may see. */
export async function list(
  caller: Caller,
  request: PageRequest,
  { siteId }: { siteId?: number | undefined },
) {
  const siteIds = await sites.listVisibleSiteIds(caller, siteId);
  const places = sendFeed.readFeed(
    { orgId: caller.orgId, siteIds, range: ranges.secureFeed },
    request,
  );
  const [{ messages, next }, total] = await Promise.all([
    collectPage(caller.orgId, places, { skip: countSkipped(request), limit: request.limit }),
    sendFeed.countSecureSends(caller.orgId, siteIds),
  ]);
  return { secureMessages: messages, pagination: toPagination(request, total, next) };
}

/** Skips sends of a batch without a secure message, such as those to suppressed recipients. */
async function collectPage(
  orgId: number,
  places: AsyncIterable<sendFeed.FeedPosition>,
  { skip, limit }: { skip: number; limit: number },
) {
  const found: { item: SecureMessageItem; next: string }[] = [];
  let group: sendFeed.FeedPosition[] = [];
  const read = async () => {
    const items = await getMany<SecureMessageItem>(
      group.map(({ id }) => keys.secureMessage(orgId, id)),
    );
    found.push(...items.flatMap((item, i) => (item ? [{ item, next: group[i]!.next }] : [])));
    group = [];
  };
  for await (const place of places) {
    group.push(place);
    if (group.length === 100) await read();
    if (found.length > skip + limit) break;
  }
  if (group.length) await read();
  const pageItems = found.slice(skip, skip + limit);
  return {
    messages: pageItems.map(({ item }) => toApi(item)),
    next: found.length > skip + limit ? pageItems.at(-1)?.next : undefined,
  };
}

/** Makes the message unreadable and deletes its body. Throws 409 when it is already revoked. */
export async function revoke(caller: Caller, id: number): Promise<SecureMessage> {
  const item = await findStored(caller, id);
  const time = now().toISOString();
  const alreadyRevoked = conflict("The secure message is already revoked", {
    code: "already_revoked",
  });
  // The message stays on the due index until the blob is deleted, so that a crash in between is
  // repaired.
  const set = { revokedAt: time, ...indexAttributes(indexes.due("SECURE", dueShardOf(id)), time) };
  try {
    await write(
      update(
        keys.secureMessage(caller.orgId, id),
        { set },
        { if: all(exists, absent("revokedAt")), orThrow: alreadyRevoked },
      ),
    );
  } catch (error) {
    if (error === alreadyRevoked && item.duesk) await eraseBody(caller.orgId, id);
    throw error;
  }
  await eraseBody(caller.orgId, id);
  return toApi({ ...item, revokedAt: time });
}

export interface SecureMessageCover {
  sender: string;
  subject: string;
  expiresAt: string;
  needsPassphrase: boolean;
}

/**
 * Returns what the page shows before the message is opened; undefined if it expired or is revoked.
 * Throws 404 for an invalid token.
 */
export async function getCover(token: string): Promise<SecureMessageCover | undefined> {
  const item = await findByToken(token);
  return statusOf(item) === "active" ? toCover(item) : undefined;
}

const toCover = ({
  sender,
  subject,
  expiresAt,
  passphrase,
}: SecureMessageItem): SecureMessageCover => ({
  sender,
  subject,
  expiresAt,
  needsPassphrase: passphrase !== undefined,
});

async function findByToken(token: string): Promise<SecureMessageItem> {
  const place = await openLinkToken(token);
  const item = place && (await get<SecureMessageItem>(keys.secureMessage(place.orgId, place.id)));
  if (!item) throw missing("The secure message does not exist");
  return item;
}

/** For the pages of the link, also if the message expired. Null for an invalid token. */
export const findBrand = async (token: string): Promise<Brand | null> =>
  brandOf(await openLinkToken(token));

/** The same for the link of a file. */
export const findBrandOfFile = async (token: string): Promise<Brand | null> =>
  brandOf(await openFileToken(token));

async function brandOf(place: { orgId: number; id: number } | undefined): Promise<Brand | null> {
  if (!place) return null;
  const { orgId, id } = place;
  const item = await get<SecureMessageItem>(keys.secureMessage(orgId, id), { consistent: false });
  const site = item && (await sites.find({ orgId }, item.siteId).catch(undefinedIfMissing));
  return site?.brand ?? null;
}

export interface OpenedMessage {
  said: SecureMessageBody;
  cover: SecureMessageCover;
  /** The links work for an hour. */
  files: (SecureFile & { url: string })[];
}

/**
 * Returns the message and counts a view; undefined if it expired or is revoked. Throws 400
 * `wrong_passphrase`, 429 after five wrong passphrases in an hour, and 404 for an invalid token.
 */
export async function openMessage(
  token: string,
  passphrase: string | undefined,
): Promise<OpenedMessage | undefined> {
  const item = await findByToken(token);
  if (statusOf(item) !== "active") return undefined;
  await requirePassphrase(item, passphrase);
  const blob = await objects.get(blobKeyOf(item.orgId, item.id));
  if (!blob) return undefined;
  const body = await decryptBody(item.orgId, item.id, blob);
  // Another request may have revoked it since it was read.
  if (!(await countView(item))) return undefined;
  const linkTo = await createFileLinkBuilder(item.orgId, item.id);
  const files = (body.files ?? []).map((file, i) => ({ ...file, url: linkTo(i) }));
  return { said: body, cover: toCover(item), files };
}

/**
 * Returns a file of a message that was shown within the last hour; null if the message expired or
 * is revoked. Throws 404 for an invalid token.
 */
export async function downloadFile(
  token: string,
): Promise<(SecureFile & { bytes: Uint8Array }) | null> {
  const place = await openFileToken(token);
  const item = place && (await get<SecureMessageItem>(keys.secureMessage(place.orgId, place.id)));
  if (!item) throw missing("The file does not exist");
  if (statusOf(item) !== "active") return null;
  const { orgId, id, file } = place;
  const [body, blob] = await Promise.all([
    objects.get(blobKeyOf(orgId, id)),
    objects.get(fileBlobKeyOf(orgId, id, file)),
  ]);
  const described = body && (await decryptBody(orgId, id, body)).files?.[file];
  if (!described || !blob) return null;
  return { ...described, bytes: await decrypt(place, blob) };
}

async function requirePassphrase(
  { orgId, id, passphrase: hash }: SecureMessageItem,
  passphrase: string | undefined,
): Promise<void> {
  if (hash === undefined) return;
  const rateLimit = attemptLimits.passphraseLimit(`${orgId}/${id}`);
  const isCorrect = await attemptLimits.withAttemptLimits(
    [rateLimit],
    async () =>
      (await passwords.verifyPassword((passphrase ?? "").slice(0, 200), hash)) || undefined,
  );
  if (!isCorrect)
    throw new Problem("invalid", "The passphrase is wrong (`wrong_passphrase`).", {
      code: "wrong_passphrase",
    });
}

async function countView({ orgId, id }: SecureMessageItem): Promise<boolean> {
  const time = now().toISOString();
  const changes = {
    add: { views: 1 },
    set: { lastViewedAt: time },
    setIfAbsent: { firstViewedAt: time },
  };
  const readable = all(exists, absent("revokedAt"), greaterThan("expiresAt", time));
  return (
    (await updateReturning(update(keys.secureMessage(orgId, id), changes, { if: readable }))) !==
    undefined
  );
}
