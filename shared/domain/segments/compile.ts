// Rules, compiled once: into a filter for DynamoDB as far as it can decide them, and a test in code for the rest.
import { all, any, type Condition as Filter } from "../../conditions.ts";
import type { ContactItem } from "../contacts/contact.ts";
import type { Wanted } from "../contacts/reader.ts";
import { type Context, carriedBy, type Test, tester } from "./evaluate.ts";
import { fieldOf } from "./fields.ts";
import { type Condition, isRules, type Rules } from "./grammar.ts";
import { type Pushed, push } from "./push.ts";

export interface Explained {
  matched: boolean;
  match?: "all" | "any";
  conditions?: Explained[];
  field?: string;
  operator?: string;
  value?: unknown;
  /** What the contact carries; null for nothing. */
  actual?: unknown;
  /** Of tags and lists. */
  actualNames?: string[];
}

export interface Compiled {
  /** Every contact that matches passes it, and when `exact` no other; absent where nothing could be pushed. */
  pushed?: Filter | undefined;
  exact: boolean;
  matches: Test;
  /** What `matches` looks at. */
  attributes: string[];
  explain(contact: ContactItem): Explained;
}

/** What the reader of contacts wants to know. */
export const wanted = ({ pushed, exact, matches, attributes }: Compiled): Wanted => ({
  filter: pushed,
  ...(!exact && { matches, attributes }),
});

interface Node extends Compiled {
  parts?: Node[];
}

export function compile(rules: Rules, context: Context): Compiled {
  const { parts = [], ...root } = ofRules(rules, context);
  if (!root.pushed || lengthOf(root.pushed) <= maxLength) return root;
  const fitting = rules.match === "all" ? longestFitting(parts) : [];
  return { ...root, pushed: fitting.length ? all(...fitting) : undefined, exact: false };
}

// DynamoDB takes 4 KB; the reader may have further filters.
const maxLength = 3500;

/** As many of them as there is room for, the short ones first. */
function longestFitting(parts: Node[]): Filter[] {
  const filters = parts.flatMap(({ pushed }) => (pushed ? [{ pushed, length: lengthOf(pushed) + " AND ()".length }] : []));
  let left = maxLength;
  return filters
    .sort((a, b) => a.length - b.length)
    .flatMap(({ pushed, length }) => {
      left -= length;
      return left >= 0 ? [pushed] : [];
    });
}

// Placeholders are as long as they will be at the longest.
const lengthOf = (filter: Filter): number => filter({ name: () => "#n000", value: () => ":v0000" }).length;

const ofNode = (node: Condition | Rules, context: Context): Node => (isRules(node) ? ofRules(node, context) : ofCondition(node, context));

function ofRules({ match, conditions }: Rules, context: Context): Node {
  const parts = conditions.map((node) => ofNode(node, context));
  const { pushed, exact } = join[match](parts);
  const holds: Test = parts.length ? tests[match](parts) : () => true;
  const explain = (contact: ContactItem): Explained => ({
    match,
    matched: holds(contact),
    conditions: parts.map((part) => part.explain(contact)),
  });
  const attributes = [...new Set(parts.flatMap((part) => part.attributes))];
  return { parts, pushed, exact, matches: holds, attributes, explain };
}

const tests: Record<Rules["match"], (parts: Node[]) => Test> = {
  all: (parts) => (contact) => parts.every(({ matches }) => matches(contact)),
  any: (parts) => (contact) => parts.some(({ matches }) => matches(contact)),
};

const join: Record<Rules["match"], (parts: Node[]) => Pick<Compiled, "pushed" | "exact">> = {
  all: (parts) => {
    const filters = parts.flatMap(({ pushed }) => pushed ?? []);
    return { pushed: filters.length ? all(...filters) : undefined, exact: parts.every(({ exact }) => exact) };
  },
  // One that is not pushed may be the one that holds.
  any: (parts) => {
    const filters = parts.flatMap(({ pushed }) => pushed ?? []);
    const whole = parts.length > 0 && filters.length === parts.length;
    return { pushed: whole ? any(...filters) : undefined, exact: parts.every(({ exact }) => exact) };
  },
};

function ofCondition({ field: name, operator, value }: Condition, context: Context): Node {
  const field = fieldOf(name)!;
  const matches = tester(field, operator, value, context);
  const pushed: Pushed | undefined = push(field, operator, value, context);
  const carried = (contact: ContactItem): unknown => {
    const actual = carriedBy(field, contact);
    if (field.member !== undefined) return (actual as Set<number> | undefined)?.has(field.member) === true;
    const dead = field.group && context.groups[field.group].dead;
    return actual instanceof Set
      ? [...actual].filter((id) => !dead?.has(id)).sort((a, b) => a - b)
      : (actual ?? (field.kind === "number" ? 0 : null));
  };
  const explain = (contact: ContactItem): Explained => ({
    field: name,
    operator,
    ...(value !== undefined && { value }),
    matched: matches(contact),
    actual: carried(contact),
  });
  const [attribute] = [field.attribute].flat() as [string];
  return { pushed: pushed?.condition, exact: pushed?.exact === true, matches, attributes: [attribute], explain };
}
