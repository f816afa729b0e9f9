// Where the steps of a sequence are drawn, from top to bottom, in pixels.
import type { Place } from "./step-changes.ts";
import { type DraftStep, type DraftSteps, type Outlet, outletsOf } from "./step-draft.ts";
import { type Block, type Branch, outlineOf } from "./step-outline.ts";

export const nodeWidth = 272;
export const nodeHeight = 104;
const gap = 64;
const endHeight = 28;
const forkHeight = 40;
const forkTurn = 14;
/** Above the step where branches meet: the line across, and the button to add a step. */
const meetTurn = 58;
const meetAdd = 28;
const meetHeight = 72;
const columnGap = 32;
const emptyWidth = 132;
const padding = 24;
export const startHeight = 72;

interface Point {
  /** The middle. */
  x: number;
  /** The top. */
  y: number;
}
/** A step. */
export interface NodeBox extends Point {
  step: DraftStep;
  number: number;
}
/** A button that adds a step. */
export interface AddBox extends Point {
  place: Place;
}
/** The name of a branch. */
export interface LabelBox extends Point {
  step: DraftStep;
  outlet: Outlet;
}
/** Where a way ends, or goes on with a step that is drawn elsewhere. */
export interface EndBox extends Point {
  goesTo?: string;
}
export interface Drawing {
  width: number;
  height: number;
  start: Point;
  nodes: NodeBox[];
  adds: AddBox[];
  labels: LabelBox[];
  ends: EndBox[];
  /** Lines as SVG paths. */
  lines: string[];
}

export function layOut(draft: DraftSteps): Drawing {
  const [first = { blocks: [], end: "ends" }, ...unreached] = outlineOf(draft);
  const { left, right } = widest([first, ...unreached].map(widthOf));
  const x = left + padding;
  const drawing = { start: { x, y: 0 }, nodes: [], adds: [], labels: [], ends: [], lines: [] };
  const steps = new Map(draft.map((step) => [step.key, step]));
  const pen: Pen = { drawing, steps, waiting: new Map() };
  const way: Way = { from: [{ x, y: startHeight }], place: { before: draft[0]?.key ?? null } };
  let bottom = drawBranch(pen, { branch: first, at: { x, y: startHeight + gap }, way });
  for (const branch of unreached)
    bottom = drawBranch(pen, { branch, at: { x, y: bottom + gap }, way: undefined });
  return { ...drawing, width: left + right + 2 * padding, height: bottom + padding };
}

interface Pen {
  /** What is drawn so far. */
  drawing: Omit<Drawing, "width" | "height">;
  steps: ReadonlyMap<string, DraftStep>;
  /** Lines that end at a step that is not drawn yet, by its key. */
  waiting: Map<string, Point[][]>;
}

/** The line that leads into a branch, and where a step is added on it. */
interface Way {
  from: Point[];
  place: Place;
}

interface Width {
  left: number;
  right: number;
}

const halfNode = nodeWidth / 2;

const widest = (widths: Width[]): Width => ({
  left: Math.max(...widths.map(({ left }) => left)),
  right: Math.max(...widths.map(({ right }) => right)),
});

const widthOf = ({ blocks }: Branch): Width =>
  blocks.length > 0
    ? widest(blocks.map(widthOfBlock))
    : { left: emptyWidth / 2, right: emptyWidth / 2 };

/** The middle of each branch, from the left edge of the first one, and the width of all. */
function columnsOf(branches: Block["branches"]): { middles: number[]; width: number } {
  let width = -columnGap;
  const middles = branches.map(({ branch }) => {
    const { left, right } = widthOf(branch);
    const middle = width + columnGap + left;
    width = middle + right;
    return middle;
  });
  return { middles, width };
}

/** A step stands in the middle between its first branch and its last one. */
function centerOf(middles: readonly number[]): number {
  return (middles[0]! + middles.at(-1)!) / 2;
}

function widthOfBlock({ branches }: Block): Width {
  if (branches.length === 0) return { left: halfNode, right: halfNode };
  const { middles, width } = columnsOf(branches);
  const center = centerOf(middles);
  return { left: Math.max(halfNode, center), right: Math.max(halfNode, width - center) };
}

interface BranchToDraw {
  branch: Branch;
  at: Point;
  way: Way | undefined;
}

