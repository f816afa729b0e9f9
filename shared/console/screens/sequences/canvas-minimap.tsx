import { type PointerEvent, useEffect, useRef, useState } from "react";
import { type Drawing, nodeHeight, nodeWidth } from "./canvas-layout.ts";
import type { CanvasView } from "./canvas-view.ts";

const maxWidth = 128;
const maxHeight = 144;
/** A drawing that is larger than what is seen by this factor has a map. */
const minRatio = 1.4;
const minSide = 44;

interface MinimapProps {
  drawing: Drawing;
  view: CanvasView;
}

/**
 * The whole drawing in small, and the part of it that is seen. Only for the mouse: the keyboard
 * goes from step to step, and the canvas scrolls.
 */
export function Minimap({ drawing, view }: MinimapProps) {
  const { frame, plane, scale } = view;
  const seen = useRef<SVGRectElement>(null);
  const [isShown, setShown] = useState(false);
  const { width, height } = drawing;
  const fitting = Math.min(maxWidth / width, maxHeight / height);
  const shownWidth = Math.max(minSide, width * fitting);
  const shownHeight = Math.max(minSide, height * fitting);
  useEffect(() => {
    const element = frame.current!;
    const update = () => {
      const box = element.getBoundingClientRect();
      const { left, top } = plane.current!.getBoundingClientRect();
      const rect = {
        x: (box.left - left) / scale,
        y: (box.top - top) / scale,
        width: element.clientWidth / scale,
        height: element.clientHeight / scale,
      };
      for (const [name, value] of Object.entries(rect))
        seen.current?.setAttribute(name, String(value));
      setShown(rect.width * minRatio < width || rect.height * minRatio < height);
    };
    update();
    element.addEventListener("scroll", update, { passive: true });
    const resizes = new ResizeObserver(update);
    resizes.observe(element);
    return () => {
      element.removeEventListener("scroll", update);
      resizes.disconnect();
    };
  }, [frame, plane, scale, width, height]);
  const show = ({ currentTarget, clientX, clientY, buttons }: PointerEvent<SVGSVGElement>) => {
    if (buttons === 0) return;
    const box = currentTarget.getBoundingClientRect();
    const x = ((clientX - box.left) / box.width) * width * scale;
    const y = ((clientY - box.top) / box.height) * height * scale;
    const middle = frame.current!.getBoundingClientRect();
    const { left, top } = plane.current!.getBoundingClientRect();
    frame.current!.scrollBy(
      left + x - (middle.left + middle.width / 2),
      top + y - (middle.top + middle.height / 2),
    );
  };
  return (
    <svg
      className="minimap"
      style={{ display: isShown ? undefined : "none" }}
      aria-hidden
      focusable="false"
      width={shownWidth}
      height={shownHeight}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        show(event);
      }}
      onPointerMove={show}
    >
      {drawing.lines.map((line) => (
        <path key={line} d={line} vectorEffect="non-scaling-stroke" />
      ))}
      {drawing.nodes.map(({ step, x, y }) => (
        <rect
          key={step.key}
          className={`map-step type-${step.type}`}
          x={x - nodeWidth / 2}
          y={y}
          width={nodeWidth}
          height={nodeHeight}
          rx={16}
        />
      ))}
      <rect ref={seen} className="map-seen" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
