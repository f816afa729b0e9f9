// Scores contacts by the rules of their site. An event counts once for each rule, however often it
// is reported.

import { get } from "../../../adapters/dynamodb/table.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { keys } from "../../../keys.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import { caseFold } from "../contacts/contact-search-text.ts";
import * as leadScores from "./lead-scores.ts";
import {
  getSiteRules,
  type ScoringMatch,
  type ScoringRule,
  type ScoringTrigger,
} from "./scoring-rules.ts";

/** Properties of an event that rules compare. */
export type ScoringFacts = { [Field in keyof ScoringMatch]?: ScoringMatch[Field] | undefined };

export interface ScoringEvent {
  trigger: ScoringTrigger;
  /** Identifies the event: the same key counts once. */
  key: string;
  /** When it happened (ISO 8601). Must be the same when the event is repeated. */
  at: string;
  facts: ScoringFacts;
}

/** The active rules that an event matches. */
export const matchRules = (
  rules: ScoringRule[],
  { trigger, facts }: Pick<ScoringEvent, "trigger" | "facts">,
): ScoringRule[] =>
  rules.filter(
    (rule) =>
      rule.active &&
      rule.trigger === trigger &&
      Object.entries(rule.match ?? {}).every(matchesField(facts)),
  );

const matchesField =
  (facts: ScoringFacts) =>
  ([field, expected]: [string, unknown]): boolean =>
    fieldComparers[field as keyof ScoringMatch](
      String(facts[field as keyof ScoringMatch] ?? ""),
      String(expected),
    );

const isEqual = (actual: string, expected: string): boolean => actual === expected;
const fieldComparers: Record<keyof ScoringMatch, (actual: string, expected: string) => boolean> = {
  eventName: isEqual,
  formId: isEqual,
  tagId: isEqual,
  campaignId: isEqual,
  tagName: (actual, expected) => caseFold(actual.trim()) === caseFold(expected.trim()),
  url: (actual, expected) => caseFold(actual).includes(caseFold(expected)),
};

export const causeOf = (
  { key, at }: Pick<ScoringEvent, "key" | "at">,
  { id, name }: ScoringRule,
): leadScores.ScoreCause => ({
  key: `${key} rule ${id}`,
  at,
  rule: { id, name },
});

/** Idempotent. Does nothing for a deleted contact. */
export const scoreEvent = (
  orgId: number,
  contact: Pick<ContactItem, "id" | "siteId">,
  event: ScoringEvent,
): Promise<void> => scoreEvents(orgId, contact.siteId, [{ contactId: contact.id, event }]);

/** An event of a contact, named by id or by its email address in the site. */
interface AddressedEvent {
  contactId?: number | null | undefined;
  email?: string;
  event: ScoringEvent;
}

/**
 * Scores events of one site. Events of one contact run one after the other, because they write the
 * same score.
 */
export async function scoreEvents(
  orgId: number,
  siteId: number,
  events: AddressedEvent[],
): Promise<void> {
  if (!events.length) return;
  const rules = await getSiteRules(orgId, siteId);
  const matches = events.flatMap((entry) =>
    matchRules(rules, entry.event).map((rule) => ({ ...entry, rule })),
  );
  const byContact = Map.groupBy(
    matches,
    ({ contactId, email }) => contactId ?? normalizeEmail(email ?? ""),
  );
  await inParallel(8, [...byContact.values()], async (contactMatches) => {
    const { contactId, email } = contactMatches[0]!;
    const id = contactId ?? (await getContactId(orgId, siteId, email));
    if (id !== undefined)
      for (const { rule, event } of contactMatches)
        await leadScores.addPoints(orgId, id, { delta: rule.points, cause: causeOf(event, rule) });
  });
}

const getContactId = async (
  orgId: number,
  siteId: number,
  email = "",
): Promise<number | undefined> =>
  (await get<ContactItem>(keys.contact(orgId, siteId, normalizeEmail(email))))?.id;
