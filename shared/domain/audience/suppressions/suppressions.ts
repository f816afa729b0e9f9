// The suppression list: email addresses that the organization must not mail. The transaction that
// changes an entry also changes the count of its reason.
import * as z from "zod";
import { get, queryAll, remove as removeItem, write } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { missing, undefinedIfMissing } from "../../../errors.ts";
import {
  EmailAddress,
  maxAddressLength,
  normalizeEmail,
  singleLineText,
} from "../../../kernel/email-fields.ts";
import { Timestamp, UpdatedAt } from "../../../kernel/record-fields.ts";
import { retryInTurn } from "../../../kernel/retry-on-conflict.ts";
import { keys, ranges } from "../../../keys.ts";
import { commitContactChanges } from "../contacts/contact-events.ts";
import * as contactStatus from "../contacts/contact-status.ts";
import * as departures from "../contacts/departures.ts";
import {
  countWrite,
  forgetBouncesWrite,
  hashPrefix,
  isUnchanged,
  itemWrite,
  needsWrite,
  type SuppressionChange,
  suppressWrites,
  toHashOnly,
  toSuppression,
} from "./suppression-writes.ts";

const reasons = ["bounce", "spam_report", "unsubscribe", "manual", "import"] as const;
export const SuppressionReason = z.enum(reasons);
export type SuppressionReason = z.output<typeof SuppressionReason>;

export const Suppression = z
  .object({
    email: z
      .string()
      .describe(
        "Email address in lower case. For an erased contact: `sha256:` and the hash of the " +
          "address.",
      ),
    reason: SuppressionReason.describe(
      "Why it is suppressed. `unsubscribe` and soft bounces block marketing email only; every " +
        "other reason blocks all email.",
    ),
    bounceType: z
      .enum(["hard", "soft"])
      .nullable()
      .default(null)
      .describe(
        "For bounces that a provider reported. `hard`: the address is bad. `soft`: the mailbox " +
          "took no email for now. `null`: another reason, or a bounce that was added by hand.",
      ),
    liftsAt: Timestamp.nullable()
      .default(null)
      .describe(
        "For a soft bounce: when the suppression ends by itself, 30 days after the last soft " +
          "bounce. A later email that is delivered ends it at once. `null`: it stays until it " +
          "is removed.",
      ),
    detail: z
      .string()
      .nullable()
      .describe("Further explanation, such as the bounce message, or `null`."),
    source: z
      .string()
      .nullable()
      .describe("Who added it: `api`, `session`, `import`, or the provider that reported it."),
    createdAt: Timestamp.describe("When the address was suppressed."),
    updatedAt: UpdatedAt,
  })
  .meta({ id: "Suppression" });
export type Suppression = z.output<typeof Suppression> & {
  /** Not returned by the API. */
  softBounce?: SoftBounceMark;
};

/** The soft bounces that suppress an address. */
export interface SoftBounceMark {
  /** The site whose mails bounced. */
  siteId: number;
  /** Orders mails by when they were accepted. The one that bounced last. */
  position: string;
}

/** Whether the address still gets transactional mail. */
export const isMarketingOnly = ({
  reason,
  bounceType,
}: Pick<Suppression, "reason" | "bounceType">): boolean =>
  reason === "unsubscribe" || bounceType === "soft";

export const isSoft = (suppression: Suppression | undefined): boolean =>
  suppression?.bounceType === "soft";

export const maxDetailLength = 300;
export const NewSuppression = z
  .object({
    email: EmailAddress.describe("Email address to suppress, ignoring case."),
    reason: SuppressionReason.default("manual").describe(
      "Why the address is suppressed. `unsubscribe` blocks marketing email only; every other " +
        "reason blocks all email.",
    ),
    detail: singleLineText(maxDetailLength).nullish().describe("Further explanation for yourself."),
  })
  .meta({ examples: [{ email: "ada@example.com", reason: "manual", detail: "asked by phone" }] });
/** `source` is at most 50 characters. */
export type NewSuppression = z.output<typeof NewSuppression> &
  Partial<Pick<Suppression, "bounceType" | "liftsAt" | "softBounce">> & { source: string };

export const find = (orgId: number, email: string): Promise<Suppression | undefined> =>
  get<Suppression>(keyOf(orgId, email));

/**
 * Suppresses an email address. An existing entry stays as it is, but gives way to one that blocks
 * more or longer. `added` is false when nothing was written.
 */
export const suppress = (
  orgId: number,
  wanted: NewSuppression,
): Promise<{ suppression: Suppression; added: boolean }> =>
  changeWithRetry(orgId, wanted.email, async () => {
    const step = { wanted, current: await find(orgId, wanted.email) };
    const at = now();
    if (needsWrite(step)) await commitSuppressions(orgId, [step], at);
    else await departures.logDepartures(orgId, { emails: [wanted.email] });
    await syncContacts(orgId, [wanted.email]);
    return needsWrite(step)
      ? { suppression: toSuppression(step, at), added: true }
      : { suppression: step.current!, added: false };
  });

