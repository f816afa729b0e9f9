// A bulk send is first a line of a chunk: up to 500 recipients in one compressed item, two chunks to a block of 1,000 ids, so
// that an id tells where its line is.
import { type Packed, packed, unpacked } from "../../bodies.ts";
import { epochSeconds, now } from "../../clock.ts";
import { get, getMany } from "../../doors/table.ts";
import { blockOf, idsPerBlock, keys } from "../../keys.ts";
import * as liquid from "../../liquid.ts";
import { chunked } from "../../parallel.ts";
import type { SendItem } from "../sends.ts";
import { variablesFor } from "./compose.ts";
import { marked, type Source } from "./sources.ts";

export const linesPerChunk = 500;
const keepSeconds = 60 * 24 * 3600;

/** One recipient; its send id is `block * 1000 + i`. */
export interface Line {
  i: number;
  to: string;
  /** Of marketing mail. */
  contactId?: number | undefined;
  name?: string | undefined;
  variables?: Record<string, unknown> | undefined;
  metadata?: Record<string, unknown> | undefined;
  opens?: boolean | undefined;
  clicks?: boolean | undefined;
  /** Why it will not be sent. */
  error?: string | undefined;
}

/** What all lines share. */
export interface ChunkHead {
  siteId: number;
  sendingConfigId: number;
  provider: string;
  batchId: number;
  templateId?: number | undefined;
  fromEmail: string;
  fromName?: string | undefined;
  bcc?: string | undefined;
  /** Liquid. */
  subject: string;
  variables: Record<string, unknown>;
  createdAt: string;
  scheduledAt?: string | undefined;
  secure?: boolean | undefined;
  /** Of marketing mail: what it belongs to. */
  source?: Source | undefined;
  /** Those that are sent, from this line on, cost so much each: thousandths of a US cent. */
  charge?: { from: number; each: number } | undefined;
  /** Of marketing mail: nobody gets any who got some within so many days. */
  capDays?: number | undefined;
}

/** As it is stored. */
export interface ChunkItem extends Packed {
  n: number;
  /** What had not been handed over when its campaign was cancelled never will be. */
  cancelled?: true;
}

interface Chunk {
  head: ChunkHead;
  lines: Line[];
}

export const idOf = (block: number, { i }: Pick<Line, "i">): number => block * idsPerBlock + i;
export const chunkOf = (sendId: number): number => Math.floor((sendId % idsPerBlock) / linesPerChunk);

/** The chunk items of a block, to be inserted where they are not yet. */
export const items = (orgId: number, block: number, head: ChunkHead, lines: Line[]) =>
  Promise.all(
    chunked(lines, linesPerChunk).map(async (some, chunk) => {
      const address = keys.chunk(orgId, block, chunk);
      return {
        address,
        item: { ...(await packed(address, { head, lines: some })), n: some.length, expires: epochSeconds() + keepSeconds },
      };
    }),
  );

/** Undefined when it is older than chunks are kept. */
export async function read(orgId: number, block: number, chunk: number): Promise<Chunk | undefined> {
  const item = await get<Packed>(keys.chunk(orgId, block, chunk));
  return item && unpacked<Chunk>(item);
}

/** How many sends a batch has, or may have had once its chunks are gone; 0 for what is no batch. */
export async function sizeOf(orgId: number, block: number): Promise<number> {
  const addresses = [0, 1].map((chunk) => keys.chunk(orgId, block, chunk));
  const [first, second, send] = await getMany<{ n: number }>([...addresses, keys.send(orgId, block * idsPerBlock)]);
  if (first) return first.n + (second?.n ?? 0);
  return send ? idsPerBlock : 0;
}

/** A send that has no item of its own yet. */
export async function line(orgId: number, sendId: number): Promise<SendItem | undefined> {
  return (await lines(orgId, [sendId], { consistent: true }))[0];
}

/** Those of the sends that are lines of chunks, as they stand before the hand-over. */
export async function lines(orgId: number, sendIds: number[], { consistent = false } = {}): Promise<SendItem[]> {
  const byChunk = Map.groupBy(sendIds, (id) => `${blockOf(id)}/${chunkOf(id)}`);
  const groups = [...byChunk.values()];
  const addresses = groups.map(([id = 0]) => keys.chunk(orgId, blockOf(id), chunkOf(id)));
  const found = await getMany<ChunkItem>(addresses, { consistent });
  const sends = await Promise.all(
    groups.map(async (ids, g) => {
      const item = found[g];
      if (!item) return [];
      const chunk = await unpacked<Chunk>(item);
      const block = blockOf(ids[0]!);
      const wanted = new Set(ids);
      const told = chunk.lines.filter((one) => wanted.has(idOf(block, one))).map((one) => sendOf(chunk.head, block, one));
      return item.cancelled ? told.map((send): SendItem => ({ ...send, status: "cancelled" })) : told;
    }),
  );
  return sends.flat();
}

/** The send that a line is: queued, or failed when it will not be sent. */
export function sendOf(head: ChunkHead, block: number, one: Line, subject = subjectOf(head, one)): SendItem {
  const waiting = head.scheduledAt && head.scheduledAt > now().toISOString() ? "scheduled" : "queued";
  return {
    id: idOf(block, one),
    siteId: head.siteId,
    contactId: one.contactId,
    toEmail: one.to,
    fromEmail: head.fromEmail,
    fromName: head.fromName,
    bcc: head.bcc,
    subject,
    status: one.error ? "failed" : waiting,
    error: one.error,
    provider: head.provider,
    sendingConfigId: head.sendingConfigId,
    templateId: head.templateId,
    batchId: head.source ? undefined : head.batchId,
    ...(head.source && marked(head.source)),
    metadata: one.metadata,
    charged: head.charge && !one.error && one.i >= head.charge.from ? head.charge.each : undefined,
    secure: head.secure,
    createdAt: head.createdAt,
    scheduledAt: head.scheduledAt,
    v: 0,
  };
}

/** As it reads, or as it was written where it cannot be rendered for this one. */
function subjectOf(head: ChunkHead, one: Line): string {
  try {
    const compiled = liquid.compile(head.subject, { escape: false, field: "subject" });
    const { text } = liquid.render(compiled, variablesFor(head, one), { now: new Date(head.createdAt) });
    return text.replace(/\s+/g, " ").slice(0, 300);
  } catch {
    return head.subject.slice(0, 300);
  }
}
