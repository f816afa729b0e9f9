// One call of a provider, and what its outcome makes of a send. Shared by chunks and single sends.
import { after, epochSeconds, now } from "../../clock.ts";
import { missing, Problem, unlessMissing } from "../../errors.ts";
import { inParallel } from "../../parallel.ts";
import type { Mailing, Outcome, Provider } from "../../providers/provider.ts";
import * as sendingConfigs from "../sending-configs.ts";
import type { SendItem } from "../sends.ts";
import type { Wait } from "./pace.ts";

type SendingConfig = sendingConfigs.SendingConfig;
type Settled = Exclude<Outcome, { status: "held" }>;
type Held = Extract<Outcome, { status: "held" }>;

/** At which account, and until when (ISO 8601), a question under the same key is answered without mailing again. */
export interface KeyTerm {
  revision: number;
  until: string;
}

// The provider counts from when it heard us first, and the last question takes a while to reach it.
const keyMarginSeconds = 60;

/** Undefined where the provider has no keys. */
export const keyTerm = ({ idempotencySeconds }: Provider, { revision }: SendingConfig): KeyTerm | undefined =>
  idempotencySeconds > 0 ? { revision, until: after(idempotencySeconds - keyMarginSeconds).toISOString() } : undefined;

/** Whether a question that may have been heard can be put again. */
export const askable = (term: KeyTerm | undefined, { revision }: SendingConfig): boolean =>
  term !== undefined && term.revision === revision && term.until > now().toISOString();

/** The provider may have the mail, though it did not say so. */
export const doubtful = (outcome: Outcome): boolean => outcome.status === "held" && outcome.heard === true;

export const lost: Outcome = { status: "uncertain", error: "The worker died while the provider was being called" };
export const unanswered: Outcome = { status: "uncertain", error: "The provider's answer was lost, and it cannot be asked again" };

export const unclear: Outcome = { status: "held", why: "fault", error: "The same question cannot be put again just now" };

const patienceSeconds = 24 * 3600;

/**
 * Nobody waits for ever for a provider that takes nothing. What is refused for the account's sake names the config, which is where
 * to look; a question put again that is refused so says nothing of the first.
 */
export function bounded(outcome: Outcome, { id }: Pick<SendingConfig, "id">, heldSince: string | undefined, inDoubt: boolean): Outcome {
  if (outcome.status === "refused" && outcome.config) {
    const error = `The provider lets nothing be sent by sending config ${id}; check its credentials and sender: ${outcome.error}`.slice(
      0,
      300,
    );
    return inDoubt ? { status: "uncertain", error } : { ...outcome, error };
  }
  const heldSeconds = heldSince === undefined ? 0 : epochSeconds() - Date.parse(heldSince) / 1000;
  if (outcome.status !== "held" || heldSeconds <= patienceSeconds) return outcome;
  if (inDoubt) return unanswered;
  return { status: "refused", error: `Gave up after 24 hours: ${outcome.error}`.slice(0, 300) };
}

export const waitOf = ({ why, retryAfterSeconds }: Held, usualSeconds = 1): Wait => ({
  why: why === "pace" ? "pace" : "fault",
  seconds: retryAfterSeconds ?? usualSeconds,
});

/** The words of a Problem that no waiting mends: something is gone, or a template cannot be rendered. Anything else is thrown on. */
export function finalWords(error: unknown): string {
  if (error instanceof Problem && final.has(error.kind)) return error.message.slice(0, 300);
  throw error;
}

const final = new Set<Problem["kind"]>(["missing", "invalid"]);

/** The config of mail on its way. One that was made a moment ago costs a second, sure look. */
export async function configOf(orgId: number, id: number): Promise<SendingConfig> {
  for (const consistent of [false, true]) {
    const config = await sendingConfigs.find({ orgId }, id, { consistent }).catch(unlessMissing);
    if (config) return config;
  }
  throw missing("Its sending config was deleted");
}

/** Mails in flight where a provider takes one at a time. */
export const singlesInFlight = 25;

// Of attachments, as they are sent: every call in flight holds its own copy.
const mostCharactersInFlight = 80_000_000;

/** Mails that may be in flight at once, each in a call of its own: fewer when they are heavy. */
export function inFlight({ attachments }: Pick<Mailing, "attachments">): number {
  const characters = attachments.reduce((sum, { content }) => sum + content.length, 1);
  return Math.max(1, Math.min(singlesInFlight, Math.floor(mostCharactersInFlight / characters)));
}

/** Whether the provider's batch form can carry the mailing. */
export const fits = ({ batch }: Provider, mailing: Mailing): boolean => {
  const { length } = mailing.recipients;
  return length > 1 && length <= (batch?.max ?? 1) && batch!.takes(mailing);
};

// So many failures among the mails of one call are the provider's, not the mails'.
const faultsToStop = 5;

/**
 * Mail by mail, each under a key of its own. A provider that asks for a pause, or does not answer, is not asked for the rest; the
 * first outcome that is held is always one of a mail that was tried.
 */
export async function oneByOne(provider: Provider, credentials: Record<string, unknown>, mailing: Mailing): Promise<Outcome[]> {
  let faults = 0;
  let untried: Outcome | undefined;
  return inParallel(inFlight(mailing), mailing.recipients, async (recipient) => {
    if (untried) return untried;
    const one = { ...mailing, recipients: [recipient] };
    const [outcome] = await provider.send({ mailing: one, credentials, idempotencyKey: `pm-${recipient.sendId}` });
    if (outcome!.status === "uncertain" || outcome!.status === "held") {
      faults += outcome!.status === "held" && outcome!.why === "pace" ? faultsToStop : 1;
      const why = outcome!.status === "held" ? "pace" : "fault";
      if (faults >= faultsToStop) untried ??= { status: "held", why, error: outcome!.error };
    }
    return outcome!;
  });
}

const settledMarks: { [Status in Settled["status"]]: (outcome: Extract<Settled, { status: Status }>, at: string) => Partial<SendItem> } = {
  accepted: ({ messageId }, sentAt) => ({ status: "sent", providerMessageId: messageId, sentAt }),
  refused: ({ error }) => (error === "cancelled" ? { status: "cancelled" } : { status: "failed", error }),
  uncertain: ({ error }) => ({ status: "uncertain", error }),
};

/** How a send is changed by what became of it. */
export const marks = (outcome: Outcome, at: string): Partial<SendItem> =>
  outcome.status === "held" ? {} : (settledMarks[outcome.status] as (outcome: Outcome, at: string) => Partial<SendItem>)(outcome, at);
