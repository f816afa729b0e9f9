// How the canvas is zoomed and moved.
import {
  type PointerEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";

const minScale = 0.1;
const maxScale = 1.5;
const clampScale = (scale: number): number => Math.min(maxScale, Math.max(minScale, scale));
const zoomFactor = 1.25;
const margin = 32;

interface Size {
  width: number;
  height: number;
}

export interface CanvasView {
  /** The element that scrolls. */
  frame: RefObject<HTMLDivElement | null>;
  /** The element with the drawing, which is scaled. */
  plane: RefObject<HTMLElement | null>;
  scale: number;
  zoomIn(): void;
  zoomOut(): void;
  /** Shows the whole drawing. */
  fit(): void;
  /** Shows the drawing in its own size. */
  reset(): void;
}

/** A point of the plane that stays where it is on the screen. */
interface Anchor {
  x: number;
  y: number;
  clientX: number;
  clientY: number;
}

export function useCanvasView({ width, height }: Size, startX: number): CanvasView {
  const frame = useRef<HTMLDivElement>(null);
  const plane = useRef<HTMLElement>(null);
  const [scale, setScale] = useState(1);
  const current = useRef(scale);
  const anchor = useRef<Anchor>(undefined);
  const zoomTo = useCallback((next: number, at?: { clientX: number; clientY: number }) => {
    const box = frame.current!.getBoundingClientRect();
    const clientX = at?.clientX ?? box.left + box.width / 2;
    const clientY = at?.clientY ?? box.top + box.height / 2;
    const { left, top } = plane.current!.getBoundingClientRect();
    const x = (clientX - left) / current.current;
    const y = (clientY - top) / current.current;
    anchor.current = { x, y, clientX, clientY };
    current.current = clampScale(next);
    setScale(current.current);
  }, []);
  useLayoutEffect(() => {
    if (!anchor.current) return;
    const { x, y, clientX, clientY } = anchor.current;
    anchor.current = undefined;
    const { left, top } = plane.current!.getBoundingClientRect();
    frame.current!.scrollBy(left + x * scale - clientX, top + y * scale - clientY);
  }, [scale]);
  useLayoutEffect(() => {
    const { clientWidth, scrollWidth } = frame.current!;
    if (scrollWidth > clientWidth) frame.current!.scrollLeft = startX - clientWidth / 2;
    // Only at first: later the person has moved the drawing.
  }, []);
  useEffect(() => {
    const element = frame.current!;
    // A pinch on a touchpad is a wheel event with the control key.
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoomTo(current.current * Math.exp(-event.deltaY * 0.004), event);
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [zoomTo]);
  return {
    ...{ frame, plane, scale },
    zoomIn: () => zoomTo(current.current * zoomFactor),
    zoomOut: () => zoomTo(current.current / zoomFactor),
    fit: () => {
      const { clientWidth, clientHeight } = frame.current!;
      const fitting = Math.min((clientWidth - margin) / width, (clientHeight - margin) / height);
      zoomTo(Math.min(1, fitting));
    },
    reset: () => zoomTo(1),
  };
}

/** Scrolls an element while the mouse drags its ground. Fingers scroll by themselves. */
export function usePan() {
  const grip = useRef<{ x: number; y: number } | undefined>(undefined);
  return {
    onPointerDown: (event: PointerEvent) => {
      const { target, currentTarget, clientX, clientY } = event;
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      if ((target as Element).closest("button, a, .step-card")) return;
      grip.current = {
        x: clientX + currentTarget.scrollLeft,
        y: clientY + currentTarget.scrollTop,
      };
      currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove: ({ currentTarget, clientX, clientY }: PointerEvent) => {
      if (!grip.current) return;
      currentTarget.scrollTo(grip.current.x - clientX, grip.current.y - clientY);
    },
    onPointerUp: () => {
      grip.current = undefined;
    },
  };
}
