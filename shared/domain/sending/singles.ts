// Single sends on their way to the provider: one claim, one call, one write of what became of it.
import { type Packed, unpacked } from "../../bodies.ts";
import { after, epochSeconds, now } from "../../clock.ts";
import { absent, all, equals } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, get, update } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import { Problem } from "../../errors.ts";
import { dueShard, keys, off, on, shelves } from "../../keys.ts";
import { provider as providerOf } from "../../providers/index.ts";
import type { Outcome, Provider } from "../../providers/provider.ts";
import { queues } from "../../queues.ts";
import * as engagement from "../contacts/engagement.ts";
import * as sendingConfigs from "../sending-configs.ts";
import type { SendItem } from "../sends.ts";
import * as suppressions from "../suppressions.ts";
import * as attachments from "./attachments.ts";
import { compose } from "./compose.ts";
import { type Content, wording } from "./content.ts";
import * as lanes from "./lanes.ts";
import { bounded, handOver, lost, marks } from "./provider-call.ts";

interface Single extends SendItem {
  content?: Packed;
  /** Claims so far, and until when the last one holds (ISO 8601). */
  attempt?: number;
  lease?: string;
  firstClaimedAt?: string;
}

type SingleContent = Content & { toName?: string };

const leaseSeconds = queues.send.timeoutSeconds + 90;
const graceSeconds = 120;

/** The second half of a single send. Safe to repeat: a send that is settled, or in other hands, is left alone. */
export async function deliver(orgId: number, sendId: number): Promise<void> {
  const send = await get<Single>(keys.send(orgId, sendId));
  if (!send || !waits(send)) return;
  const content = await contentOf(orgId, send);
  if (!content) return settle(orgId, send, { status: "refused", error: "It was never accepted: its content is missing" });
  const config = await sendingConfigs.find({ orgId }, send.sendingConfigId, { consistent: false }).catch(unlessGone);
  if (!config) return settle(orgId, send, { status: "refused", error: "Its sending config was deleted" });
  if (await nowSuppressed(orgId, send)) return settle(orgId, send, { status: "refused", error: "suppressed" });
  const provider = providerOf(config.provider)!;
  if (send.status === "sending" && !keyLives(provider, send)) return settle(orgId, send, lost);
  const waitSeconds = await lanes.turn(orgId, config, 1);
  if (waitSeconds > 0) return postpone(orgId, send, waitSeconds);
  const [words, files, credentials] = await Promise.all([
    wording(orgId, content),
    attachments.loaded(content.attachments),
    sendingConfigs.credentials(orgId, config),
  ]);
  const mailing = compose(content, words, [{ sendId, to: send.toEmail, name: content.toName, variables: {} }], files);
  const claimed = await claimSend(orgId, send);
  if (!claimed) return;
  const [outcome] = await handOver(provider, credentials, mailing, `pm-${sendId}`);
  const forgotten = provider.idempotencySeconds > 0 && !keyLives(provider, claimed);
  await conclude(orgId, claimed, bounded(outcome!, forgotten, send.scheduledAt ?? send.createdAt));
}

function waits({ status, scheduledAt, lease }: Single): boolean {
  const time = now().toISOString();
  if (status === "scheduled") return (scheduledAt ?? "") <= time;
  return status === "queued" || (status === "sending" && (lease ?? "") <= time);
}

async function contentOf(orgId: number, { id, content }: Single): Promise<SingleContent | undefined> {
  const item = content ?? (await get<Packed>(keys.singleContent(orgId, id)));
  return item && unpacked<SingleContent>(item);
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof Problem && error.kind === "missing")) throw error;
}

// It was looked up when the mail was accepted: only what has waited since is looked up again.
async function nowSuppressed(orgId: number, { toEmail, createdAt }: Single): Promise<boolean> {
  if (epochSeconds() - Date.parse(createdAt) / 1000 < 60) return false;
  return (await suppressions.among(orgId, [toEmail], "transactional")).has(canonical(toEmail));
}

const keyLives = ({ idempotencySeconds }: Provider, { firstClaimedAt }: Single): boolean =>
  firstClaimedAt !== undefined && epochSeconds() - Date.parse(firstClaimedAt) / 1000 < idempotencySeconds;

async function claimSend(orgId: number, send: Single): Promise<Single | undefined> {
  const set = {
    status: "sending" as const,
    attempt: (send.attempt ?? 0) + 1,
    lease: after(leaseSeconds).toISOString(),
    firstClaimedAt: send.firstClaimedAt ?? now().toISOString(),
  };
  return (await claim(update(keys.send(orgId, send.id), { set }, { if: asRead(send) }))) ? { ...send, ...set } : undefined;
}

/** Nobody has touched it since it was read. */
const asRead = ({ status, attempt }: Single) =>
  all(equals("status", status), attempt === undefined ? absent("attempt") : equals("attempt", attempt));

const conclude = (orgId: number, send: Single, outcome: Outcome): Promise<void> =>
  outcome.status === "held" ? postpone(orgId, send, outcome.retryAfterSeconds ?? backOffSeconds(send)) : settle(orgId, send, outcome);

const backOffSeconds = ({ attempt = 1 }: Single): number => Math.min(2 ** (attempt - 1), 300);

/** Its end: off the due index, and without what was only needed until now. */
async function settle(orgId: number, send: Single, outcome: Outcome): Promise<void> {
  const set = marks(outcome, now().toISOString());
  // Before the send is settled, as nobody takes it up again afterwards.
  if (set.status === "sent") await engagement.sent(orgId, [{ ...send, ...set }]);
  const change = { set, remove: [...off("due"), "content", "lease", "attempt", "firstClaimedAt"] };
  await claim(update(keys.send(orgId, send.id), change, { if: asRead(send) }));
}

/** Back to the queue, without having been handed over. */
async function postpone(orgId: number, send: Single, seconds: number): Promise<void> {
  const due = on(shelves.due("SEND", dueShard(send.id)), after(seconds + graceSeconds).toISOString());
  const kept = await claim(
    update(keys.send(orgId, send.id), { set: { status: "queued", ...due }, remove: ["lease"] }, { if: asRead(send) }),
  );
  if (kept) await enqueue(queues.send, [{ orgId, sendId: send.id }], { group: orgId, delaySeconds: seconds });
}
