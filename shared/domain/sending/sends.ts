// A send is one email to one recipient. A bulk send is first a line of a chunk; its first delivery
// event inserts its item.
import * as z from "zod";
import { absent, all, equals, exists } from "../../adapters/dynamodb/conditions.ts";
import { get, put, update, write } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { now } from "../../clock.ts";
import { conflict, missing } from "../../errors.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { countSkipped, type PageRequest, positionOf, toPagination } from "../../kernel/paging.ts";
import { inGroups } from "../../kernel/parallel.ts";
import { RecordId, RecordSiteId, Timestamp } from "../../kernel/record-fields.ts";
import { permitSite } from "../../kernel/site-access.ts";
import { blockOf, idsPerBlock, indexAttributeNames, keys } from "../../keys.ts";
import { millicentsPerCent } from "../billing/credits.ts";
import { countSends } from "../identity/site-send-counts.ts";
import * as sites from "../identity/sites.ts";
import * as chunks from "./bulk/chunks.ts";
import * as lanes from "./bulk/lanes.ts";
import * as reading from "./read-sends.ts";
import { addressPosition, isRecipient, readSendsTo } from "./recipient-index/sends-to-address.ts";
import * as secureMessages from "./secure-messages/erase-messages.ts";
import * as feed from "./send-feed.ts";

export const sendStatuses = [
  "scheduled",
  "queued",
  "sending",
  "sent",
  "delivered",
  "failed",
  "uncertain",
  "cancelled",
] as const;

export const Send = z
  .object({
    id: RecordId.describe("Id of the send, for GET /sends/:id."),
    siteId: RecordSiteId,
    contactId: RecordId.nullable().describe(
      "Contact that the email was for, or that had its address in the site when it was " +
        "sent. `null` without a contact.",
    ),
    toEmail: z.string().describe("Email address of the recipient."),
    fromEmail: z.string().describe("Email address of the sender."),
    fromName: z.string().nullable().describe("Name of the sender, or `null`."),
    subject: z.string().describe("Rendered subject line, at most 300 characters for single sends."),
    status: z
      .enum(sendStatuses)
      .describe(
        "`scheduled`: waits for `scheduledAt`. `queued`: waits to be handed to the provider. " +
          "`sending`: being handed over. `sent`: accepted by the provider. `delivered`: " +
          "accepted by the recipient's server. `failed`: suppressed, refused or bounced, see " +
          "`error`. `uncertain`: the provider may or may not have accepted it. `cancelled`: " +
          "cancelled before it was sent.",
      ),
    provider: z.string().describe("Email provider, such as `sendgrid`."),
    sendingConfigId: RecordId.describe("Sending config that the email is sent with."),
    providerMessageId: z
      .string()
      .nullable()
      .describe("Id of the email at the provider, or `null`."),
    campaignId: RecordId.nullable().describe("Campaign that sent the email, or `null`."),
    variantId: RecordId.nullable().describe("Variant of the campaign, or `null`."),
    sequenceId: RecordId.nullable().describe("Sequence that sent the email, or `null`."),
    stepId: RecordId.nullable().describe("Step of the sequence, or `null`."),
    holidayId: RecordId.nullable().describe("Holiday email that the send belongs to, or `null`."),
    templateId: RecordId.nullable().describe("Template of the email, or `null`."),
    batchId: RecordId.nullable().describe("Batch that the send belongs to, or `null`."),
    tags: z.array(z.string()).describe("Tags given with the send. They are not tags of contacts."),
    metadata: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe("Your own data given with the send, or `null`."),
    scheduledAt: Timestamp.nullable().describe(
      "When the email is to be sent, or `null` if it was sent at once.",
    ),
    secure: z
      .boolean()
      .describe(
        "Whether the content is encrypted. The secure message has the same id: see GET " +
          "/secure-messages/:id.",
      ),
    cost: z
      .number()
      .describe("US cents taken from the credits. 0 while the plan's included emails last."),
    error: z.string().nullable().describe("Why the send failed, such as `suppressed`, or `null`."),
    createdAt: Timestamp.describe("When the email was accepted."),
    sentAt: Timestamp.nullable().describe("When the provider accepted the email, or `null`."),
    deliveredAt: Timestamp.nullable().describe(
      "When the recipient's server accepted the email, or `null`.",
    ),
    openedAt: Timestamp.nullable().describe("When a person first opened the email, or `null`."),
    clickedAt: Timestamp.nullable().describe("When a person first clicked a link, or `null`."),
    updatedAt: Timestamp.describe("When the status or a time last changed."),
  })
  .meta({ id: "Send" });
