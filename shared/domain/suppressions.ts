// Addresses that the organization's mail must not reach. Which of them there are is counted by reason, in the same transaction
// that adds, changes or removes one.
import * as z from "zod";
import { now, sleep } from "../clock.ts";
import { equals, isNew } from "../conditions.ts";
import { get, getMany, put, queryAll, remove as removeItem, Unmet, update, type Write, write } from "../doors/table.ts";
import { canonical, EmailAddress, oneLine } from "../email.ts";
import { conflict, missing, unlessMissing } from "../errors.ts";
import { emailShard, keys, on, ranges, sha256, shelves } from "../keys.ts";
import * as standing from "./contacts/standing.ts";

const reasons = ["bounce", "spam_report", "unsubscribe", "manual", "import"] as const;
export const Reason = z.enum(reasons);
export type Reason = z.output<typeof Reason>;

export const Suppression = z
  .object({
    email: z.string().describe("Of a person who was erased its SHA-256: `sha256:` and 64 hexadecimal characters"),
    reason: Reason,
    detail: z.string().nullable(),
    source: z.string().nullable().describe("Where it came from: api, session, import, or the provider that reported it"),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "Suppression" });
export type Suppression = z.output<typeof Suppression>;

export const maxDetailLength = 300;
export const NewSuppression = z
  .object({
    email: EmailAddress,
    reason: Reason.default("manual").describe("`unsubscribe` keeps marketing mail away only, every other reason all mail"),
    detail: oneLine(maxDetailLength).nullish(),
  })
  .meta({ examples: [{ email: "ada@example.com", reason: "manual", detail: "asked by phone" }] });
/** `source` is at most 50 characters. */
export type NewSuppression = z.output<typeof NewSuppression> & { source: string };

type Purpose = "transactional" | "marketing";

/** Which of these addresses must not get such mail, in lower case. 100 to a call, side by side. */
export async function among(orgId: number, emails: string[], purpose: Purpose): Promise<Set<string>> {
  const found = await getMany<Suppression>(emails.map((email) => addressOf(orgId, email)));
  return new Set(emails.filter((_, i) => found[i] && blocks(found[i].reason, purpose)).map(canonical));
}

/** Someone who only unsubscribed still gets the receipt they wait for. */
const blocks = (reason: Reason, purpose: Purpose): boolean => reason !== "unsubscribe" || purpose === "marketing";

export const find = (orgId: number, email: string): Promise<Suppression | undefined> => get<Suppression>(addressOf(orgId, email));

/**
 * Suppresses an address. One that is suppressed already stays as it is, except that `unsubscribe` gives way to a reason that
 * blocks all mail. `added` says whether anything was written.
 */
export const suppress = (orgId: number, wanted: NewSuppression): Promise<{ suppression: Suppression; added: boolean }> =>
  settled(async () => {
    const step = { wanted, current: await find(orgId, wanted.email) };
    const at = now();
    if (changes(step)) await write(...suppressing(orgId, [step], at));
    await told(orgId, [wanted.email]);
    return changes(step) ? { suppression: outcomeOf(step, at), added: true } : { suppression: step.current!, added: false };
  });

/** Its contacts hear of it after the list has it. Safe to repeat, so that who died before it need only come again. */
export const told = async (orgId: number, emails: string[]): Promise<void> =>
  standing.follow(orgId, await standing.everywhere(orgId, emails));

/** What is wanted of an address, and what was read at `addressOf` it. */
export interface Step {
  wanted: NewSuppression;
  current: Suppression | undefined;
}

/**
 * The writes of `suppress`, to be made together with others; none when there is nothing to do. Each address at most once. When
 * `current` is no longer so, a write fails with Unmet, and reading again helps.
 */
export function suppressing(orgId: number, steps: Step[], at = now()): Write[] {
  const changed = steps.filter(changes);
  const moves = new Map<Reason, number>();
  const move = (reason: Reason, by: number) => moves.set(reason, (moves.get(reason) ?? 0) + by);
  for (const { wanted, current } of changed) {
    move(wanted.reason, 1);
    if (current) move(current.reason, -1);
  }
  return [...changed.map((step) => storing(orgId, step, at)), ...[...moves].map(([reason, by]) => counted(orgId, reason, by))];
}

