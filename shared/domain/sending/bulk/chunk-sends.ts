// The sends of a chunk: its lines, joined with the RESULTs of its calls. Sends are read this way
// until they get items of their own.

import { get } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import * as liquid from "../../../email/liquid.ts";
import { decompress } from "../../../kernel/compressed-values.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { blockOf, keys } from "../../../keys.ts";
import { subjectFor } from "../../content/template-translations.ts";
import { toSourceFields } from "../mail-sources.ts";
import { toSendFields } from "../provider-calls/provider-call.ts";
import { mergeVariables } from "../rendering/compose.ts";
import type { SendItem } from "../send-schema.ts";
import { listChunkResults } from "./call-results.ts";
import {
  type Chunk,
  type ChunkHead,
  type ChunkItem,
  type ChunkRecipient,
  chunkNumberOf,
  sendIdOf,
} from "./chunks.ts";

/** A send without an item of its own, read from its chunk. */
export async function getChunkSend(orgId: number, sendId: number): Promise<SendItem | undefined> {
  return (await getChunkSends(orgId, [sendId], { consistent: true }))[0];
}

// Each chunk has up to 500 recipients in memory while it is read.
const chunksInParallel = 16;

/**
 * Reads sends from their chunks and the results of their calls: accepted, or with the state before
 * the hand-over. Leaves out ids that are in no chunk.
 */
export async function getChunkSends(
  orgId: number,
  sendIds: number[],
  { consistent = false, rendersSubject = true } = {},
): Promise<SendItem[]> {
  const toItem = rendersSubject ? toSendItem : toUnrenderedSend;
  const sends = await inParallel(chunksInParallel, groupByChunk(sendIds), async (ids) => {
    const [block, chunk] = [blockOf(ids[0]!), chunkNumberOf(ids[0]!)];
    const [item, accepted] = await Promise.all([
      get<ChunkItem>(keys.chunk(orgId, block, chunk), { consistent }),
      getAcceptedFields(orgId, { block, chunk, consistent }),
    ]);
    if (!item) return [];
    const { head, lines } = await decompress<Chunk>(item);
    const wanted = new Set(ids);
    return lines
      .filter((recipient) => wanted.has(sendIdOf(block, recipient)))
      .map((recipient): SendItem => {
        const send = toItem(head, block, recipient);
        const result = accepted.get(recipient.i);
        if (result) return { ...send, ...result, contactId: send.contactId ?? result.contactId };
        return item.cancelled ? { ...send, status: "cancelled" } : send;
      });
  });
  return sends.flat();
}

const groupByChunk = (sendIds: number[]): number[][] => [
  ...Map.groupBy(sendIds, (id) => `${blockOf(id)}/${chunkNumberOf(id)}`).values(),
];

/** The fields of a send that the provider's response sets. */
type AcceptedFields = Pick<
  SendItem,
  "status" | "provider" | "providerMessageId" | "sentAt" | "contactId"
>;

/** By index: what the results of a chunk say about the accepted sends that have no items. */
async function getAcceptedFields(
  orgId: number,
  chunk: { block: number; chunk: number; consistent: boolean },
): Promise<Map<number, AcceptedFields>> {
  const accepted = new Map<number, AcceptedFields>();
  for (const { at, provider, contactIds = {}, outcomes } of await listChunkResults(orgId, chunk))
    for (const [i, outcome] of outcomes) {
      if (at === undefined || outcome.status !== "accepted") continue;
      const fields = { ...toSendFields(outcome, at), provider, contactId: contactIds[i] };
      accepted.set(i, fields as AcceptedFields);
    }
  return accepted;
}

/**
 * Completes sends whose item was inserted by an event before the provider's response was stored:
 * adds the fields from the response and keeps the state from the event.
 */
export async function addAcceptedFields<S extends SendItem | undefined>(
  orgId: number,
  sends: S[],
  { consistent = false } = {},
): Promise<S[]> {
  const early = sends.flatMap((send) => (send?.early && !send.sentAt ? send.id : []));
  if (!early.length) return sends;
  const fields = new Map<number, AcceptedFields>();
  await inParallel(chunksInParallel, groupByChunk(early), async ([id = 0]) => {
    const [block, chunk] = [blockOf(id), chunkNumberOf(id)];
    const accepted = await getAcceptedFields(orgId, { block, chunk, consistent });
    for (const [i, result] of accepted) fields.set(sendIdOf(block, { i }), result);
  });
  return sends.map((send) => {
    const result = send && !send.sentAt ? fields.get(send.id) : undefined;
    if (!send || !result) return send;
    const { status: _, contactId, ...response } = result;
    // An erased send has null as its contact.
    return { ...send, ...response, ...(send.contactId === undefined && { contactId }) };
  });
}

/**
 * The send of a recipient before the hand-over: scheduled or queued, or failed if it has an error.
 */
export const toSendItem = (
  head: ChunkHead,
  block: number,
  recipient: ChunkRecipient,
): SendItem => ({
  ...toUnrenderedSend(head, block, recipient),
  subject: renderSubjectOrSource(head, recipient),
});

/** The same with the Liquid source of the subject, which takes most of the time to render. */
function toUnrenderedSend(head: ChunkHead, block: number, recipient: ChunkRecipient): SendItem {
  const pendingStatus =
    head.scheduledAt && head.scheduledAt > now().toISOString() ? "scheduled" : "queued";
  return {
    id: sendIdOf(block, recipient),
    siteId: head.siteId,
    contactId: recipient.contactId,
    toEmail: recipient.to,
    fromEmail: head.fromEmail,
    fromName: head.fromName,
    bcc: head.bcc,
    tags: head.tags,
    subject: subjectFor(head, recipient.locale),
    status: recipient.error ? "failed" : pendingStatus,
    error: recipient.error,
    provider: head.provider,
    sendingConfigId: head.sendingConfigId,
    templateId: head.templateId,
    batchId: head.source ? undefined : head.batchId,
    ...(head.source && toSourceFields(head.source)),
    metadata: recipient.metadata,
    charged:
      head.charge && !recipient.error && recipient.i >= head.charge.from
        ? head.charge.each
        : undefined,
    secure: head.secure,
    createdAt: head.createdAt,
    scheduledAt: head.scheduledAt,
    v: 0,
  };
}

/** The rendered subject, or its Liquid source if it cannot be rendered for this recipient. */
function renderSubjectOrSource(head: ChunkHead, recipient: ChunkRecipient): string {
  const source = subjectFor(head, recipient.locale);
  try {
    const compiled = liquid.compile(source, { escape: false, field: "subject" });
    const { text } = liquid.render(compiled, mergeVariables(head, recipient), {
      now: new Date(head.liquidNow ?? head.createdAt),
      budget: liquid.Budget.forSubject(),
    });
    return text.replace(/\s+/g, " ").slice(0, 300);
  } catch {
    return source.slice(0, 300);
  }
}
