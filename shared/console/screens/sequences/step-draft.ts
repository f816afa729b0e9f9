// The steps of a sequence while they are edited. The API orders steps by number and jumps to
// numbers; here each step names the steps that follow it, so steps can be added and moved freely.

export type StepKind = "email" | "delay" | "condition" | "split" | "exit" | "wait_until" | "action";
/**
 * Where a step leads. A condition has two outlets, a split one for each way, a wait a second one if
 * it can end without what it waits for. Other steps have one, and `exit` has none.
 */
export type Outlet = "next" | "yes" | "no" | "timeout" | `way${number}`;

/** The rules of the API. What a condition compares does not matter here. */
export interface StepRules {
  match: "all" | "any";
  conditions: ({ field: string } | StepRules)[];
}
export const isRules = (node: { field: string } | StepRules): node is StepRules =>
  "conditions" in node;

/** What a step waits for: an event, a date of the contact, or an hour of some weekdays. */
export interface StepWait {
  eventName?: string;
  filter?: StepRules;
  timeoutMinutes?: number;
  field?: string;
  offsetDays?: number;
  weekdays?: number[];
  hour?: number;
}

/** What an action does, with the fields that it has. */
export interface StepAction {
  action: string;
  [field: string]: unknown;
}

export interface DraftStep {
  /** The id of a stored step; `new1` for a step that was not saved yet. */
  key: string;
  type: StepKind;
  templateId: number | null;
  /** Text that mail programs show behind the subject. */
  previewText: string | null;
  delayMinutes: number | null;
  /** Fields about emails of this sequence have the key of the step: `step.<key>.opened`. */
  rules: StepRules | null;
  /** The weight of each way of a split. */
  weights: readonly number[] | null;
  wait: StepWait | null;
  action: StepAction | null;
  /** Keys of the steps that follow; null ends the sequence. */
  to: Partial<Record<Outlet, string | null>>;
}

/** Steps in the order of the API: each leads to later steps only. The first one is the start. */
export type DraftSteps = readonly DraftStep[];

export function outletsOf({
  type,
  weights,
  to,
}: Pick<DraftStep, "type" | "weights" | "to">): Outlet[] {
  if (type === "exit") return [];
  if (type === "condition") return ["yes", "no"];
  if (type === "split") return (weights ?? []).map((_, i) => `way${i}` as const);
  return type === "wait_until" && "timeout" in to ? ["next", "timeout"] : ["next"];
}

export const stepOf = (draft: DraftSteps, key: string | null | undefined): DraftStep | undefined =>
  draft.find((step) => step.key === key);

/** In the field of a condition on the email of a step that is not chosen. */
export const noStep = "0";

/** `names` has the new name of each step by its old one. */
export function renameSteps(
  rules: StepRules | null,
  names: ReadonlyMap<string, string>,
): StepRules | null {
  if (!rules) return null;
  return {
    ...rules,
    conditions: rules.conditions.map((node) => {
      if (isRules(node)) return renameSteps(node, names)!;
      const [prefix, name = "", fact] = node.field.split(".");
      if (prefix !== "step") return node;
      return { ...node, field: `step.${names.get(name) ?? noStep}.${fact}` };
    }),
  };
}

export const isSaved = (key: string): boolean => !key.startsWith("new");

/** Rules without conditions about emails of steps that are gone. */
export const withoutSteps = (
  rules: StepRules | null,
  keys: ReadonlySet<string>,
): StepRules | null =>
  rules && {
    ...rules,
    conditions: rules.conditions
      .map((node) => (isRules(node) ? withoutSteps(node, keys)! : node))
      .filter(
        (node) => isRules(node) || keys.has(stepKeyOf(node.field) ?? "") || !stepKeyOf(node.field),
      ),
  };

/** The key of the step that a field is about. */
export const stepKeyOf = (field: string): string | undefined => /^step\.(\w+)\./.exec(field)?.[1];
