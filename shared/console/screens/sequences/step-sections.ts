// Parts of the steps that are moved, copied and deleted as a whole.
import { connect, nextSerial, type Place, redirect } from "./step-changes.ts";
import {
  type DraftStep,
  type DraftSteps,
  renameSteps,
  stepOf,
  withoutSteps,
} from "./step-draft.ts";
import { type Block, type Branch, outlineOf } from "./step-outline.ts";
import { mapTargets, sortSteps, targetsOf } from "./step-ways.ts";

/** A step with its branches, or with all that follows it on its branch. */
export interface StepSection {
  /** The step that ways from outside lead to. */
  first: string;
  keys: ReadonlySet<string>;
  /** The step that follows; null if the sequence ends behind the section. */
  exit: string | null;
}

/** Whether a section is one step with its branches, or goes on to the end of its branch. */
export type Extent = "step" | "rest";

export function sectionOf(draft: DraftSteps, key: string, extent: Extent): StepSection | undefined {
  const blocks = findBlocks(outlineOf(draft), key);
  if (!blocks) return undefined;
  const chosen = extent === "step" ? blocks.slice(0, 1) : blocks;
  const keys = new Set(chosen.flatMap(keysIn));
  return { first: key, keys, exit: exitOf(draft, keys) };
}

/** The block of a step and those behind it on its branch. */
function findBlocks(branches: readonly Branch[], key: string): Block[] | undefined {
  for (const { blocks } of branches) {
    const index = blocks.findIndex(({ step }) => step.key === key);
    if (index >= 0) return blocks.slice(index);
    const inner = blocks.flatMap((block) => block.branches.map(({ branch }) => branch));
    const found = findBlocks(inner, key);
    if (found) return found;
  }
  return undefined;
}

const keysIn = ({ step, branches }: Block): string[] => [
  step.key,
  ...branches.flatMap(({ branch }) => branch.blocks.flatMap(keysIn)),
];

/** The step that most ways out of a section lead to. */
function exitOf(draft: DraftSteps, keys: ReadonlySet<string>): string | null {
  const counts = new Map<string, number>();
  for (const step of draft)
    for (const target of keys.has(step.key) ? targetsOf(step) : [])
      if (target && !keys.has(target)) counts.set(target, (counts.get(target) ?? 0) + 1);
  const [most] = [...counts].toSorted(([, a], [, b]) => b - a);
  return most?.[0] ?? null;
}

/** What leads to the section leads to the step that follows it. */
export function removeSection(draft: DraftSteps, section: StepSection): DraftSteps {
  const { rest, start } = detach(draft, section);
  const keys = new Set(rest.map(({ key }) => key));
  const kept = rest.map((step) => {
    const rules = withoutSteps(step.rules, keys);
    const joined = [...section.keys].reduce((one, key) => redirect(one, key, section.exit), step);
    return rules === step.rules ? joined : { ...joined, rules };
  });
  return sortSteps(kept, start);
}

function detach(draft: DraftSteps, { first, keys, exit }: StepSection) {
  const start = draft[0]?.key ?? null;
  const rest = draft.filter(({ key }) => !keys.has(key)).map((step) => redirect(step, first, exit));
  return { rest, start: start !== null && keys.has(start) ? exit : start };
}

/** Undefined where the section cannot stand: in itself, where it is, or behind what follows it. */
export function moveSection(
  draft: DraftSteps,
  section: StepSection,
  place: Place,
): DraftSteps | undefined {
  const { keys, first } = section;
  const neighbor = "from" in place ? place.from : place.before;
  if (neighbor !== null && keys.has(neighbor)) return undefined;
  if ("from" in place && stepOf(draft, place.from)?.to[place.outlet] === first) return undefined;
  const { rest, start } = detach(draft, section);
  const moved = draft.filter(({ key }) => keys.has(key));
  const after = attach({ rest, start, steps: moved, section }, place);
  if (after.length < draft.length || isSame(after, draft)) return undefined;
  return after;
}

const isSame = (a: DraftSteps, b: DraftSteps): boolean =>
  a.every((step, i) => step.key === b[i]!.key && `${targetsOf(step)}` === `${targetsOf(b[i]!)}`);

interface Attachment {
  rest: DraftSteps;
  start: string | null;
  steps: readonly DraftStep[];
  section: Pick<StepSection, "first" | "exit">;
}

/** Ways out of the section lead to the step that followed the place. */
function attach({ rest, start, steps, section }: Attachment, place: Place): DraftSteps {
  const { first, exit } = section;
  if ("from" in place) {
    const target = stepOf(rest, place.from)?.to[place.outlet] ?? null;
    const attached = steps.map((step) => redirect(step, exit, target));
    return sortSteps([...connect(rest, place, first), ...attached], start);
  }
  const { before } = place;
  const attached = steps.map((step) => redirect(step, exit, before));
  const others = before === null ? rest : rest.map((step) => redirect(step, before, first));
  return sortSteps([...others, ...attached], before === start ? first : start);
}

/** Copied steps. They name steps outside of themselves only in their conditions. */
export interface StepClip {
  steps: readonly DraftStep[];
  first: string;
}

const outside = "outside";

export function copySection(draft: DraftSteps, { first, keys, exit }: StepSection): StepClip {
  const copied = draft.filter(({ key }) => keys.has(key));
  const targetOf = (target: string | null) => {
    const staysInside = target === null ? exit !== null : keys.has(target);
    return staysInside ? target : outside;
  };
  return { first, steps: copied.map((step) => ({ ...step, to: mapTargets(step, targetOf) })) };
}

/** Adds copies of the steps. `first` is the key of the first one. */
export function pasteClip(
  draft: DraftSteps,
  place: Place,
  clip: StepClip,
): { draft: DraftSteps; first: string } {
  const serial = nextSerial(draft);
  const copies = clip.steps.map(({ key }, i) => [key, `new${serial + i}`] as const);
  const names = new Map([...draft.map(({ key }) => [key, key] as const), ...copies]);
  const known = new Set(names.values());
  const steps = clip.steps.map((step) => ({
    ...step,
    key: names.get(step.key)!,
    rules: withoutSteps(renameSteps(step.rules, names), known),
    to: mapTargets(step, (target) =>
      target === outside ? target : (names.get(target ?? "") ?? null),
    ),
  }));
  const first = names.get(clip.first)!;
  const start = draft[0]?.key ?? null;
  const section = { first, exit: outside };
  return { draft: attach({ rest: draft, start, steps, section }, place), first };
}
