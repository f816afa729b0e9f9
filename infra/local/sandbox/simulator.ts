// The outcome of mail to simulator.pennymail.test, which depends on the local part of the address.
// Mail to any other domain is delivered.
import type { CapturedMail, MailEventKind } from "./types.ts";

export const simulatorDomain = "simulator.pennymail.test";
const unverifiedDomain = "unverified.pennymail.test";

/** The outcomes by local part, with descriptions for the sandbox page. */
export const simulatedOutcomes = {
  delivered: "is delivered",
  bounced: "bounces hard",
  softbounced: "bounces softly",
  complained: "is delivered, then reported as spam",
  deferred: "is deferred, then delivered",
  dropped: "is accepted, then dropped by the provider",
  opened: "is delivered, then opened by a person (the event is dated 12 seconds later)",
  clicked:
    "is delivered, opened, and its first link clicked " +
    "(the events are dated 12 and 20 seconds later)",
  unsubscribed: "is delivered, then unsubscribed",
  rejected: "is refused by the provider's API",
  flaky: "is refused once with 429, or 503 and Retry-After, then delivered",
} as const;

export type SimulatedOutcome = keyof typeof simulatedOutcomes;

/**
 * Returns "bounced" for `bounced+anything@simulator.pennymail.test`, and undefined for other
 * domains.
 */
export function simulatedOutcome(email: string): SimulatedOutcome | undefined {
  const [local, domain] = email.toLowerCase().split("@");
  if (domain !== simulatorDomain) return undefined;
  const name = local?.split("+")[0] ?? "";
  return Object.hasOwn(simulatedOutcomes, name) ? (name as SimulatedOutcome) : "delivered";
}

/** Every provider refuses mail from the unverified domain. */
export const isVerifiedSender = (from: string): boolean =>
  !from.toLowerCase().endsWith(`@${unverifiedDomain}`);

/** The label of the address selects 429 or 503, so that a test can choose. */
function flakyStatus(email: string): 429 | 503 {
  const label = email.split("@")[0]?.split("+")[1] ?? "";
  if (label.startsWith("429") || label.startsWith("503"))
    return label.startsWith("503") ? 503 : 429;
  return [...email].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 2 ? 503 : 429;
}

interface ScheduledEvent {
  kind: MailEventKind;
  /** Delay after the provider accepted the mail. */
  delayMs: number;
}

/** The events of a mail, in order. Only mail to the simulator has an "accepted" event. */
export function eventsAfterAccept(mail: CapturedMail): ScheduledEvent[] {
  if (mail.renderError) return [{ kind: "unrenderable", delayMs: 40 }];
  const outcome = simulatedOutcome(mail.to.email);
  return outcome ? eventsByOutcome[outcome].filter(({ kind }) => isTracked(mail, kind)) : delivered;
}

const isTracked = ({ tracksOpens, tracksClicks }: CapturedMail, kind: MailEventKind) =>
  (kind !== "opened" || tracksOpens) && (kind !== "clicked" || tracksClicks);

const delivered: ScheduledEvent[] = [{ kind: "delivered", delayMs: 60 }];
const acceptedThenDelivered: ScheduledEvent[] = [{ kind: "accepted", delayMs: 20 }, ...delivered];
const eventsByOutcome: Record<SimulatedOutcome, ScheduledEvent[]> = {
  delivered: acceptedThenDelivered,
  flaky: acceptedThenDelivered,
  bounced: [acceptedThenDelivered[0]!, { kind: "bounced", delayMs: 80 }],
  softbounced: [acceptedThenDelivered[0]!, { kind: "softbounced", delayMs: 80 }],
  complained: [...acceptedThenDelivered, { kind: "complained", delayMs: 140 }],
  deferred: [
    acceptedThenDelivered[0]!,
    { kind: "deferred", delayMs: 80 },
    { kind: "delivered", delayMs: 1200 },
  ],
  dropped: [{ kind: "dropped", delayMs: 60 }],
  opened: [...acceptedThenDelivered, { kind: "opened", delayMs: 140 }],
  clicked: [
    ...acceptedThenDelivered,
    { kind: "opened", delayMs: 140 },
    { kind: "clicked", delayMs: 220 },
  ],
  unsubscribed: [...acceptedThenDelivered, { kind: "unsubscribed", delayMs: 140 }],
  rejected: [],
};

/** Refuses every other request to a flaky recipient, beginning with the first. */
export function createFlakyTracker() {
  const refusedOnce = new Set<string>();
  return {
    /** Returns the status of the refusal, or undefined when the request passes. */
    nextRefusal(emails: string[]): 429 | 503 | undefined {
      const flaky = emails.filter((email) => simulatedOutcome(email) === "flaky");
      const notYetRefused = flaky.filter((email) => !refusedOnce.has(email));
      if (refusedOnce.size > 100_000) refusedOnce.clear();
      for (const email of notYetRefused) refusedOnce.add(email);
      if (!notYetRefused.length) for (const email of flaky) refusedOnce.delete(email);
      return notYetRefused[0] ? flakyStatus(notYetRefused[0]) : undefined;
    },
  };
}
