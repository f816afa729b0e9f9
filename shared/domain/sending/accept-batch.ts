import { packed } from "../../bodies.ts";
import type { Caller } from "../../caller.ts";
import { epochSeconds, now } from "../../clock.ts";
import { claim, insertMany } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import { invalid } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { idsPerBlock, keys } from "../../keys.ts";
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
      const { data, error } = BatchRecipient.safeParse(given);
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

/** Stores, lists and lets into the lane, all safe to repeat. Answers with the lines as they are stored. */
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
  const address = keys.content(orgId, block);
  const [content, payloads] = await Promise.all([
    storedContent(orgId, message, gathered, at).then((said) => packed(address, said)),
    chunks.items(orgId, block, head, lines),
  ]);
  const [, ...isNew] = await insertMany([{ address, item: { ...content, expires: epochSeconds(at) + keepSeconds } }, ...payloads]);
  // The same request, made again after it died: it goes on as the first was taken.
  const stored = isNew.every(Boolean) ? [{ head, lines }] : await Promise.all(payloads.map((_, chunk) => chunks.read(orgId, block, chunk)));
  const first = stored[0]!.head;
  const due = first.scheduledAt ?? first.createdAt;
  const waiting = payloads.map(({ item: { n } }, chunk) => ({ block, chunk, n, siteId: first.siteId, at: due }));
  // One transaction: a repeated request learns from the feed entry that its chunks were let into the lane before.
  const listed = feed.listing(orgId, first.siteId, first.createdAt, block * idsPerBlock, lines.length);
  await claim(...listed, ...lanes.queueing(orgId, first.sendingConfigId, waiting));
  await lanes.wake(orgId, first.sendingConfigId);
  return stored.flatMap(({ lines }) => lines);
}
