// Compiles segment rules into a DynamoDB filter and a test in code for what the filter cannot
// decide.
import { all, any, type Condition as Filter, not } from "../../../adapters/dynamodb/conditions.ts";
import type { SiteRef } from "../../../caller.ts";
import type { ContactQuery } from "../contacts/contact-reader.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import { createMailReader, type MailFields } from "../mail-counts/mail-counts.ts";
import { isAboutDates } from "./date-tests.ts";
import { compileEventCondition, type EventCondition } from "./event-conditions.ts";
import { createEventReader, type EventNeed, type EventRules } from "./event-history.ts";
import { toFilter } from "./filter-pushdown.ts";
import {
  type ContactTest,
  createTest,
  type RuleContext,
  readField,
  readRuleValue,
} from "./rule-tests.ts";
import { parseField, siteField, topicField } from "./segment-fields.ts";
import {
  isRules,
  type PropertyCondition,
  type SegmentCondition,
  type SegmentRules,
} from "./segment-rules.ts";

export interface RuleExplanation {
  matched: boolean;
  match?: SegmentRules["match"];
  conditions?: RuleExplanation[];
  field?: string;
  operator?: string;
  value?: unknown;
  inLastDays?: number | undefined;
  where?: PropertyCondition[] | undefined;
  property?: string | undefined;
  /** Value of the contact, or null. */
  actual?: unknown;
  /** Names, for tags and lists. */
  actualNames?: string[];
}

export interface CompiledRules {
  /**
   * Passes every contact that matches, and no other if `filterIsExact`. Undefined when nothing
   * could be pushed down.
   */
  filter?: Filter | undefined;
  filterIsExact: boolean;
  test: ContactTest;
  /** Attributes that `test` reads. */
  attributes: string[];
  /** The mails that `test` and `explain` need. Undefined: none. */
  mails: MailFields | undefined;
  /** The events that `test` and `explain` need. Undefined: none. */
  events: EventRules | undefined;
  explain(contact: ContactItem): RuleExplanation;
}

export const toContactQuery = (
  site: SiteRef,
  { filter, filterIsExact, test, attributes, mails, events }: CompiledRules,
): ContactQuery => ({
  filter: filter,
  ...(!filterIsExact && {
    test,
    attributes,
    readMails: mails && createMailReader(site, mails),
    readEvents: events && createEventReader(site, events),
  }),
});

interface CompiledNode extends Omit<CompiledRules, "events"> {
  parts?: CompiledNode[];
  /** Undefined while events that are not read yet could change the answer. */
  decide: (contact: ContactItem) => boolean | undefined;
  /** Undefined when it needs none. */
  listNeeds?: EventRules["listNeeds"] | undefined;
}

export function compileRules(rules: SegmentRules, context: RuleContext): CompiledRules {
  const { parts = [], decide, listNeeds, ...node } = compileGroup(rules, context);
  const root = { ...node, events: listNeeds && { decide, listNeeds } };
  if (!root.filter || expressionLength(root.filter) <= maxExpressionLength) return root;
  const fitting = rules.match === "all" ? pickFitting(parts) : [];
  return { ...root, filter: fitting.length ? all(...fitting) : undefined, filterIsExact: false };
}

// DynamoDB takes 4 KB, and the caller may add filters.
const maxExpressionLength = 3500;

/** Picks as many filters as fit, short ones first. */
function pickFitting(parts: CompiledNode[]): Filter[] {
  const filters = parts.flatMap(({ filter }) =>
    filter ? [{ pushed: filter, length: expressionLength(filter) + " AND ()".length }] : [],
  );
  let left = maxExpressionLength;
  return filters
    .sort((a, b) => a.length - b.length)
    .flatMap(({ pushed, length }) => {
      left -= length;
      return left >= 0 ? [pushed] : [];
    });
}

// Uses the longest possible placeholders.
const expressionLength = (filter: Filter): number =>
  filter({ name: () => "#n000", value: () => ":v0000" }).length;

const compileNode = (node: SegmentCondition | SegmentRules, context: RuleContext): CompiledNode =>
  isRules(node) ? compileGroup(node, context) : compileCondition(node, context);

function compileGroup({ match, conditions }: SegmentRules, context: RuleContext): CompiledNode {
  const parts = conditions.map((node) => compileNode(node, context));
  const { filter, filterIsExact } = filterCombiners[match](parts);
  const decide = parts.length ? decisionCombiners[match](parts) : () => true;
  const test: ContactTest = (contact) => decide(contact) === true;
  const explain = (contact: ContactItem): RuleExplanation => ({
    match,
    matched: test(contact),
    conditions: parts.map((part) => part.explain(contact)),
  });
  const attributes = [...new Set(parts.flatMap((part) => part.attributes))];
  const mails = combineMailFields(parts.flatMap((part) => part.mails ?? []));
  const readsEvents = parts.some(({ listNeeds }) => listNeeds);
  const listNeeds = (contact: ContactItem, everything: boolean): EventNeed[] =>
    everything || decide(contact) === undefined
      ? parts.flatMap((part) => part.listNeeds?.(contact, everything) ?? [])
      : [];
  return {
    parts,
    filter,
    filterIsExact,
    decide,
    test,
    attributes,
    mails,
    explain,
    ...(readsEvents && { listNeeds }),
  };
}

