// Secure messages: shown on a page of ours to whoever has the link, until they expire or are revoked. Each has the id of its send.
import * as z from "zod";
import { type Caller, permit } from "../caller.ts";
import { now } from "../clock.ts";
import { above, absent, all, exists } from "../conditions.ts";
import * as blobs from "../doors/blobs.ts";
import { get, getMany, update, updateReturning, write } from "../doors/table.ts";
import { conflict, missing, Problem } from "../errors.ts";
import { dueShard, keys, on, ranges, shelves } from "../keys.ts";
import { decodeCursor, type PageRequest, pagination, skipped } from "../paging.ts";
import * as attempts from "./login-attempts.ts";
import * as scrypt from "./scrypt.ts";
import { unlocked } from "./secure-messages/cipher.ts";
import { erase } from "./secure-messages/due.ts";
import { blobOf, type Said, type SecureMessageItem } from "./secure-messages/item.ts";
import { opened } from "./secure-messages/links.ts";
import * as feed from "./sending/feed.ts";
import * as sites from "./sites.ts";

const statuses = ["active", "expired", "revoked"] as const;

export const SecureMessage = z
  .object({
    id: z.int().describe("Also the id of its send"),
    siteId: z.int(),
    sendId: z.int(),
    toEmail: z.string(),
    subject: z.string().describe("Not encrypted: the notice mail has it too"),
    status: z.enum(statuses),
    hasPassphrase: z.boolean(),
    viewCount: z.int().describe("How often somebody pressed the button that shows it; opening the link counts nothing"),
    firstViewedAt: z.string().nullable(),
    lastViewedAt: z.string().nullable(),
    expiresAt: z.string(),
    revokedAt: z.string().nullable(),
    createdAt: z.string(),
  })
  .meta({ id: "SecureMessage" });
export type SecureMessage = z.output<typeof SecureMessage>;

const statusOf = ({ revokedAt, expiresAt }: SecureMessageItem): SecureMessage["status"] =>
  revokedAt ? "revoked" : expiresAt <= now().toISOString() ? "expired" : "active";

const full = (item: SecureMessageItem): SecureMessage => ({
  id: item.id,
  siteId: item.siteId,
  sendId: item.id,
  toEmail: item.toEmail,
  subject: item.subject,
  status: statusOf(item),
  hasPassphrase: item.passphrase !== undefined,
  viewCount: item.views,
  firstViewedAt: item.firstViewedAt ?? null,
  lastViewedAt: item.lastViewedAt ?? null,
  expiresAt: item.expiresAt,
  revokedAt: item.revokedAt ?? null,
  createdAt: item.createdAt,
});

/** Throws 404. */
export const find = async (caller: Caller, id: number): Promise<SecureMessage> => full(await stored(caller, id));

async function stored(caller: Pick<Caller, "orgId" | "siteId">, id: number): Promise<SecureMessageItem> {
  const item = await get<SecureMessageItem>(keys.secureMessage(caller.orgId, id));
  if (!item) throw missing("There is no such secure message");
  permit(caller, item.siteId);
  return item;
}

/** Newest first, over the sites that the caller may see. */
export async function list(caller: Caller, request: PageRequest, { siteId }: { siteId?: number | undefined }) {
  const siteIds = await sites.visible(caller, siteId);
  const places = feed.places(caller.orgId, siteIds, decodeCursor(request.cursor), ranges.secureFeed);
  const [{ messages, next }, total] = await Promise.all([
    page(caller.orgId, places, skipped(request), request.limit),
    feed.totalSecure(caller.orgId, siteIds),
  ]);
  return { secureMessages: messages, pagination: pagination(request, total, next) };
}

