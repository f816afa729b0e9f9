// Compiles segment rules into a DynamoDB filter and a test in code for what the filter cannot
// decide.
import { all, any, type Condition as Filter, not } from "../../../adapters/dynamodb/conditions.ts";
import type { SiteRef } from "../../../caller.ts";
import type { ContactQuery } from "../contacts/contact-reader.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import { createMailReader, type MailFields } from "../mail-counts/mail-counts.ts";
import { type PushedFilter, toFilter } from "./filter-pushdown.ts";
import { type ContactTest, createTest, type RuleContext, readField } from "./rule-tests.ts";
import { parseField, spelledField, topicField } from "./segment-fields.ts";
import { isRules, type SegmentCondition, type SegmentRules } from "./segment-rules.ts";

export interface RuleExplanation {
  matched: boolean;
  match?: SegmentRules["match"];
  conditions?: RuleExplanation[];
  field?: string;
  operator?: string;
  value?: unknown;
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
  explain(contact: ContactItem): RuleExplanation;
}

export const toContactQuery = (
  site: SiteRef,
  { filter, filterIsExact, test, attributes, mails }: CompiledRules,
): ContactQuery => ({
  filter: filter,
  ...(!filterIsExact && {
    test,
    attributes,
    readMails: mails && createMailReader(site, mails),
  }),
});

interface CompiledNode extends CompiledRules {
  parts?: CompiledNode[];
}

export function compileRules(rules: SegmentRules, context: RuleContext): CompiledRules {
  const { parts = [], ...root } = compileGroup(rules, context);
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
  const holds: ContactTest = parts.length ? testCombiners[match](parts) : () => true;
  const explain = (contact: ContactItem): RuleExplanation => ({
    match,
    matched: holds(contact),
    conditions: parts.map((part) => part.explain(contact)),
  });
  const attributes = [...new Set(parts.flatMap((part) => part.attributes))];
  const mails = combineMailFields(parts.flatMap((part) => part.mails ?? []));
  return { parts, filter, filterIsExact, test: holds, attributes, mails, explain };
}

const combineMailFields = (all: MailFields[]): MailFields | undefined =>
  all.length
    ? {
        counts: all.some(({ counts }) => counts),
        campaignIds: [...new Set(all.flatMap(({ campaignIds }) => campaignIds))],
      }
    : undefined;

const testCombiners: Record<SegmentRules["match"], (parts: CompiledNode[]) => ContactTest> = {
  all: (parts) => (contact) => parts.every(({ test }) => test(contact)),
  any: (parts) => (contact) => parts.some(({ test }) => test(contact)),
  none: (parts) => (contact) => !parts.some(({ test }) => test(contact)),
};

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

function compileCondition(
  { field: name, operator, value }: SegmentCondition,
  context: RuleContext,
): CompiledNode {
  const parsed = topicField(parseField(name)!, context.topics);
  const field = spelledField(parsed, context.spellings ?? ((one) => [one]));
  const test = createTest({ field, operator, value }, context);
  // A filter can test only one spelling of a custom field.
  const pushed: PushedFilter | undefined = field.spellings
    ? undefined
    : toFilter({ field, operator, value }, context);
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
  return {
    filter: pushed?.condition,
    filterIsExact: pushed?.exact === true,
    test,
    attributes: field.mails ? ["id", attribute] : [attribute],
    mails: field.mails,
    explain,
  };
}
