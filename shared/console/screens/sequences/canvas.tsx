import { ActionIcon, Button } from "@mantine/core";
import { IconArrowsMaximize, IconMinus, IconPlus } from "@tabler/icons-react";
import { memo, useEffect, useMemo, useState } from "react";
import { t } from "../../language/translate.ts";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { AddStep } from "./add-step.tsx";
import { useCanvasDrag } from "./canvas-drag.ts";
import { type Drawing, layOut, nodeHeight, nodeWidth, startHeight } from "./canvas-layout.ts";
import { Minimap } from "./canvas-minimap.tsx";
import { type CanvasView, useCanvasView, usePan } from "./canvas-view.ts";
import { StartCard } from "./start-card.tsx";
import { StepCard } from "./step-card.tsx";
import { stepOf } from "./step-draft.ts";
import { focusStep, numberIn, useStepEditor } from "./step-editor.ts";
import { labelOf, outletLabel } from "./step-texts.ts";

/**
 * The steps from top to bottom. The mouse moves the drawing and drags steps; scrolling and the tab
 * key move it, too.
 */
export function Canvas() {
  const { history, names, mayWrite } = useStepEditor();
  const { draft } = history;
  const drawing = useMemo(() => layOut(draft), [draft]);
  const view = useCanvasView(drawing, drawing.start.x);
  const { frame, plane, scale } = view;
  const pan = usePan();
  const onMove = (next: typeof draft, key: string) => {
    history.change(next);
    focusStep(key);
  };
  const { drag, ghost, handlers } = useCanvasDrag({
    ...{ view, drawing, draft, onMove },
    isEnabled: mayWrite,
  });
  const { width, height } = drawing;
  const dragged = drag && stepOf(draft, drag.section.first);
  const others = (drag?.section.keys.size ?? 1) - 1;
  return (
    <div className={drag ? "canvas dragging" : "canvas"}>
      <div
        ref={frame}
        className="canvas-frame"
        onPointerDown={(event) => {
          pan.onPointerDown(event);
          handlers.onPointerDown(event);
        }}
        onPointerMove={(event) => {
          pan.onPointerMove(event);
          handlers.onPointerMove(event);
        }}
        onPointerUp={() => {
          pan.onPointerUp();
          handlers.onPointerUp();
        }}
        onPointerCancel={handlers.onPointerCancel}
        onClickCapture={handlers.onClickCapture}
      >
        <div className="canvas-size" style={{ width: width * scale, height: height * scale }}>
          <section
            ref={plane}
            aria-label={t("Drawing of the steps")}
            className="canvas-plane"
            style={{ width, height, transform: `scale(${scale})` }}
          >
            <Plane drawing={drawing} lifted={drag?.section.keys} />
            {drag?.target && (
              <span className="drop-mark" style={at(drag.target)}>
                {t("Move here")}
              </span>
            )}
          </section>
        </div>
      </div>
      {dragged && (
        <div ref={ghost} className="drag-ghost" aria-hidden>
          <b>{labelOf(dragged, { names, numberOf: numberIn(draft) })}</b>
          {others > 0 && (
            <small>
              {t("and {others, plural, one {# step} other {# steps}} of its branches", { others })}
            </small>
          )}
        </div>
      )}
      <Minimap drawing={drawing} view={view} />
      <ZoomBar view={view} />
    </div>
  );
}

interface PlaneProps {
  drawing: Drawing;
  /** Keys of the steps that are dragged. */
  lifted: ReadonlySet<string> | undefined;
}

const Plane = memo(function Plane({ drawing, lifted }: PlaneProps) {
  const { history, walk, open } = useStepEditor();
  const numberOf = numberIn(history.draft);
  const { width, height, start } = drawing;
  const depth = useDepth(height);
  const isDrawn = ({ y }: { y: number }) => y < depth;
  return (
    <>
      <svg width={width} height={height} aria-hidden focusable="false">
        {drawing.lines.map((line) => (
          <path key={line} d={line} />
        ))}
      </svg>
      <div className="drawn" style={{ ...boxAt(start), height: startHeight }}>
        <StartCard />
      </div>
      {drawing.nodes.filter(isDrawn).map(({ step, number, ...point }) => (
        <div
          key={step.key}
          className={lifted?.has(step.key) ? "drawn lifted" : "drawn"}
          style={boxAt(point)}
        >
          <StepCard step={step} number={number} />
        </div>
      ))}
      {drawing.labels.filter(isDrawn).map(({ step, outlet, ...point }) => (
        <span
          key={`${step.key} ${outlet}`}
          className={`outlet ${outlet}`}
          data-walked={walk?.outlets.has(`${step.key} ${outlet}`) || undefined}
          style={at(point)}
        >
          {outletLabel(step, outlet)}
        </span>
      ))}
      {drawing.adds.filter(isDrawn).map(({ place, ...point }) => (
        <span key={JSON.stringify(place)} className="drawn-add" style={at(point)}>
          <AddStep place={place} />
        </span>
      ))}
      {drawing.ends.filter(isDrawn).map(({ goesTo, ...point }) => (
        <span key={`${point.x} ${point.y}`} className="way-end" style={at(point)}>
          {goesTo === undefined ? (
            "End"
          ) : (
            <button type="button" onClick={() => open(goesTo)}>
              {t("Goes on with step {goesTo}", { goesTo: numberOf(goesTo) })}
            </button>
          )}
        </span>
      ))}
    </>
  );
});

const firstDepth = 1000;
const depthPerFrame = 800;

/** How far down the steps are drawn: what is seen at once, and more in every frame. */
function useDepth(height: number): number {
  const [depth, setDepth] = useState(firstDepth);
  const isWhole = depth >= height;
  useEffect(() => {
    if (isWhole) return;
    const request = requestAnimationFrame(() => setDepth(depth + depthPerFrame));
    return () => cancelAnimationFrame(request);
  }, [isWhole, depth]);
  return depth;
}

function ZoomBar({ view }: { view: CanvasView }) {
  const { scale, zoomIn, zoomOut, fit, reset } = view;
  useShortcuts([
    { keys: ["+", "="], label: t("Zoom in"), run: zoomIn },
    { keys: ["-"], label: t("Zoom out"), run: zoomOut },
    { keys: ["0"], label: t("Show all steps"), run: fit },
  ]);
  return (
    <div className="zoom-bar">
      <ActionIcon variant="subtle" color="gray" aria-label={t("Zoom out")} onClick={zoomOut}>
        <IconMinus size={16} />
      </ActionIcon>
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        aria-label={t("Zoom: {Math} %. Show in full size", { Math: Math.round(scale * 100) })}
        onClick={reset}
      >
        {Math.round(scale * 100)} %
      </Button>
      <ActionIcon variant="subtle" color="gray" aria-label={t("Zoom in")} onClick={zoomIn}>
        <IconPlus size={16} />
      </ActionIcon>
      <ActionIcon variant="subtle" color="gray" aria-label={t("Show all steps")} onClick={fit}>
        <IconArrowsMaximize size={16} />
      </ActionIcon>
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
