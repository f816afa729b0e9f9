// Sends: one mail to one person each. A bulk send is first a line of a chunk; its item is inserted once the provider has it.
import * as z from "zod";
import { type Caller, permit } from "../caller.ts";
import { absent, all, equals, exists } from "../conditions.ts";
import { get, put, update, write } from "../doors/table.ts";
import { conflict, missing } from "../errors.ts";
import { blockOf, keys, off } from "../keys.ts";
import { decodeCursor, type PageRequest, pagination, skipped } from "../paging.ts";
import { amountPerCent } from "./credits.ts";
import * as history from "./events/history.ts";
import * as chunks from "./sending/chunks.ts";
import * as feed from "./sending/feed.ts";
import * as lanes from "./sending/lanes.ts";
import * as reading from "./sending/reading.ts";
import * as sites from "./sites.ts";

export const sendStatuses = ["scheduled", "queued", "sending", "sent", "delivered", "failed", "uncertain", "cancelled"] as const;

export const Send = z
  .object({
    id: z.int(),
    siteId: z.int(),
    contactId: z
      .int()
      .nullable()
      .describe("Whom it was meant for, or who had the address in its site when it was handed over. null where there is no contact"),
    toEmail: z.string(),
    fromEmail: z.string(),
    fromName: z.string().nullable(),
    subject: z.string(),
    status: z.enum(sendStatuses),
    provider: z.string(),
    sendingConfigId: z.int(),
    providerMessageId: z.string().nullable(),
    campaignId: z.int().nullable(),
    variantId: z.int().nullable().describe("Of the campaign"),
    sequenceId: z.int().nullable(),
    stepId: z.int().nullable().describe("Of the sequence"),
    holidayId: z.int().nullable(),
    templateId: z.int().nullable(),
    batchId: z.int().nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    scheduledAt: z.string().nullable(),
    secure: z.boolean().describe("What it says is encrypted: see GET /secure-messages/:id with the same id"),
    cost: z.number().describe("US cents taken from the credits; 0 within the plan's mails of the month"),
    error: z.string().nullable(),
    createdAt: z.string(),
    sentAt: z.string().nullable(),
    deliveredAt: z.string().nullable(),
    openedAt: z.string().nullable().describe("First open by a person"),
    clickedAt: z.string().nullable().describe("First click by a person"),
  })
  .meta({ id: "Send" });
export type Send = z.output<typeof Send>;

export const SendDetail = Send.extend({
  events: z.array(history.EmailEvent).describe("Oldest first; at most about 1,000"),
}).meta({ id: "SendDetail" });
export type SendDetail = z.output<typeof SendDetail>;

/** What is stored: empty fields are left out, because every byte over 1 KB is paid for at each change. */
export type SendItem = Pick<
  Send,
  "id" | "siteId" | "toEmail" | "fromEmail" | "subject" | "status" | "provider" | "sendingConfigId" | "createdAt"
> & {
  [Field in Exclude<keyof Send, "cost">]?: Send[Field] | undefined;
} & {
  /** Who gets a blind copy: what is told of this address is not told of the send. */
  bcc?: string | undefined;
  /** Thousandths of a US cent, where it cost anything. */
  charged?: number | undefined;
  /** Moves with every write of events; see events/timeline-item.ts. */
  v?: number;
  /** An event made it, before the hand-over was told. */
  early?: true;
};

export interface SendFilter {
  siteId?: number | undefined;
  status?: Send["status"] | undefined;
  batchId?: number | undefined;
  contactId?: number | undefined;
  campaignId?: number | undefined;
}

const nullable = Object.entries(Send.shape)
  .filter(([, type]) => type instanceof z.ZodNullable)
  .map(([field]) => field as keyof SendItem);

/** With null for every field that was left out. A provider's clock may be behind ours: nothing happens to a mail before it was sent. */
export const full = (item: SendItem): Send =>
  ({
    ...item,
    secure: item.secure ?? false,
    cost: (item.charged ?? 0) / amountPerCent,
    ...Object.fromEntries(nullable.map((field) => [field, item[field] ?? null])),
    ...tooEarly(item),
  }) as Send;

function tooEarly({ sentAt, deliveredAt, openedAt, clickedAt }: SendItem): Partial<SendItem> {
  const told = Object.entries({ deliveredAt, openedAt, clickedAt });
  return Object.fromEntries(told.flatMap(([field, at]) => (sentAt && at && at < sentAt ? [[field, sentAt]] : [])));
}

