import { packed } from "../../bodies.ts";
import type { Caller } from "../../caller.ts";
import { epochSeconds, now } from "../../clock.ts";
import { claim, insertMany, put, type Write, writeMany } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import { conflict, invalid } from "../../errors.ts";
import { faults } from "../../faults.ts";
import * as ids from "../../ids.ts";
import { type Address, idsPerBlock, keys } from "../../keys.ts";
import * as allowance from "../allowance.ts";
import { secured } from "../secure-messages/acceptance.ts";
import { variables as secureVariables } from "../secure-messages/item.ts";
import { fromOf, type Gathered, keepSeconds, scheduleOf, shared, storedContent, warningsOf } from "./accept.ts";
import * as chunks from "./chunks.ts";
import * as feed from "./feed.ts";
import * as lanes from "./lanes.ts";
import { type BatchMessage, BatchRecipient } from "./message.ts";

interface Row {
  index: number;
  to: string;
  id: number | null;
  status: "queued" | "scheduled" | "failed" | "rejected";
  error: string | null;
}

/** What is wrong with each recipient; 400 only when all of them are wrong. */
export function sorted({ recipients }: BatchMessage) {
  const seen = new Set<string>();
  const rows = recipients.map(
    (given, index): { index: number; to: string; recipient?: BatchRecipient & { to: string }; error?: string } => {
      const { data, error } = BatchRecipient.safeParse(given, { error: faults });
      const said = String(given.to ?? given.email ?? "").slice(0, 320);
      if (!data) return { index, to: said, error: `${error.issues[0]?.path.join(".") || "recipient"}: ${error.issues[0]?.message}` };
      const to = (data.to ?? data.email)!;
      if (seen.has(canonical(to))) return { index, to, error: "duplicate" };
      seen.add(canonical(to));
      return { index, to, recipient: { ...data, to } };
    },
  );
  if (rows.some(({ recipient }) => recipient)) return rows;
  const details = rows.slice(0, 20).map(({ index, error = "" }) => ({ path: `recipients.${index}`, message: error }));
  throw invalid(`None of the recipients can be sent to: recipients.0 ${details[0]!.message}`, { details });
}

/** Up to 1,000 mails with one content. accepted + rejected = recipients; rejected are the invalid, duplicate and suppressed ones. */
export async function accept({ orgId }: Caller, message: BatchMessage, rows: ReturnType<typeof sorted>, gathered: Gathered) {
  const scheduledAt = scheduleOf(message);
  const good = rows.flatMap(({ index, recipient }) => (recipient ? [{ index, ...recipient }] : []));
  const lines = good.map((recipient, i): chunks.Line => lineOf(recipient, i, gathered.suppressed));
  const block = await ids.takeBlock();
  const stored = await store(orgId, block, message, gathered, lines, scheduledAt);
  const byIndex = new Map(good.map(({ index }, i) => [index, stored[i]!]));
  const results = rows.map(({ index, to, error }): Row => {
    const line = byIndex.get(index);
    if (!line) return { index, to, id: null, status: "rejected", error: error ?? null };
    return {
      index,
      to,
      id: chunks.idOf(block, line),
      status: line.error ? "failed" : scheduledAt ? "scheduled" : "queued",
      error: line.error ?? null,
    };
  });
  const accepted = stored.filter(({ error }) => !error).length;
  return { batchId: block, accepted, rejected: rows.length - accepted, results, warnings: warningsOf(gathered, message, good) };
}

const lineOf = (
  { to, toName, variables, metadata, trackOpens, trackClicks }: BatchRecipient & { to: string },
  i: number,
  suppressed: Set<string>,
): chunks.Line => ({
  i,
  to,
  name: toName,
  variables,
  metadata,
  opens: trackOpens,
  clicks: trackClicks,
  error: suppressed.has(canonical(to)) ? "suppressed" : undefined,
});

