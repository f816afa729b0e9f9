import { packed } from "../../bodies.ts";
import type { Caller } from "../../caller.ts";
import { after, epochSeconds, now } from "../../clock.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, get, insertMany } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import * as ids from "../../ids.ts";
import { dueShard, keys, on, shelves } from "../../keys.ts";
import * as liquid from "../../liquid.ts";
import { queues } from "../../queues.ts";
import type { SendItem } from "../sends.ts";
import { fromOf, type Gathered, keepSeconds, scheduleOf, shared, storedContent, warningsOf } from "./accept.ts";
import type { Content } from "./content.ts";
import * as feed from "./feed.ts";
import type { SingleMessage } from "./message.ts";

/**
 * Takes one mail: stored, then listed and enqueued. Answers with its id and status: `failed` for a suppressed address, which is
 * recorded and never sent to. Whoever dies in between leaves a send that the due index finds.
 */
export async function single({ orgId }: Caller, message: SingleMessage, gathered: Gathered) {
  const at = now();
  const scheduledAt = scheduleOf(message);
  const status: "failed" | "scheduled" | "queued" = gathered.suppressed.has(canonical(message.to))
    ? "failed"
    : scheduledAt
      ? "scheduled"
      : "queued";
  const id = await ids.takeSend();
  const send: SendItem = {
    id,
    ...shared(gathered, message, fromOf(message, gathered.config), at, scheduledAt),
    toEmail: message.to,
    subject: subjectOf(message, gathered, at),
    status,
    error: status === "failed" ? "suppressed" : undefined,
    metadata: message.metadata,
    v: 0,
  };
  const { direct, delaySeconds, due } = timing(scheduledAt, at);
  const items =
    status === "failed"
      ? [{ address: keys.send(orgId, id), item: send }]
      : await itemsOf(orgId, send, { ...(await storedContent(orgId, message, gathered, at)), toName: message.toName }, due);
  const isNew = (await insertMany(items)).at(-1);
  // The same request, made again after it died: it goes on as the first was taken.
  const taken = isNew ? send : (await get<SendItem>(keys.send(orgId, id)))!;
  // Listed before anybody can send it: what is sent leaves the due index, and nobody would look after the list again.
  await claim(...feed.listing(orgId, taken.siteId, taken.createdAt, id, 1));
  if (waiting(taken) && direct) await enqueue(queues.send, [{ orgId, sendId: id }], { group: orgId, delaySeconds });
  return { id, status: acceptedAs(taken), warnings: warningsOf(gathered, message, [{}]) };
}

const waiting = ({ status }: SendItem): boolean => status === "queued" || status === "scheduled";

/** A request made again may find its mail gone already. */
const acceptedAs = ({ status }: SendItem): "failed" | "scheduled" | "queued" =>
  status === "failed" || status === "scheduled" ? status : "queued";

/** Until when the queue is given to act before a tick looks after a send. */
const graceSeconds = 120;

// What is due within 15 minutes rides on the queue's delay; what is later waits on the due index, which may be a minute late.
function timing(scheduledAt: string | undefined, at: Date) {
  const delaySeconds = scheduledAt ? Math.ceil((Date.parse(scheduledAt) - at.getTime()) / 1000) : 0;
  const direct = delaySeconds <= 900;
  return { direct, delaySeconds, due: direct ? after(delaySeconds + graceSeconds, at) : new Date(scheduledAt!) };
}

// A short content rides inside the send and spares an item; a send should stay under 1 KB, every byte over it is paid at each change.
const ridesAlongBytes = 350;

async function itemsOf(orgId: number, send: SendItem, content: Content & { toName?: string | undefined }, due: Date) {
  const address = keys.send(orgId, send.id);
  const item = { ...send, ...on(shelves.due("SEND", dueShard(send.id)), due.toISOString()), orgId };
  const apart = keys.singleContent(orgId, send.id);
  const body = await packed(apart, content);
  if (body.gz && body.gz.length <= ridesAlongBytes) return [{ address, item: { ...item, content: body } }];
  return [
    { address: apart, item: { ...body, expires: epochSeconds() + keepSeconds } },
    { address, item },
  ];
}

/** As it will read, for lists: one line of at most 300 characters. */
function subjectOf(message: SingleMessage, { template }: Gathered, at: Date): string {
  const compiled = liquid.compile(message.subject ?? template?.subject ?? "", { escape: false, field: "subject" });
  const { text } = liquid.render(compiled, { email: message.to, name: message.toName, ...message.variables }, { now: at });
  return text.replace(/\s+/g, " ").slice(0, 300);
}
