// Steps that are dragged with the mouse to another place of the canvas.
import { type PointerEvent, type RefObject, useEffect, useRef, useState } from "react";
import type { AddBox, Drawing } from "./canvas-layout.ts";
import type { CanvasView } from "./canvas-view.ts";
import type { DraftSteps } from "./step-draft.ts";
import { moveSection, type StepSection, sectionOf } from "./step-sections.ts";

export interface CanvasDrag {
  section: StepSection;
  /** The place that the steps move to when they are dropped now. */
  target: AddBox | undefined;
}

interface DragOptions {
  view: CanvasView;
  drawing: Drawing;
  draft: DraftSteps;
  isEnabled: boolean;
  onMove(draft: DraftSteps, key: string): void;
}

/** The pointer moves this far before a press becomes a drag. */
const slack = 6;
/** A place in this distance takes the steps. */
const reach = 150;
const edge = 48;
const edgeSpeed = 14;

/** Where a press began. */
interface Grip {
  key: string;
  clientX: number;
  clientY: number;
  pointerId: number;
}

export function useCanvasDrag({ view, drawing, draft, isEnabled, onMove }: DragOptions) {
  const [drag, setDrag] = useState<CanvasDrag>();
  const ghost = useRef<HTMLDivElement>(null);
  const grip = useRef<Grip>(undefined);
  const hasDragged = useRef(false);
  const scrolling = useAutoScroll(view.frame);
  const end = () => {
    grip.current = undefined;
    scrolling.stop();
    setDrag(undefined);
  };
  useEscape(drag !== undefined, end);
  const findTarget = (section: StepSection, { clientX, clientY }: PointerEvent) => {
    const { left, top } = view.plane.current!.getBoundingClientRect();
    const x = (clientX - left) / view.scale;
    const y = (clientY - top) / view.scale;
    const distanceTo = (box: AddBox) => Math.hypot(box.x - x, box.y - y);
    return drawing.adds
      .filter((box) => distanceTo(box) < Math.max(reach, reach / view.scale / 2))
      .toSorted((a, b) => distanceTo(a) - distanceTo(b))
      .find(({ place }) => moveSection(draft, section, place));
  };
  const moveGhost = ({ clientX, clientY }: PointerEvent) => {
    const box = view.frame.current!.getBoundingClientRect();
    if (ghost.current)
      ghost.current.style.transform = `translate(${clientX - box.left}px, ${clientY - box.top}px)`;
  };
  const begin = (event: PointerEvent, { key, pointerId }: Grip): CanvasDrag | undefined => {
    const section = sectionOf(draft, key, "step");
    if (!section) return undefined;
    event.currentTarget.setPointerCapture(pointerId);
    hasDragged.current = true;
    return { section, target: undefined };
  };
  return {
    drag,
    ghost,
    handlers: {
      onPointerDown: ({ target, button, pointerType, ...event }: PointerEvent) => {
        hasDragged.current = false;
        const card = (target as Element).closest<HTMLElement>("[data-step]");
        if (!isEnabled || !card || button !== 0 || pointerType === "touch") return;
        const { clientX, clientY, pointerId } = event;
        grip.current = { key: card.dataset.step!, clientX, clientY, pointerId };
      },
      onPointerMove: (event: PointerEvent) => {
        if (!grip.current) return;
        const { clientX, clientY } = grip.current;
        const moved = Math.hypot(event.clientX - clientX, event.clientY - clientY);
        if (!drag && moved < slack) return;
        const current = drag ?? begin(event, grip.current);
        if (!current) return;
        const target = findTarget(current.section, event);
        if (!drag || target !== drag.target) setDrag({ ...current, target });
        moveGhost(event);
        scrolling.follow(event);
      },
      onPointerUp: () => {
        const { section, target } = drag ?? {};
        const moved = section && target && moveSection(draft, section, target.place);
        end();
        if (moved) onMove(moved, section.first);
      },
      onPointerCancel: end,
      // The press that became a drag is no click.
      onClickCapture: (event: { preventDefault(): void; stopPropagation(): void }) => {
        if (!hasDragged.current) return;
        hasDragged.current = false;
        event.preventDefault();
        event.stopPropagation();
      },
    },
  };
}

/** Escape ends the drag, and does not close the panel. */
function useEscape(isActive: boolean, end: () => void): void {
  const latest = useRef(end);
  latest.current = end;
  useEffect(() => {
    if (!isActive) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      latest.current();
    };
    addEventListener("keydown", onKey, { capture: true });
    return () => removeEventListener("keydown", onKey, { capture: true });
  }, [isActive]);
}

/** Scrolls while the pointer is at an edge. */
function useAutoScroll(frame: RefObject<HTMLDivElement | null>) {
  const speed = useRef({ x: 0, y: 0 });
  const request = useRef<number>(undefined);
  const scroll = () => {
    const { x, y } = speed.current;
    request.current = undefined;
    if (x === 0 && y === 0) return;
    frame.current?.scrollBy(x, y);
    request.current = requestAnimationFrame(scroll);
  };
  return {
    follow: ({ clientX, clientY }: PointerEvent) => {
      const { left, right, top, bottom } = frame.current!.getBoundingClientRect();
      const speedAt = (at: number, low: number, high: number) => {
        if (at < low + edge) return -edgeSpeed;
        return at > high - edge ? edgeSpeed : 0;
      };
      speed.current = { x: speedAt(clientX, left, right), y: speedAt(clientY, top, bottom) };
      request.current ??= requestAnimationFrame(scroll);
    },
    stop: () => {
      speed.current = { x: 0, y: 0 };
    },
  };
}
