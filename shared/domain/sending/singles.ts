// Single sends on their way to the provider: one claim, one call, one write of what became of it.
import { type Packed, unpacked } from "../../bodies.ts";
import { after, epochSeconds, now } from "../../clock.ts";
import { absent, all, equals } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, get, update } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import { invalid, missing } from "../../errors.ts";
import { randomText } from "../../ids.ts";
import { dueShard, keys, off, on, shelves } from "../../keys.ts";
import { provider as providerOf } from "../../providers/index.ts";
import type { Mailing, Outcome, Provider } from "../../providers/provider.ts";
import { queues } from "../../queues.ts";
import * as engagement from "../contacts/engagement.ts";
import * as days from "../days.ts";
import * as organizations from "../organizations.ts";
import * as sendingConfigs from "../sending-configs.ts";
import type { SendItem } from "../sends.ts";
import * as suppressions from "../suppressions.ts";
import * as attachments from "./attachments.ts";
import { compose } from "./compose.ts";
import { type Content, wording } from "./content.ts";
import * as pace from "./pace.ts";
import { askable, bounded, configOf, doubtful, finalWords, type KeyTerm, keyTerm, lost, marks, oneByOne, waitOf } from "./provider-call.ts";
import * as warmUp from "./warm-up.ts";

interface Single extends SendItem {
  content?: Packed;
  /** Claims so far, whose the last one is, and until when it holds (ISO 8601). */
  attempt?: number;
  by?: string;
  lease?: string;
  firstClaimedAt?: string;
  /** Of the first question that may have been heard. */
  key?: KeyTerm;
  /** The provider may have it, though it did not say so. */
  doubt?: boolean;
  /** When the turn comes that it has taken (ISO 8601). */
  turnAt?: string;
  duesk?: string;
}

type SingleContent = Content & { toName?: string };

const leaseSeconds = queues.send.timeoutSeconds + 90;
const graceSeconds = 120;
// As far as a message can be delayed, and a little less.
const farthestTurnMs = 890_000;
const crowdedSeconds = 5;

/** The second half of a single send. Safe to repeat: a send that is settled, or in other hands, is left alone. */
export async function deliver(orgId: number, sendId: number): Promise<void> {
  const send = await get<Single>(keys.send(orgId, sendId));
  if (!send) return;
  if (!waits(send)) return isOver(send) ? tidy(orgId, send) : undefined;
  send.doubt ||= send.status === "sending";
  const ready = await prepare(orgId, send).catch(finalWords);
  if (ready === undefined) return postpone(orgId, send, crowdedSeconds);
  if (typeof ready === "string") return settle(orgId, send, send.doubt ? lost : { status: "refused", error: ready });
  await handOver(orgId, send, ready).finally(ready.leave);
}

async function handOver(orgId: number, send: Single, ready: Ready): Promise<void> {
  if (send.doubt && !askable(send.key, ready.config)) return settle(orgId, send, lost);
  const { waitSeconds, taken } = ready.turn;
  if (waitSeconds > 0) return postpone(orgId, send, waitSeconds, taken ? after(waitSeconds).toISOString() : undefined);
  const claimed = await claimSend(orgId, send, ready);
  if (!claimed) return;
  await warmUp.count(orgId, ready.config, 1);
  const [outcome] = await oneByOne(ready.provider, ready.credentials, ready.mailing);
  await conclude(orgId, claimed, ready, outcome!);
}

function waits({ status, scheduledAt, lease, turnAt }: Single): boolean {
  const time = now().toISOString();
  if (status === "scheduled") return (scheduledAt ?? "") <= time;
  return status === "queued" ? (turnAt ?? "") <= time : status === "sending" && (lease ?? "") <= time;
}

// An event may have settled it while its worker died. One that lives still has something to add.
const isOver = ({ status, duesk, lease }: Single): boolean =>
  duesk !== undefined && (lease ?? "") <= now().toISOString() && !["scheduled", "queued", "sending"].includes(status);

interface Ready {
  config: sendingConfigs.SendingConfig;
  provider: Provider;
  credentials: Record<string, unknown>;
  mailing: Mailing;
  turn: pace.Turn;
  /** Makes room in this process for others. */
  leave(): void;
}

/** All that has to be read and made; undefined when this process has its hands full. Throws a Problem when it can never be sent. */
async function prepare(orgId: number, send: Single): Promise<Ready | undefined> {
  const [content, config] = await Promise.all([contentOf(orgId, send), configOf(orgId, send.sendingConfigId), notSuppressed(orgId, send)]);
  const leave = attachments.room(content.attachments);
  if (!leave) return undefined;
  try {
    return { ...(await made(orgId, send, content, config)), leave };
  } catch (error) {
    leave();
    throw error;
  }
}

async function made(orgId: number, send: Single, content: SingleContent, config: sendingConfigs.SendingConfig) {
  const [words, files, credentials, turn] = await Promise.all([
    wording(orgId, content),
    attachments.loaded(content.attachments),
    sendingConfigs.credentials(orgId, config),
    // Who comes back for the turn it has taken looks only whether all are to pause.
    pace.turn(orgId, send.turnAt ? { id: config.id } : config, 1, farthestTurnMs),
  ]);
  const { common, recipient } = compose(content, words, files);
  const mailing = { ...common, recipients: [recipient({ sendId: send.id, to: send.toEmail, name: content.toName })] };
  return { config, provider: providerOf(config.provider)!, credentials, mailing, turn };
}

