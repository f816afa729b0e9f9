import { packed } from "../../bodies.ts";
import type { Caller } from "../../caller.ts";
import { after, epochSeconds, now } from "../../clock.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, get, insertMany, put, type Write } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import { invalid } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { dueShard, keys, on, shelves } from "../../keys.ts";
import * as liquid from "../../liquid.ts";
import { queues } from "../../queues.ts";
import * as allowance from "../allowance.ts";
import * as days from "../days.ts";
import * as organizations from "../organizations.ts";
import type { secured } from "../secure-messages/acceptance.ts";
import { variables as secureVariables } from "../secure-messages/item.ts";
import type { SendItem } from "../sends.ts";
import { fromOf, type Gathered, keepSeconds, scheduleOf, shared, storedContent, warningsOf } from "./accept.ts";
import type { Content } from "./content.ts";
import * as feed from "./feed.ts";
import type { SingleMessage } from "./message.ts";

/** What locks secure messages away, for those who send such. */
type Lock = typeof secured;

/**
 * Takes one mail: stored, listed and paid for at once, then enqueued. Answers with its id and status: `failed` for a suppressed
 * address, which is recorded and never sent to. Whoever dies before it is enqueued leaves a send that the due index finds. Throws 402.
 */
export async function single({ orgId }: Pick<Caller, "orgId">, message: SingleMessage, gathered: Gathered, lock?: Lock) {
  if (message.secure && !lock) throw new Error("A secure message would go out for all to read");
  const at = now();
  const scheduledAt = scheduleOf(message);
  const isSuppressed = gathered.suppressed.has(canonical(message.to));
  const id = await ids.takeSend();
  const send: SendItem = {
    id,
    ...shared(gathered, message, fromOf(message, gathered.config), at, scheduledAt),
    contactId: gathered.contactId,
    toEmail: message.to,
    subject: subjectOf(message, gathered, at),
    status: isSuppressed ? "failed" : scheduledAt ? "scheduled" : "queued",
    error: isSuppressed ? "suppressed" : undefined,
    metadata: message.metadata,
    v: 0,
  };
  const { direct, delaySeconds, due } = timing(scheduledAt, at);
  const taken = await (isSuppressed ? refuse(orgId, send) : take(orgId, send, message, gathered, due, lock)).catch(
    async (error: unknown) => {
      // The same request, made again after it died, may have spent what is missing now.
      const earlier = await get<SendItem>(keys.send(orgId, id));
      if (!earlier) throw error;
      return earlier;
    },
  );
  if (waiting(taken) && direct) await enqueue(queues.send, [{ orgId, sendId: id }], { group: orgId, delaySeconds });
  return {
    id,
    status: acceptedAs(taken),
    warnings: isSuppressed ? [suppressedWarning(message.to)] : warningsOf(gathered, message, [{ toName: message.toName }]),
  };
}

async function take(
  orgId: number,
  send: SendItem,
  message: SingleMessage,
  gathered: Gathered,
  due: Date,
  lock: Lock | undefined,
): Promise<SendItem> {
  await allowance.afford(orgId, 1, gathered.standing);
  return message.secure ? takeSecure(orgId, send, message, gathered, due, lock!) : takeAs(orgId, send, message, gathered, due);
}

/** What it says goes into a blob, and a notice on its way. What was revoked must not come back when the request is made again. */
async function takeSecure(orgId: number, send: SendItem, given: SingleMessage, before: Gathered, due: Date, lock: Lock): Promise<SendItem> {
  const earlier = await get<SendItem>(keys.send(orgId, send.id));
  if (earlier) return earlier;
  const reader = { id: send.id, to: given.to, name: given.toName, variables: {} };
  const times = { at: new Date(send.createdAt), scheduledAt: send.scheduledAt ?? undefined };
  const { message, gathered, readers, writes } = await lock(orgId, given, before, [reader], times);
  const [{ error, subject } = { subject: "" }] = readers;
  if (error) throw invalid(error);
  const variables = { ...message.variables, [secureVariables.subject]: subject };
  const listed = feed.listingSecure(orgId, send.siteId, send.createdAt, send.id, 1, 1);
  return takeAs(orgId, send, { ...message, variables }, gathered, due, [...writes, ...listed]);
}

async function takeAs(
  orgId: number,
  send: SendItem,
  message: SingleMessage,
  gathered: Gathered,
  due: Date,
  beside: Write[] = [],
): Promise<SendItem> {
  const [stored] = await Promise.all([storedContent(orgId, message, gathered, new Date(send.createdAt)), listed(orgId, send)]);
  const content = { ...stored, toName: message.toName };
  const { item, apart } = await itemOf(orgId, send, content, due);
  if (apart) await insertMany([apart]);
  const paid = ({ writes, cost }: allowance.Spending) => record(orgId, { ...item, charged: cost?.each }, [...writes, ...beside]);
  const counted = { siteId: send.siteId, n: 1 };
  return allowance.spend(orgId, 1, `send:${send.id}`, paid, { known: gathered.standing, listed: counted });
}

/** Before it is made, and by a plain write: nothing that was taken is missing in the list, and half of it is paid. */
const listed = (orgId: number, { siteId, createdAt, id }: SendItem) => claim(feed.listing(orgId, siteId, createdAt, id, 1));

/** The same request, made again after it died, goes on as the first was taken. */
async function record(orgId: number, send: SendItem, writes: Write[]): Promise<SendItem> {
  const address = keys.send(orgId, send.id);
  const isNew = await claim(put(address, send, { new: true }), ...writes);
  return isNew ? send : (await get<SendItem>(address))!;
}

/** Nobody will hand it over, and count it then. */
async function refuse(orgId: number, send: SendItem): Promise<SendItem> {
  const [date] = await Promise.all([organizations.today(orgId), listed(orgId, send)]);
  const { id, siteId, sendingConfigId: configId } = send;
  const failed = days.counting(orgId, siteId, date, id, [{ configId, counts: { failed: 1 } }]);
  return record(orgId, send, [feed.counting(orgId, { siteId, n: 1 }), ...failed]);
}

const suppressedWarning = (to: string): string =>
  `${to} is suppressed: the send is recorded as failed and nothing goes out; GET /suppressions/check/:email says why`;

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

async function itemOf(orgId: number, send: SendItem, content: Content & { toName?: string | undefined }, due: Date) {
  const item = { ...send, ...on(shelves.due("SEND", dueShard(send.id)), due.toISOString()), orgId };
  const address = keys.singleContent(orgId, send.id);
  const body = await packed(address, content);
  if (body.gz && body.gz.length <= ridesAlongBytes) return { item: { ...item, content: body } };
  return { item, apart: { address, item: { ...body, expires: epochSeconds() + keepSeconds } } };
}

/** As it will read, for lists: one line of at most 300 characters. */
function subjectOf(message: SingleMessage, { template }: Gathered, at: Date): string {
  const compiled = liquid.compile(message.subject ?? template?.subject ?? "", { escape: false, field: "subject" });
  const { text } = liquid.render(compiled, { email: message.to, name: message.toName, ...message.variables }, { now: at });
  return text.replace(/\s+/g, " ").slice(0, 300);
}