/** Returns the bottom. */
function drawBranch(pen: Pen, { branch, at, way }: BranchToDraw): number {
  const { drawing } = pen;
  let { y } = at;
  let current = way;
  for (const block of branch.blocks) {
    const { step, number, branches } = block;
    const node = { x: at.x, y };
    if (current) drawWay(pen, current, node);
    for (const line of pen.waiting.get(step.key) ?? []) drawLine(pen, line, node);
    pen.waiting.delete(step.key);
    drawing.nodes.push({ ...node, step, number });
    const out = { x: at.x, y: y + nodeHeight };
    const [outlet] = outletsOf(step);
    if (!outlet) return out.y;
    if (branches.length === 0) {
      current = { from: [out], place: { from: step.key, outlet } };
      y = out.y + gap;
      continue;
    }
    const bottom = drawFork(pen, block, out);
    const meeting = branch.blocks[branch.blocks.indexOf(block) + 1]?.step.key;
    current = undefined;
    y = bottom + (meeting ? meetHeight : 0);
    if (meeting) drawing.adds.push({ x: at.x, y: y - meetAdd, place: { before: meeting } });
  }
  if (!current) return y;
  drawing.adds.push(addOn(current));
  return drawEnd(pen, branch, current);
}

/** The button to add a step stands below the last corner of the line. */
const addOn = ({ from, place }: Way): AddBox => {
  const { x, y } = from.at(-1)!;
  return { x, y: y + gap / 2, place };
};

function drawWay({ drawing }: Pen, way: Way, to: Point): void {
  drawing.adds.push(addOn(way));
  drawing.lines.push(pathOf([...way.from, to]));
}

function drawLine({ drawing }: Pen, line: Point[], to: Point): void {
  const y = to.y - meetTurn;
  drawing.lines.push(pathOf([...line, { x: line.at(-1)!.x, y }, { x: to.x, y }, to]));
}

function drawEnd(pen: Pen, { end }: Branch, { from, place }: Way): number {
  const last = from.at(-1)!;
  const bottom = { x: last.x, y: last.y + gap };
  if (end === "meets") {
    const target = "from" in place ? targetOf(pen, place) : undefined;
    if (target) pen.waiting.set(target, [...(pen.waiting.get(target) ?? []), from]);
    return bottom.y;
  }
  pen.drawing.lines.push(pathOf([...from, bottom]));
  pen.drawing.ends.push({ ...bottom, ...(end !== "ends" && end) });
  return bottom.y + endHeight;
}

const targetOf = (
  { steps }: Pen,
  { from, outlet }: { from: string; outlet: Outlet },
): string | null | undefined => steps.get(from)?.to[outlet];

/** Returns the bottom of the longest branch. */
function drawFork(pen: Pen, { step, branches }: Block, out: Point): number {
  const { middles } = columnsOf(branches);
  const center = centerOf(middles);
  const turn = out.y + forkTurn;
  const bottoms = branches.map(({ outlet, branch }, i) => {
    const x = out.x + middles[i]! - center;
    const top = { x, y: out.y + forkHeight };
    pen.drawing.labels.push({ ...top, step, outlet });
    return drawBranch(pen, {
      branch,
      at: { x, y: top.y + gap },
      way: {
        from: [out, { x: out.x, y: turn }, { x, y: turn }, top],
        place: { from: step.key, outlet },
      },
    });
  });
  return Math.max(...bottoms);
}

const radius = 12;

/** A line with round corners. Its parts run down or across. */
function pathOf(points: Point[]): string {
  const corners = points.slice(1, -1);
  const { x, y } = points[0]!;
  const parts = corners.map((corner, i) => {
    const before = points[i]!;
    const after = points[i + 2]!;
    const near = Math.min(radius, distance(before, corner) / 2, distance(corner, after) / 2);
    const [start, end] = [toward(corner, before, near), toward(corner, after, near)];
    return `L${start.x} ${start.y}Q${corner.x} ${corner.y} ${end.x} ${end.y}`;
  });
  const last = points.at(-1)!;
  return `M${x} ${y}${parts.join("")}L${last.x} ${last.y}`;
}

const distance = (a: Point, b: Point): number => Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
const toward = (from: Point, to: Point, length: number): Point => ({
  x: from.x + Math.sign(to.x - from.x) * length,
  y: from.y + Math.sign(to.y - from.y) * length,
});