export type Send = z.output<typeof Send>;

/**
 * The stored item. Empty fields are left out, because an item over 1 KB costs more with each
 * change.
 */
export type SendItem = Pick<
  Send,
  | "id"
  | "siteId"
  | "toEmail"
  | "fromEmail"
  | "subject"
  | "status"
  | "provider"
  | "sendingConfigId"
  | "createdAt"
> & {
  [Field in Exclude<keyof Send, "cost">]?: Send[Field] | undefined;
} & {
  /** Gets a blind copy. Events of this address do not count for the send. */
  bcc?: string | undefined;
  /** Hashes of the further addresses of `to`, `cc` and `bcc`. Their events do not count either. */
  copies?: string[] | undefined;
  /** Millicents; undefined if the send was free. */
  charged?: number | undefined;
  /** The open charge that paid for a single send; see identity/open-charges.ts. */
  chargeId?: string | undefined;
  /** Moves with every write of events; see events/timeline-item.ts. */
  v?: number;
  /** Mail to a member of the organization. It has an id, but is in no list and no statistics. */
  system?: true;
  /** How a user settled it when it was uncertain, and when (ISO 8601). */
  resolution?: { outcome: string; at: string };
  /** An event inserted it before the provider's response to the hand-over was stored. */
  early?: true;
};

export interface SendFilter {
  siteId?: number | undefined;
  status?: Send["status"] | undefined;
  batchId?: number | undefined;
  contactId?: number | undefined;
  campaignId?: number | undefined;
  templateId?: number | undefined;
  toEmail?: string | undefined;
  /** Recipient or copy. Looked up in the recipient index. */
  email?: string | undefined;
  /** Accepted at this time or later, and before that time (ISO 8601). */
  from?: string | undefined;
  to?: string | undefined;
  /** Part of the subject, ignoring case. */
  subject?: string | undefined;
  tag?: string | undefined;
  messageId?: string | undefined;
  /** Whether a person has opened the email, or clicked a link. */
  opened?: "true" | "false" | undefined;
  clicked?: "true" | "false" | undefined;
}

const nullableFields = Object.entries(Send.shape)
  .filter(([, type]) => type instanceof z.ZodNullable)
  .map(([field]) => field as keyof SendItem);

/**
 * The latest time stored on a send. Only changes without a time of their own store `updatedAt`. The
 * name of a run begins with the time when its events were recorded.
 */
function lastChange({ createdAt, updatedAt, sentAt, ...item }: SendItem): string {
  const { events = [] } = item as { events?: { run: string }[] };
  const times = [createdAt, updatedAt, sentAt, ...events.map(({ run }) => run.split("#")[0])];
  return times.reduce<string>((last, time) => (time && time > last ? time : last), createdAt);
}

/**
 * Sets missing fields to null, and times of events before `sentAt` to `sentAt`, because the clock
 * of a provider can be behind ours.
 */
export const toApi = (item: SendItem): Send =>
  ({
    ...item,
    updatedAt: lastChange(item),
    tags: item.tags ?? [],
    secure: item.secure ?? false,
    cost: (item.charged ?? 0) / millicentsPerCent,
    ...Object.fromEntries(nullableFields.map((field) => [field, item[field] ?? null])),
    ...clampToSentAt(item),
  }) as Send;