/** Stores, then lists, pays for and lets into the lane at once. Answers with the lines as they are stored. Throws 402. */
async function store(
  orgId: number,
  block: number,
  message: BatchMessage,
  gathered: Gathered,
  lines: chunks.Line[],
  scheduledAt: string | undefined,
): Promise<chunks.Line[]> {
  const at = now();
  const head: chunks.ChunkHead = {
    ...shared(gathered, message, fromOf(message, gathered.config), at, scheduledAt),
    batchId: block,
    subject: message.subject ?? gathered.template?.subject ?? "",
    variables: message.variables,
  };
  const n = lines.filter(({ error }) => !error).length;
  let stored = lines;
  try {
    await allowance.afford(orgId, n, gathered.standing);
    const secret = message.secure ? await locked(orgId, block, message, gathered, lines, head) : undefined;
    stored = secret?.lines ?? lines;
    const content = await contentItem(orgId, block, secret?.message ?? message, secret?.gathered ?? gathered, at);
    const taking = (spending: allowance.Spending) => take(orgId, block, secret?.head ?? head, stored, content, spending, secret?.listed);
    const listed = { siteId: head.siteId, n: lines.length };
    await allowance.spend(orgId, n, `batch:${block}`, taking, { known: gathered.standing, listed });
  } catch (error) {
    // The same request, made again after it died, goes on as the first was taken; and may have spent what is missing now.
    const earlier = await linesTaken(orgId, block);
    if (!earlier) throw error;
    stored = earlier;
  }
  await lanes.wake(orgId, head.sendingConfigId);
  return stored;
}

/**
 * With what it says in a blob for each, and notices on their way. What was revoked must not come back when the request is made
 * again. A line that cannot be rendered fails alone.
 */
async function locked(orgId: number, block: number, given: BatchMessage, before: Gathered, lines: chunks.Line[], head: chunks.ChunkHead) {
  if (await linesTaken(orgId, block)) throw taken;
  const open = lines.filter(({ error }) => !error);
  const times = { at: new Date(head.createdAt), scheduledAt: head.scheduledAt };
  const secret = await secured(
    orgId,
    given,
    before,
    open.map((line) => ({ ...line, id: chunks.idOf(block, line) })),
    times,
  );
  await writeMany(secret.writes);
  const byIndex = new Map(open.map(({ i }, k) => [i, secret.readers[k]!]));
  const noticed = lines.map((line): chunks.Line => {
    const { subject, error } = byIndex.get(line.i) ?? { subject: head.subject, error: line.error };
    return { ...line, variables: { [secureVariables.subject]: subject }, clicks: undefined, error };
  });
  return {
    message: secret.message,
    gathered: secret.gathered,
    lines: noticed,
    head: { ...head, subject: secret.message.subject!, variables: {} },
    listed: feed.listingSecure(orgId, head.siteId, head.createdAt, block * idsPerBlock, lines.length, secret.writes.length),
  };
}

async function contentItem(orgId: number, block: number, message: BatchMessage, gathered: Gathered, at: Date) {
  const address = keys.content(orgId, block);
  const content = await packed(address, await storedContent(orgId, message, gathered, at));
  return { address, item: { ...content, expires: epochSeconds(at) + keepSeconds } };
}

/** Throws `taken` when that was done before. */
async function take(
  orgId: number,
  block: number,
  head: chunks.ChunkHead,
  lines: chunks.Line[],
  content: { address: Address; item: object },
  { writes, cost }: allowance.Spending,
  listedBeside: Write[] = [],
): Promise<void> {
  const charge = cost && { from: lines.filter(({ error }) => !error)[cost.free]!.i, each: cost.each };
  const payloads = await chunks.items(orgId, block, { ...head, charge }, lines);
  const items = [content, ...payloads];
  // What is there and not listed is of an attempt that came to nothing.
  if (!(await insertMany(items)).every(Boolean)) {
    if (await linesTaken(orgId, block)) throw taken;
    await writeMany(items.map(({ address, item }) => put(address, item)));
  }
  const waiting = payloads.map(({ item: { n } }, chunk) => ({
    block,
    chunk,
    n,
    siteId: head.siteId,
    at: head.scheduledAt ?? head.createdAt,
  }));
  const listed = feed.listing(orgId, head.siteId, head.createdAt, block * idsPerBlock, lines.length);
  if (!(await claim(listed, ...lanes.queueing(orgId, head.sendingConfigId, waiting), ...writes, ...listedBeside))) throw taken;
}

const taken = conflict("The batch was taken before");

/** The lines of a batch that was listed. */
async function linesTaken(orgId: number, block: number): Promise<chunks.Line[] | undefined> {
  const first = await chunks.line(orgId, block * idsPerBlock);
  if (!first || !(await feed.isListed(orgId, first.siteId, first.createdAt, first.id))) return undefined;
  const count = Math.ceil((await chunks.sizeOf(orgId, block)) / chunks.linesPerChunk);
  const stored = await Promise.all(Array.from({ length: count }, (_, chunk) => chunks.read(orgId, block, chunk)));
  return stored.flatMap((one) => one?.lines ?? []);
}
