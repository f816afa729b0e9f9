// Recipients of simulator.pennymail.test choose their fate by local part; everyone else gets their mail.
import type { Kind, Mail } from "./contract.ts";

export const simulatorDomain = "simulator.pennymail.test";
const unverifiedDomain = "unverified.pennymail.test";

/** What each address does, in words for the sandbox page. */
export const fates = {
  delivered: "is delivered",
  bounced: "bounces hard",
  softbounced: "bounces softly",
  complained: "is delivered, then reported as spam",
  deferred: "is deferred, then delivered",
  dropped: "is taken and then dropped by the provider",
  opened: "is delivered and opened: 12 seconds later by what the event says, as by a person, though it comes at once",
  clicked: "is delivered, opened, and its first link clicked: 12 and 20 seconds later by what the events say",
  unsubscribed: "is delivered, then unsubscribed",
  rejected: "is refused by the provider's API",
  flaky: "is refused once with 429 or 500, then delivered",
} as const;

export type Fate = keyof typeof fates;

/** `bounced+anything@simulator.pennymail.test` is "bounced"; undefined for everyone outside the simulator. */
export function fate(email: string): Fate | undefined {
  const [local, domain] = email.toLowerCase().split("@");
  if (domain !== simulatorDomain) return undefined;
  const name = local?.split("+")[0] ?? "";
  return Object.hasOwn(fates, name) ? (name as Fate) : "delivered";
}

/** A sender address nobody has verified: every provider refuses it in its own words. */
export const verified = (from: string): boolean => !from.toLowerCase().endsWith(`@${unverifiedDomain}`);

/** 429 or 500, settled by the address, so that a test can choose: a label that begins with one of them decides. */
function flakiness(email: string): 429 | 500 {
  const label = email.split("@")[0]?.split("+")[1] ?? "";
  if (label.startsWith("429") || label.startsWith("500")) return label.startsWith("500") ? 500 : 429;
  return [...email].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 2 ? 500 : 429;
}

interface Step {
  kind: Kind;
  /** After the mail was accepted. */
  delayMs: number;
}

/** What happens to a mail, in order. Simulated recipients also get the notice of acceptance that most accounts leave off. */
export function steps(mail: Mail): Step[] {
  if (mail.unrenderable) return [{ kind: "unrenderable", delayMs: 40 }];
  const chosen = fate(mail.to.email);
  return chosen ? courses[chosen].filter(({ kind }) => tracked(mail, kind)) : delivered;
}

const tracked = ({ tracksOpens, tracksClicks }: Mail, kind: Kind) =>
  kind === "opened" ? tracksOpens : kind === "clicked" ? tracksClicks : true;

const delivered: Step[] = [{ kind: "delivered", delayMs: 60 }];
const arrived: Step[] = [{ kind: "accepted", delayMs: 20 }, ...delivered];
const courses: Record<Fate, Step[]> = {
  delivered: arrived,
  flaky: arrived,
  bounced: [arrived[0]!, { kind: "bounced", delayMs: 80 }],
  softbounced: [arrived[0]!, { kind: "softbounced", delayMs: 80 }],
  complained: [...arrived, { kind: "complained", delayMs: 140 }],
  deferred: [arrived[0]!, { kind: "deferred", delayMs: 80 }, { kind: "delivered", delayMs: 1200 }],
  dropped: [{ kind: "dropped", delayMs: 60 }],
  opened: [...arrived, { kind: "opened", delayMs: 140 }],
  clicked: [...arrived, { kind: "opened", delayMs: 140 }, { kind: "clicked", delayMs: 220 }],
  unsubscribed: [...arrived, { kind: "unsubscribed", delayMs: 140 }],
  rejected: [],
};

/** Remembers which flaky recipients have had their refusal, so the next try passes and the one after is refused again. */
export function moods() {
  const refusedOnce = new Set<string>();
  return {
    /** The status to refuse with, or undefined when all may pass. */
    refusal(emails: string[]): 429 | 500 | undefined {
      const flaky = emails.filter((email) => fate(email) === "flaky");
      const fresh = flaky.filter((email) => !refusedOnce.has(email));
      if (refusedOnce.size > 100_000) refusedOnce.clear();
      for (const email of fresh) refusedOnce.add(email);
      if (!fresh.length) for (const email of flaky) refusedOnce.delete(email);
      return fresh[0] ? flakiness(fresh[0]) : undefined;
    },
  };
}