function clampToSentAt({ sentAt, deliveredAt, openedAt, clickedAt }: SendItem): Partial<SendItem> {
  const times = Object.entries({ deliveredAt, openedAt, clickedAt });
  return Object.fromEntries(
    times.flatMap(([field, at]) => (sentAt && at && at < sentAt ? [[field, sentAt]] : [])),
  );
}

/** Throws 404. */
const find = async (caller: Caller, id: number): Promise<Send> =>
  toApi(await findStored(caller, id));

/** A send without an item is read from its chunk. Throws 404. */
export async function findStored(caller: Caller, id: number): Promise<SendItem> {
  const item = await reading.getSend(caller.orgId, id);
  if (!item) throw missing("The send does not exist");
  await permitSite(caller, item.siteId, () => missing("The send does not exist"));
  return item;
}

/** Newest first, over the sites that the caller may see. */
export async function list(caller: Caller, request: PageRequest, { siteId, ...given }: SendFilter) {
  const siteIds = await sites.listVisibleSiteIds(caller, siteId);
  const filter = { ...given, from: toIsoTime(given.from), to: toIsoTime(given.to) };
  const { batchId, ...others } = filter;
  const filtered = Object.values(others).some((value) => value !== undefined);
  const positions = await findPositions({ orgId: caller.orgId, siteIds, filter }, request);
  const [{ sends, next }, total] = await Promise.all([
    collectPage(caller.orgId, positions, {
      request,
      isWanted: (item) => siteIds.includes(item.siteId) && matches(item, filter),
      filtered,
      maxScanned: filter.email === undefined ? maxScannedInFeed : maxScannedInIndex,
    }),
    filtered || batchId !== undefined ? null : countSends(caller.orgId, siteIds),
  ]);
  return { sends, pagination: toPagination(request, total, next) };
}

