import { ActionIcon } from "@mantine/core";
import { IconZoomIn, IconZoomOut } from "@tabler/icons-react";
import { type PointerEvent, useMemo, useRef, useState } from "react";
import { AddStep, outletLabels } from "./add-step.tsx";
import { layOut, nodeHeight, nodeWidth, startHeight } from "./drawing-layout.ts";
import { StartCard } from "./start-card.tsx";
import { StepCard } from "./step-card.tsx";
import { numberIn, useStepEditor } from "./step-editor.ts";

const scales = [0.4, 0.55, 0.7, 0.85, 1];

/** The steps from top to bottom. The pointer moves the drawing; so do scrolling and the tab key. */
export function StepDrawing() {
  const { history, open } = useStepEditor();
  const { draft } = history;
  const drawing = useMemo(() => layOut(draft), [draft]);
  const [scale, setScale] = useState(1);
  const index = scales.indexOf(scale);
  const pan = usePan();
  const { width, height, start } = drawing;
  const numberOf = numberIn(draft);
  return (
    <div className="drawing">
      <div className="drawing-scroll" {...pan}>
        <div className="drawing-size" style={{ width: width * scale, height: height * scale }}>
          <section
            aria-label="Drawing of the steps"
            className="drawing-plane"
            style={{ width, height, transform: `scale(${scale})` }}
          >
            <svg width={width} height={height} aria-hidden focusable="false">
              {drawing.lines.map((line) => (
                <path key={line} d={line} />
              ))}
            </svg>
            <div className="drawn" style={{ ...boxAt(start), height: startHeight }}>
              <StartCard />
            </div>
            {drawing.nodes.map(({ step, number, ...point }) => (
              <div key={step.key} className="drawn" style={boxAt(point)}>
                <StepCard step={step} number={number} />
              </div>
            ))}
            {drawing.labels.map(({ outlet, ...point }) => (
              <span key={`${point.x} ${point.y}`} className={`outlet ${outlet}`} style={at(point)}>
                {outletLabels[outlet]}
              </span>
            ))}
            {drawing.adds.map(({ place, ...point }) => (
              <span key={JSON.stringify(place)} className="drawn-add" style={at(point)}>
                <AddStep place={place} />
              </span>
            ))}
            {drawing.ends.map(({ goesTo, ...point }) => (
              <span key={`${point.x} ${point.y}`} className="way-end" style={at(point)}>
                {goesTo === undefined ? (
                  "End"
                ) : (
                  <button type="button" onClick={() => open(goesTo)}>
                    Goes on with step {numberOf(goesTo)}
                  </button>
                )}
              </span>
            ))}
          </section>
        </div>
      </div>
      <div className="zoom">
        <ActionIcon
          variant="default"
          aria-label="Zoom out"
          disabled={index === 0}
          onClick={() => setScale(scales[index - 1]!)}
        >
          <IconZoomOut size={16} />
        </ActionIcon>
        <ActionIcon
          variant="default"
          aria-label="Zoom in"
          disabled={index === scales.length - 1}
          onClick={() => setScale(scales[index + 1]!)}
        >
          <IconZoomIn size={16} />
        </ActionIcon>
      </div>
    </div>
  );
}

const at = ({ x, y }: { x: number; y: number }) => ({ left: x, top: y });
const boxAt = ({ x, y }: { x: number; y: number }) => ({
  left: x - nodeWidth / 2,
  top: y,
  width: nodeWidth,
  height: nodeHeight,
});

/** Scrolls an element while the pointer drags its ground. */
function usePan() {
  const grip = useRef<{ x: number; y: number } | undefined>(undefined);
  const onPointerDown = ({
    target,
    currentTarget,
    pointerId,
    clientX,
    clientY,
    pointerType,
  }: PointerEvent) => {
    // Fingers scroll by themselves.
    if (pointerType !== "mouse" || (target as Element).closest("button, a")) return;
    grip.current = { x: clientX + currentTarget.scrollLeft, y: clientY + currentTarget.scrollTop };
    currentTarget.setPointerCapture(pointerId);
  };
  const onPointerMove = ({ currentTarget, clientX, clientY }: PointerEvent) => {
    if (!grip.current) return;
    currentTarget.scrollTo(grip.current.x - clientX, grip.current.y - clientY);
  };
  const onPointerUp = () => {
    grip.current = undefined;
  };
  return { onPointerDown, onPointerMove, onPointerUp };
}