/** Of a batch those are not there whose mail was never to go out. */
async function page(orgId: number, places: AsyncIterable<feed.Place>, skip: number, limit: number) {
  const found: { item: SecureMessageItem; next: string }[] = [];
  let group: feed.Place[] = [];
  const read = async () => {
    const items = await getMany<SecureMessageItem>(group.map(({ id }) => keys.secureMessage(orgId, id)));
    found.push(...items.flatMap((item, i) => (item ? [{ item, next: group[i]!.next }] : [])));
    group = [];
  };
  for await (const place of places) {
    group.push(place);
    if (group.length === 100) await read();
    if (found.length > skip + limit) break;
  }
  if (group.length) await read();
  const shown = found.slice(skip, skip + limit);
  return { messages: shown.map(({ item }) => full(item)), next: found.length > skip + limit ? shown.at(-1)?.next : undefined };
}

/** Nobody can read it from now on, and nothing of it is left to be read. 409 when that was done before. */
export async function revoke(caller: Caller, id: number): Promise<SecureMessage> {
  const item = await stored(caller, id);
  const time = now().toISOString();
  const tooLate = conflict("The secure message has been revoked before", { code: "already_revoked" });
  // On the due index until the blob is gone: whoever dies in between is followed up.
  const set = { revokedAt: time, ...on(shelves.due("SECURE", dueShard(id)), time) };
  try {
    await write(update(keys.secureMessage(caller.orgId, id), { set }, { if: all(exists, absent("revokedAt")), otherwise: tooLate }));
  } catch (error) {
    if (error === tooLate && item.duesk) await erase(caller.orgId, id);
    throw error;
  }
  await erase(caller.orgId, id);
  return full({ ...item, revokedAt: time });
}

export interface Cover {
  sender: string;
  subject: string;
  expiresAt: string;
  asksPassphrase: boolean;
}

/** What the page says before it shows anything; undefined when there is nothing to be shown any more. Throws 404 for a token that is not ours. */
export async function cover(token: string): Promise<Cover | undefined> {
  const item = await byToken(token);
  return statusOf(item) === "active" ? coverOf(item) : undefined;
}

const coverOf = ({ sender, subject, expiresAt, passphrase }: SecureMessageItem): Cover => ({
  sender,
  subject,
  expiresAt,
  asksPassphrase: passphrase !== undefined,
});

async function byToken(token: string): Promise<SecureMessageItem> {
  const place = await opened(token);
  const item = place && (await get<SecureMessageItem>(keys.secureMessage(place.orgId, place.id)));
  if (!item) throw missing("There is no such secure message");
  return item;
}

/**
 * The message itself, counted as a view; undefined when there is nothing to be shown any more. Throws 400 `wrong_passphrase`, 429
 * after five wrong ones in an hour, 404 for a token that is not ours.
 */
export async function view(token: string, passphrase: string | undefined): Promise<{ said: Said; cover: Cover } | undefined> {
  const item = await byToken(token);
  if (statusOf(item) !== "active") return undefined;
  await admit(item, passphrase);
  const blob = await blobs.get(blobOf(item.orgId, item.id));
  if (!blob) return undefined;
  const said = await unlocked(item.orgId, item.id, blob);
  // It may have been revoked while it was read.
  return (await counted(item)) ? { said, cover: coverOf(item) } : undefined;
}

async function admit({ orgId, id, passphrase: hash }: SecureMessageItem, passphrase: string | undefined): Promise<void> {
  if (hash === undefined) return;
  const guard = attempts.onPassphrase(`${orgId}/${id}`);
  const right = await attempts.guarded([guard], async () => (await scrypt.matches((passphrase ?? "").slice(0, 200), hash)) || undefined);
  if (!right) throw new Problem("invalid", "The passphrase is wrong", { code: "wrong_passphrase" });
}

async function counted({ orgId, id }: SecureMessageItem): Promise<boolean> {
  const time = now().toISOString();
  const changes = { add: { views: 1 }, set: { lastViewedAt: time }, initialize: { firstViewedAt: time } };
  const readable = all(exists, absent("revokedAt"), above("expiresAt", time));
  return (await updateReturning(update(keys.secureMessage(orgId, id), changes, { if: readable }))) !== undefined;
}
