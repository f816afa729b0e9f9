// One call of a provider, and what its outcome makes of a send. Shared by chunks and single sends.
import { epochSeconds } from "../../clock.ts";
import { inParallel } from "../../parallel.ts";
import type { Mailing, Outcome, Provider } from "../../providers/provider.ts";
import type { SendItem } from "../sends.ts";

type Settled = Exclude<Outcome, { status: "held" }>;

/** Mails in flight where a provider takes one at a time. */
export const singlesInFlight = 25;
const patienceSeconds = 24 * 3600;

export const lost: Outcome = { status: "uncertain", error: "The worker died while the provider was being called" };

/**
 * A fault behind an idempotency key may hide an accepted mail: once the key is forgotten it must not be asked again. And nobody
 * waits for ever for a provider that keeps failing.
 */
export function bounded(outcome: Outcome, keyForgotten: boolean, since: string): Outcome {
  if (outcome.status !== "held") return outcome;
  if (keyForgotten && outcome.why === "fault") return { status: "uncertain", error: outcome.error };
  if (epochSeconds() - Date.parse(since) / 1000 > patienceSeconds)
    return { status: "refused", error: `Gave up after 24 hours: ${outcome.error}`.slice(0, 300) };
  return outcome;
}

/** In the provider's batch form where it can carry this mailing; mail by mail where not, or where one bad recipient spoils the batch. */
export async function handOver(
  provider: Provider,
  credentials: Record<string, unknown>,
  mailing: Mailing,
  key: string,
): Promise<Outcome[]> {
  const { recipients } = mailing;
  if (recipients.length > 1 && provider.batch?.takes(mailing) && recipients.length <= provider.batch.max) {
    const outcomes = await provider.send({ mailing, credentials, idempotencyKey: key });
    if (!outcomes.some((outcome) => outcome.status === "held" && outcome.why === "batch")) return outcomes;
  }
  const each = await inParallel(singlesInFlight, recipients, (recipient) =>
    provider.send({ mailing: { ...mailing, recipients: [recipient] }, credentials, idempotencyKey: `pm-${recipient.sendId}` }),
  );
  return each.flat();
}

const settledMarks: { [Status in Settled["status"]]: (outcome: Extract<Settled, { status: Status }>, at: string) => Partial<SendItem> } = {
  accepted: ({ messageId }, sentAt) => ({ status: "sent", providerMessageId: messageId, sentAt }),
  refused: ({ error }) => ({ status: "failed", error }),
  uncertain: ({ error }) => ({ status: "uncertain", error }),
};

/** How a send is changed by what became of it. */
export const marks = (outcome: Outcome, at: string): Partial<SendItem> =>
  outcome.status === "held" ? {} : (settledMarks[outcome.status] as (outcome: Outcome, at: string) => Partial<SendItem>)(outcome, at);