/** With its whole history. Throws 404. */
export async function detail(caller: Caller, id: number): Promise<SendDetail> {
  const item = await stored(caller, id);
  return { ...full(item), events: await history.ofSend(caller.orgId, { v: 0, ...item }) };
}

/** Throws 404. */
const find = async (caller: Caller, id: number): Promise<Send> => full(await stored(caller, id));

/** A send that has not been handed over yet is read from its chunk. */
async function stored(caller: Caller, id: number): Promise<SendItem> {
  const item = (await get<SendItem>(keys.send(caller.orgId, id))) ?? (await chunks.line(caller.orgId, id));
  if (!item) throw missing("There is no such send");
  permit(caller, item.siteId);
  return item;
}

/** Newest first, over the sites that the caller may see. */
export async function list(caller: Caller, request: PageRequest, { siteId, batchId, ...filter }: SendFilter) {
  const siteIds = await sites.visible(caller, siteId);
  const filtered = Object.values(filter).some((value) => value !== undefined);
  const places =
    batchId === undefined
      ? feed.places(caller.orgId, siteIds, decodeCursor(request.cursor))
      : feed.placesOfBatch(batchId, await chunks.sizeOf(caller.orgId, batchId), request);
  const [{ sends, next }, total] = await Promise.all([
    collect(caller.orgId, places, request, (send) => siteIds.includes(send.siteId) && matches(send, { batchId, ...filter }), filtered),
    filtered || batchId !== undefined ? null : feed.total(caller.orgId, siteIds),
  ]);
  return { sends, pagination: pagination(request, total, next) };
}

const matches = (send: Send, filter: Omit<SendFilter, "siteId">): boolean =>
  Object.entries(filter).every(([field, value]) => value === undefined || send[field as keyof Send] === value);

// A filter may match seldom: after so many sends the page ends short, with a cursor to go on.
const mostScanned = 2000;

async function collect(
  orgId: number,
  places: AsyncIterable<feed.Place>,
  request: PageRequest,
  wanted: (send: Send) => boolean,
  filtered: boolean,
) {
  // Without a filter what lies before the page is passed over unread.
  const [unread, unwanted] = filtered ? [0, skipped(request)] : [skipped(request), 0];
  const enough = unwanted + request.limit + 1;
  const found: { send: Send; next: string }[] = [];
  let scanned = 0;
  let stoppedAt: string | undefined;
  for await (const some of grouped(places, unread, Math.min(100, request.limit + 1))) {
    const ids = some.map(({ id }) => id);
    const items = await reading.byId(orgId, ids);
    const sends = items.map((item, i) => (item && (some[i]!.at ?? item.createdAt) === item.createdAt ? full(item) : undefined));
    found.push(...sends.flatMap((send, i) => (send && wanted(send) ? [{ send, next: some[i]!.next }] : [])));
    scanned += some.length;
    if (found.length >= enough) break;
    stoppedAt = scanned >= mostScanned ? some.at(-1)!.next : undefined;
    if (stoppedAt) break;
  }
  const page = found.slice(unwanted, unwanted + request.limit);
  return { sends: page.map(({ send }) => send), next: found.length >= enough ? page.at(-1)?.next : stoppedAt };
}

async function* grouped<T>(all: AsyncIterable<T>, skip: number, size: number): AsyncGenerator<T[]> {
  let group: T[] = [];
  let left = skip;
  for await (const one of all) {
    if (left-- > 0) continue;
    group.push(one);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length) yield group;
}

/** A scheduled send that will not go out. 409 when it is not scheduled any more. */
export async function cancel(caller: Caller, id: number): Promise<Send> {
  const send = await find(caller, id);
  const tooLate = conflict(`The send is ${send.status}: only a scheduled send can be cancelled`);
  if (send.status !== "scheduled") throw tooLate;
  const address = keys.send(caller.orgId, id);
  if (send.batchId === null) {
    await write(
      update(address, { set: { status: "cancelled" }, remove: off("due") }, { if: equals("status", "scheduled"), otherwise: tooLate }),
    );
  } else {
    // A line of a chunk: an item takes its place, unless the chunk is being handed over.
    const place = lanes.placeOf(caller.orgId, send.sendingConfigId, {
      block: blockOf(id),
      chunk: chunks.chunkOf(id),
      at: send.scheduledAt!,
    });
    const untouched = all(exists, absent("callSize"));
    await write(
      put(address, { ...send, status: "cancelled" }, { new: tooLate }),
      update(place, { add: { cancels: 1 } }, { if: untouched, otherwise: tooLate }),
    );
  }
  return { ...send, status: "cancelled" };
}