/**
 * Updates the contacts of the addresses. Call it after the list has changed. Idempotent: after a
 * crash, a retry completes it.
 */
export const syncContacts = async (orgId: number, emails: string[]): Promise<void> =>
  contactStatus.syncWithSuppressions(orgId, await contactStatus.getContactsByEmail(orgId, emails));

/**
 * Takes each address at most once, and at most 94 addresses. Throws `ConditionFailed` when
 * `current` has changed: read again.
 */
export async function commitSuppressions(
  orgId: number,
  steps: SuppressionChange[],
  at = now(),
): Promise<void> {
  const changed = steps.filter(needsWrite);
  const emails = changed.map(({ wanted }) => wanted.email);
  await departures.commitDepartures(orgId, { emails }, (logWrites) =>
    write(...suppressWrites(orgId, changed, at), ...logWrites),
  );
}

/**
 * Removes the suppression and restores the status of the contacts. 404 when the address is not
 * suppressed.
 */
export const remove = (orgId: number, email: string): Promise<void> =>
  changeWithRetry(orgId, email, async () => {
    const notSuppressed = missing("This address is not suppressed");
    // A longer text does not fit into the key of a contact.
    if (email.length > maxAddressLength) throw notSuppressed;
    const current = await find(orgId, email);
    if (!current) throw notSuppressed;
    await removeEntry(orgId, email, { current, forgetsBounces: true });
  });

/**
 * Throws `ConditionFailed` when `current` has changed: read again. `forgetsBounces`: the soft
 * bounces so far do not count again.
 */
export async function removeEntry(
  orgId: number,
  email: string,
  { current, forgetsBounces }: { current: Suppression; forgetsBounces: boolean },
): Promise<void> {
  const contacts = await contactStatus.getContactsByEmail(orgId, [email]);
  const transitions = contacts
    .filter(({ status }) => status === "suppressed")
    .slice(0, maxContactsPerWrite)
    .map((before) => ({ before, after: contactStatus.toRestored(before) }));
  const { softBounce } = current;
  await commitContactChanges(orgId, { transitions }, (extraWrites) =>
    write(
      removeItem(keyOf(orgId, email), { if: isUnchanged(current) }),
      countWrite(orgId, current.reason, -1),
      ...(softBounce && forgetsBounces ? [forgetBouncesWrite(orgId, email, softBounce)] : []),
      ...transitions.map(({ before, after }) => contactStatus.statusWrite(before, after)),
      ...extraWrites,
    ),
  );
  await contactStatus.syncWithSuppressions(orgId, contacts);
}

/**
 * For a person who subscribes again: removes a suppression with the reason `unsubscribe`. Any other
 * suppression stays.
 */
export async function removeIfUnsubscribed(orgId: number, email: string): Promise<void> {
  const current = await find(orgId, email);
  if (current?.reason !== "unsubscribe") return;
  await remove(orgId, email).catch(undefinedIfMissing);
}

/** Suppresses an address for all mail and stores only its hash. */
export const suppressByHash = (orgId: number, email: string): Promise<void> =>
  changeWithRetry(orgId, email, async () => {
    const current = await find(orgId, email);
    const step = {
      wanted: { email, reason: "manual" as const, detail: null, source: "erasure" },
      current,
    };
    const at = now();
    const next = needsWrite(step) ? toSuppression(step, at) : current!;
    const counting = [
      countWrite(orgId, next.reason, 1),
      ...(current ? [countWrite(orgId, current.reason, -1)] : []),
    ];
    await departures.commitDepartures(orgId, { emails: [email] }, (logWrites) =>
      write(
        itemWrite(orgId, step, { indexed: next, stored: toHashOnly(next) }),
        ...(next.reason === current?.reason ? [] : counting),
        ...logWrites,
      ),
    );
    await syncContacts(orgId, [email]);
  });

/** Whether the address is known only by its hash, as after the erasure of a person. */
export const isHashOnly = (suppression: Suppression | undefined): boolean =>
  suppression?.email.startsWith(hashPrefix) ?? false;

// Fits into a transaction. If the organization has more sites with this address, their contacts
// follow a moment later.
const maxContactsPerWrite = 90;

/** Number of entries by reason. */
export async function getCounts(orgId: number): Promise<Record<SuppressionReason, number>> {
  const counters = await queryAll<{ sk: string; count: number }>(ranges.suppressionCounts(orgId));
  const counts = { bounce: 0, spam_report: 0, unsubscribe: 0, manual: 0, import: 0 };
  // The first counter of a reason had no shard.
  for (const { sk, count } of counters) counts[sk.split("#")[0] as SuppressionReason] += count;
  return counts;
}

export const keyOf = (orgId: number, email: string) =>
  keys.suppression(orgId, normalizeEmail(email));

export const changeWithRetry = <T>(
  orgId: number,
  email: string,
  attempt: () => Promise<T>,
): Promise<T> =>
  retryInTurn(`suppression ${orgId} ${normalizeEmail(email)}`, "The suppression", attempt);