async function contentOf(orgId: number, { id, content }: Single): Promise<SingleContent> {
  const item = content ?? (await get<Packed>(keys.singleContent(orgId, id)));
  if (!item) throw missing("It was never accepted: its content is missing");
  return unpacked<SingleContent>(item);
}

// It was looked up when the mail was accepted: only what has waited since is looked up again.
async function notSuppressed(orgId: number, { toEmail, createdAt }: Single): Promise<void> {
  if (epochSeconds() - Date.parse(createdAt) / 1000 < 60) return;
  if ((await suppressions.among(orgId, [toEmail], "transactional")).has(canonical(toEmail))) throw invalid("suppressed");
}

/** Says that the provider is being asked; undefined when somebody else did. */
async function claimSend(orgId: number, send: Single, { provider, config }: Ready): Promise<Single | undefined> {
  const set = {
    status: "sending" as const,
    attempt: (send.attempt ?? 0) + 1,
    by: randomText(8),
    lease: after(leaseSeconds).toISOString(),
    firstClaimedAt: send.firstClaimedAt ?? now().toISOString(),
    provider: provider.key,
    ...(send.doubt ? { doubt: true } : { key: keyTerm(provider, config) }),
  };
  const mine = await claim(update(keys.send(orgId, send.id), { set, remove: ["turnAt"] }, { if: asRead(send) }));
  // The SDK may have asked twice, and been told of its own first time.
  if (!mine && (await get<Single>(keys.send(orgId, send.id)))?.by !== set.by) return undefined;
  const { turnAt: _, ...rest } = send;
  return { ...rest, ...set } as Single;
}

/** Nobody has touched it since it was read. */
const asRead = ({ status, attempt, turnAt }: Single) =>
  all(
    equals("status", status),
    attempt === undefined ? absent("attempt") : equals("attempt", attempt),
    turnAt === undefined ? absent("turnAt") : equals("turnAt", turnAt),
  );

async function conclude(orgId: number, claimed: Single, { config, turn }: Ready, told: Outcome): Promise<void> {
  const send = { ...claimed, doubt: claimed.doubt || doubtful(told) };
  const outcome = bounded(told, config, send.firstClaimedAt, send.doubt);
  if (outcome.status === "held") {
    const wait = waitOf(outcome, backOffSeconds(send));
    await postpone(orgId, send, wait.seconds);
    return pace.held(orgId, config.id, wait);
  }
  await settle(orgId, send, outcome);
  if (outcome.status === "uncertain") await pace.held(orgId, config.id, { why: "fault", seconds: 0 });
  if (outcome.status === "accepted" && turn.troubled) await pace.relieve(orgId, config.id);
}

const backOffSeconds = ({ attempt = 1 }: Single): number => Math.min(2 ** (attempt - 1), 300);

/** Its end. An event may have come first and told more of it: then only what the provider said beside is added. */
async function settle(orgId: number, send: Single, outcome: Outcome): Promise<void> {
  const address = keys.send(orgId, send.id);
  const [date, found] = await Promise.all([organizations.today(orgId), engagement.contactsOf(orgId, [send])]);
  const set = { ...marks(outcome, now().toISOString()), contactId: send.contactId ?? found[0]?.id };
  // Before the send is settled, as nobody takes it up again afterwards.
  if (set.status === "sent") await engagement.sent(orgId, [{ ...send, ...set }], found);
  const counting = (counts: days.DayCounts) =>
    days.counting(orgId, send.siteId, date, send.id, [{ configId: send.sendingConfigId, counts }]);
  // Whoever is about to write an event on it as it was reads it again.
  if (await claim(update(address, { set, add: { v: 1 }, remove: fromHere }, { if: asRead(send) }), ...counting({ [set.status!]: 1 })))
    return;
  const { status: _, error: __, ...beside } = set;
  if (send.attempt)
    await claim(update(address, { set: beside, remove: fromHere }, { if: equals("attempt", send.attempt) }), ...counting({ sent: 1 }));
}

const tidy = async (orgId: number, send: Single): Promise<void> => {
  await claim(update(keys.send(orgId, send.id), { remove: fromHere }, { if: asRead(send) }));
};

// Off the due index, and without what was only needed until the end.
const fromHere = [...off("due"), "content", "lease", "attempt", "by", "firstClaimedAt", "key", "doubt", "turnAt"];

/** Back to the queue, without having been handed over; with a turn taken it comes back for that. */
async function postpone(orgId: number, send: Single, seconds: number, turnAt?: string): Promise<void> {
  const due = on(shelves.due("SEND", dueShard(send.id)), after(seconds + graceSeconds).toISOString());
  const set = { status: "queued", turnAt, ...(send.doubt && { doubt: true }), ...due };
  const remove = ["lease", ...(turnAt ? [] : ["turnAt"]), ...(send.doubt ? [] : ["key"])];
  const kept = await claim(update(keys.send(orgId, send.id), { set, remove }, { if: asRead(send) }));
  if (kept) await enqueue(queues.send, [{ orgId, sendId: send.id }], { group: orgId, delaySeconds: seconds });
}