const combineMailFields = (all: MailFields[]): MailFields | undefined =>
  all.length
    ? {
        counts: all.some(({ counts }) => counts),
        campaignIds: [...new Set(all.flatMap(({ campaignIds }) => campaignIds))],
      }
    : undefined;

type Decision = CompiledNode["decide"];

const decisionCombiners: Record<SegmentRules["match"], (parts: CompiledNode[]) => Decision> = {
  all: decideUnless(false),
  any: decideUnless(true),
  none: (parts) => {
    const isAny = decideUnless(true)(parts);
    return (contact) => {
      const answer = isAny(contact);
      return answer === undefined ? undefined : !answer;
    };
  },
};

/** A part with the deciding answer decides. Otherwise, all other parts must be decided. */
function decideUnless(deciding: boolean): (parts: CompiledNode[]) => Decision {
  return (parts) => (contact) => {
    let isKnown = true;
    for (const { decide } of parts) {
      const answer = decide(contact);
      if (answer === deciding) return deciding;
      isKnown &&= answer !== undefined;
    }
    return isKnown ? !deciding : undefined;
  };
}

const filterCombiners: Record<
  SegmentRules["match"],
  (parts: CompiledNode[]) => Pick<CompiledRules, "filter" | "filterIsExact">
> = {
  all: (parts) => {
    const filters = parts.flatMap(({ filter }) => filter ?? []);
    return {
      filter: filters.length ? all(...filters) : undefined,
      filterIsExact: parts.every(({ filterIsExact }) => filterIsExact),
    };
  },
  // A contact may match by a part that has no filter, so all parts need one.
  any: (parts) => {
    const filters = parts.flatMap(({ filter }) => filter ?? []);
    const whole = parts.length > 0 && filters.length === parts.length;
    return {
      filter: whole ? any(...filters) : undefined,
      filterIsExact: parts.every(({ filterIsExact }) => filterIsExact),
    };
  },
  // Only an exact filter can be negated: another one also passes contacts that do not match.
  none: (parts) => {
    const exact = parts.flatMap(({ filter, filterIsExact }) =>
      filter && filterIsExact ? not(filter) : [],
    );
    return {
      filter: exact.length ? all(...exact) : undefined,
      filterIsExact: exact.length === parts.length,
    };
  },
};

function compileCondition(condition: SegmentCondition, context: RuleContext): CompiledNode {
  const { field: name, operator, value } = condition;
  const parsed = topicField(parseField(name)!, context.topics);
  const ofEvents = compileEventCondition(condition, parsed, context);
  if (ofEvents) return toNode(condition, ofEvents);
  const field = siteField(parsed, context.spellingOf, context.typeOf);
  const compared = { field, operator, value: readRuleValue(field, value) };
  const test = createTest(compared, context);
  const pushed = toFilter(compared, context);
  const actualValue = (contact: ContactItem): unknown => {
    const actual = readField(field, contact);
    if (field.setMember !== undefined) {
      const isMember = (actual as Set<number> | undefined)?.has(field.setMember) === true;
      return isMember !== (field.isInverted === true);
    }
    const deletedIds = field.group && context.groups[field.group].deletedIds;
    return actual instanceof Set
      ? [...actual].filter((id) => !deletedIds?.has(id)).sort((a, b) => a - b)
      : (actual ?? (field.kind === "number" ? 0 : null));
  };
  const explain = (contact: ContactItem): RuleExplanation => ({
    field: name,
    operator,
    ...(value !== undefined && { value }),
    matched: test(contact),
    actual: actualValue(contact),
  });
  const [attribute] = [field.attribute].flat() as [string];
  const attributes = isAboutDates(compared) ? [attribute, "timezone"] : [attribute];
  return {
    filter: pushed?.condition,
    filterIsExact: pushed?.exact === true,
    decide: test,
    test,
    attributes: field.mails ? ["id", "merged", ...attributes] : attributes,
    mails: field.mails,
    explain,
  };
}

function toNode(
  { field, operator, value, inLastDays, where, property }: SegmentCondition,
  { filter, attributes, decide, need, actual }: EventCondition,
): CompiledNode {
  const test: ContactTest = (contact) => decide(contact) === true;
  return {
    filter,
    filterIsExact: false,
    decide,
    test,
    attributes,
    mails: undefined,
    listNeeds: (contact, everything) => [need(contact, everything) ?? []].flat(),
    explain: (contact) => ({
      field,
      operator,
      ...(value !== undefined && { value }),
      ...(inLastDays !== undefined && { inLastDays }),
      ...(where && { where }),
      ...(property !== undefined && { property }),
      matched: test(contact),
      actual: actual(contact),
    }),
  };
}