/** Only an address that gets no mail at all is as suppressed as it can be. */
export const changes = ({ wanted, current }: Step): boolean =>
  !current || (current.reason === "unsubscribe" && wanted.reason !== "unsubscribe");

/** Its contacts are again what they were. 404 when the address is not suppressed. */
export const remove = (orgId: number, email: string): Promise<void> =>
  settled(async () => {
    const [current, contacts] = await Promise.all([find(orgId, email), standing.everywhere(orgId, [email])]);
    if (!current) throw missing("This address is not suppressed");
    const suppressed = contacts.filter(({ status }) => status === "suppressed");
    const taking = removeItem(addressOf(orgId, email), { if: equals("reason", current.reason) });
    await write(taking, counted(orgId, current.reason, -1), ...suppressed.slice(0, contactsAtOnce).map(standing.restoring));
    await standing.follow(orgId, contacts);
  });

/** Takes away what an address left behind when it unsubscribed, by the person's own hand; any other suppression stays. */
export async function welcomeBack(orgId: number, email: string): Promise<void> {
  const current = await find(orgId, email);
  if (current?.reason !== "unsubscribe") return;
  await remove(orgId, email).catch(unlessMissing);
}

/** Suppresses an address for all mail and keeps nothing of it but its hash. */
export const hide = (orgId: number, email: string): Promise<void> =>
  settled(async () => {
    const current = await find(orgId, email);
    const step = { wanted: { email, reason: "manual" as const, detail: null, source: "erasure" }, current };
    const at = now();
    const next = changes(step) ? outcomeOf(step, at) : current!;
    const counting = [counted(orgId, next.reason, 1), ...(current ? [counted(orgId, current.reason, -1)] : [])];
    await write(storing(orgId, step, at, next, hidden(next)), ...(next.reason === current?.reason ? [] : counting));
    await told(orgId, [email]);
  });

const hidden = ({ email, ...rest }: Suppression): Suppression => ({
  ...rest,
  email: email.startsWith("sha256:") ? email : `sha256:${sha256(canonical(email))}`,
  detail: null,
});

// What a transaction has room for; whoever has more sites with this person sees the others follow a moment later.
const contactsAtOnce = 90;

/** How many there are of each reason. */
export async function counts(orgId: number): Promise<Record<Reason, number>> {
  const counters = await queryAll<{ sk: Reason; count: number }>(ranges.suppressionCounts(orgId));
  const none = { bounce: 0, spam_report: 0, unsubscribe: 0, manual: 0, import: 0 };
  return { ...none, ...Object.fromEntries(counters.map(({ sk, count }) => [sk, count])) };
}

export const addressOf = (orgId: number, email: string) => keys.suppression(orgId, canonical(email));

const counted = (orgId: number, reason: Reason, by: number): Write => update(keys.suppressionCount(orgId, reason), { add: { count: by } });

/** Does it again when what was read has changed before it was written. */
export async function settled<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      if (tries >= 8) throw conflict("The suppression list is being changed by too many requests at once");
      await sleep(5 * tries);
    }
  }
}

function outcomeOf({ wanted: { email, reason, detail, source }, current }: Step, at: Date): Suppression {
  const updatedAt = at.toISOString();
  return { email: canonical(email), reason, detail: detail ?? null, source, createdAt: current?.createdAt ?? updatedAt, updatedAt };
}

function storing(orgId: number, step: Step, at: Date, next = outcomeOf(step, at), kept = next): Write {
  const unchanged = step.current ? equals("reason", step.current.reason) : isNew;
  const email = canonical(step.wanted.email);
  return put(addressOf(orgId, email), { ...kept, ...placed(orgId, { ...next, email }) }, { if: unchanged });
}

// The reason rides in the sort key, so that a page of one reason is found without reading the items of all others.
const placed = (orgId: number, { email, reason, createdAt }: Suppression) =>
  on(shelves.newSuppressions(orgId, emailShard(email)), `${createdAt}#${sha256(email)}#${reason}`);