const toIsoTime = (time: string | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

interface SendQuery {
  orgId: number;
  siteIds: number[];
  filter: Omit<SendFilter, "siteId">;
}

async function findPositions(
  { orgId, siteIds, filter: { batchId, email, from, to } }: SendQuery,
  request: PageRequest,
): Promise<AsyncIterable<feed.FeedPosition>> {
  if (email !== undefined) {
    const before = positionOf(request, new RegExp(`^${addressPosition}$`)) ?? to;
    return takeUntil(from, readSendsTo({ orgId, email, before }));
  }
  if (batchId === undefined)
    return takeUntil(from, feed.readFeed({ orgId, siteIds, before: to }, request));
  return feed.readBatch(batchId, await chunks.getBatchSize(orgId, batchId), request);
}

/** Ends at the first position that is older. Positions begin with a time of whole seconds. */
async function* takeUntil(
  from: string | undefined,
  positions: AsyncIterable<feed.FeedPosition>,
): AsyncGenerator<feed.FeedPosition> {
  const second = from?.slice(0, "2026-12-01T09:00:00".length) ?? "";
  for await (const position of positions) {
    if (position.next < second) return;
    yield position;
  }
}

function matches(item: SendItem, filter: Omit<SendFilter, "siteId">): boolean {
  const { toEmail, email, from, to, subject, tag, messageId, opened, clicked, ...equal } = filter;
  const { createdAt } = item;
  return (
    (toEmail === undefined || normalizeEmail(item.toEmail) === normalizeEmail(toEmail)) &&
    (email === undefined || isRecipient(item, email)) &&
    (from === undefined || createdAt >= from) &&
    (to === undefined || createdAt < to) &&
    (subject === undefined || item.subject.toLowerCase().includes(subject.toLowerCase())) &&
    (tag === undefined || (item.tags?.includes(tag) ?? false)) &&
    (messageId === undefined || item.providerMessageId === messageId) &&
    (opened === undefined || String(Boolean(item.openedAt || item.clickedAt)) === opened) &&
    (clicked === undefined || String(Boolean(item.clickedAt)) === clicked) &&
    Object.entries(equal).every(
      ([field, value]) => value === undefined || item[field as keyof SendItem] === value,
    )
  );
}

// If a filter matches few sends, the page ends early, with a cursor to continue.
const maxScannedInFeed = 2000;
// Sends to one address are in different blocks, so each is a read of its own.
const maxScannedInIndex = 200;

interface PageOptions {
  request: PageRequest;
  isWanted(item: SendItem): boolean;
  filtered: boolean;
  maxScanned: number;
}

async function collectPage(
  orgId: number,
  positions: AsyncIterable<feed.FeedPosition>,
  { request, isWanted, filtered, maxScanned }: PageOptions,
) {
  // Without a filter, the sends before the page are skipped without reading them.
  const [skipUnread, skipMatches] = filtered
    ? [0, countSkipped(request)]
    : [countSkipped(request), 0];
  const enough = skipMatches + request.limit + 1;
  const found: { send: Send; next: string }[] = [];
  let scanned = 0;
  let stoppedAt: string | undefined;
  for await (const some of inGroups(positions, Math.min(100, request.limit + 1), skipUnread)) {
    const items = await getAcceptedSends(orgId, some);
    found.push(
      ...items.flatMap((item, i) =>
        item && isWanted(item) ? [{ send: toApi(item), next: some[i]!.next }] : [],
      ),
    );
    scanned += some.length;
    if (found.length >= enough) break;
    stoppedAt = scanned >= maxScanned ? some.at(-1)!.next : undefined;
    if (stoppedAt) break;
  }
  const page = found.slice(skipMatches, skipMatches + request.limit);
  return {
    sends: page.map(({ send }) => send),
    next: found.length >= enough ? page.at(-1)?.next : stoppedAt,
  };
}

/** In the order of the positions; undefined for a position without an accepted send. */
export async function getAcceptedSends(
  orgId: number,
  positions: feed.FeedPosition[],
): Promise<(SendItem | undefined)[]> {
  const ids = positions.map(({ id }) => id);
  const items = await reading.getSends(orgId, ids);
  const accepted = await Promise.all(
    items.map(async (item, i) => {
      const { at, staged } = positions[i]!;
      if (!item || (at ?? item.createdAt) !== item.createdAt) return false;
      if (!staged || item.sentAt) return true;
      const firstId = blockOf(item.id) * idsPerBlock;
      return feed.isListed(orgId, { siteId: item.siteId, at: item.createdAt, firstId });
    }),
  );
  return items.map((item, i) => (accepted[i] ? item : undefined));
}

/** Cancels a scheduled send. Throws 409 if it is no longer scheduled. */
export async function cancel(caller: Caller, id: number): Promise<Send> {
  const send = await find(caller, id);
  const tooLate = conflict(`The send is ${send.status}: only a scheduled send can be cancelled`);
  if (send.status !== "scheduled") throw tooLate;
  if (send.campaignId !== null)
    throw conflict(`The send belongs to campaign ${send.campaignId}: cancel the campaign instead`);
  const address = keys.send(caller.orgId, id);
  const set = { status: "cancelled" as const, updatedAt: now().toISOString() };
  const isSecured = send.secure && (await get(keys.secureMessage(caller.orgId, id))) !== undefined;
  const revoked = isSecured ? [secureMessages.revocation(caller.orgId, id)] : [];
  if (send.batchId === null) {
    const cancelled = update(
      address,
      { set, remove: indexAttributeNames("due") },
      { if: equals("status", "scheduled"), orThrow: tooLate },
    );
    await write(cancelled, ...revoked);
  } else {
    // The send is a line of a chunk. An item replaces it, unless the chunk is being handed over.
    const laneKey = lanes.queuedChunkKey(caller.orgId, send.sendingConfigId, {
      block: blockOf(id),
      chunk: chunks.chunkNumberOf(id),
      at: send.scheduledAt!,
    });
    const untouched = all(exists, absent("callSize"));
    await write(
      put(address, { ...send, ...set }, { ifAbsent: tooLate }),
      update(laneKey, { add: { cancels: 1 } }, { if: untouched, orThrow: tooLate }),
      ...revoked,
    );
  }
  if (isSecured) await secureMessages.eraseBody(caller.orgId, id);
  return { ...send, ...set };
}
