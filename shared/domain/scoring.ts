// What happens to a contact moves its score, by the rules of its site: once for each event and rule, however often it is told.
import type { Caller } from "../caller.ts";
import { now } from "../clock.ts";
import { get } from "../doors/table.ts";
import { canonical } from "../email.ts";
import { keys } from "../keys.ts";
import { inParallel } from "../parallel.ts";
import type { ContactItem } from "./contacts/contact.ts";
import { fold } from "./contacts/contact.ts";
import * as scores from "./contacts/scores.ts";
import * as contacts from "./contacts.ts";
import { type Match, ofSite, type ScoringRule, type Trigger } from "./scoring-rules.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

/** What a rule may ask about. */
export type Facts = { [Field in keyof Match]?: Match[Field] | undefined };

export interface Happening {
  trigger: Trigger;
  /** Names the event: the same one counts once. */
  key: string;
  /** When it happened (ISO 8601): the same each time it is told. */
  at: string;
  facts: Facts;
}

/** Rules of this site that hold for a happening. */
export const met = (rules: ScoringRule[], { trigger, facts }: Pick<Happening, "trigger" | "facts">): ScoringRule[] =>
  rules.filter((rule) => rule.active && rule.trigger === trigger && Object.entries(rule.match ?? {}).every(holds(facts)));

const holds =
  (facts: Facts) =>
  ([field, wanted]: [string, unknown]): boolean =>
    comparing[field as keyof Match](String(facts[field as keyof Match] ?? ""), String(wanted));

const same = (given: string, wanted: string): boolean => given === wanted;
const comparing: Record<keyof Match, (given: string, wanted: string) => boolean> = {
  eventName: same,
  formId: same,
  tagId: same,
  campaignId: same,
  tagName: (given, wanted) => fold(given.trim()) === fold(wanted.trim()),
  url: (given, wanted) => fold(given).includes(fold(wanted)),
};

export const causeOf = ({ key, at }: Pick<Happening, "key" | "at">, { id, name }: ScoringRule): scores.Cause => ({
  key: `${key} rule ${id}`,
  at,
  rule: { id, name },
});

/** Safe to repeat. A contact that is gone scores nothing. */
export const happened = (orgId: number, contact: Pick<ContactItem, "id" | "siteId">, happening: Happening): Promise<void> =>
  allHappened(orgId, contact.siteId, [{ contactId: contact.id, happening }]);

/** A tag is applied, scored, and starts the sequences that wait for it, in one transaction. Idempotent: `applied` says whether it was the first time. */
export const applyTag = (who: Who, contactId: number, tag: { id: number; name: string; starts?: Set<number> }) =>
  contacts.join(who, contactId, "TAG", tag.id, async ({ orgId, siteId, id, v = 0 }) => {
    const happening = { key: `tag ${tag.id} on version ${v}`, at: now().toISOString() };
    const some = met(await ofSite(orgId, siteId), { trigger: "tag_add", facts: { tagId: tag.id, tagName: tag.name } });
    return {
      points: some.reduce((sum, { points }) => sum + points, 0),
      lines: some.map((rule) => scores.logging(orgId, id, rule.points, causeOf(happening, rule))),
      starts: tag.starts,
    };
  });

/** To whom: a contact, or whoever of the site has the address. */
interface Met {
  contactId?: number | null | undefined;
  email?: string;
  happening: Happening;
}

/** Many at once, of one site; those of one contact one after the other, as they write the same score. */
export async function allHappened(orgId: number, siteId: number, all: Met[]): Promise<void> {
  if (!all.length) return;
  const rules = await ofSite(orgId, siteId);
  const scoring = all.flatMap((one) => met(rules, one.happening).map((rule) => ({ ...one, rule })));
  const people = [...Map.groupBy(scoring, ({ contactId, email }) => contactId ?? canonical(email ?? "")).values()];
  await inParallel(8, people, async (some) => {
    const { contactId, email } = some[0]!;
    const id = contactId ?? (await contactAt(orgId, siteId, email));
    if (id !== undefined) for (const { rule, happening } of some) await scores.adjust(orgId, id, rule.points, causeOf(happening, rule));
  });
}

const contactAt = async (orgId: number, siteId: number, email = ""): Promise<number | undefined> =>
  (await get<ContactItem>(keys.contact(orgId, siteId, canonical(email))))?.id;
