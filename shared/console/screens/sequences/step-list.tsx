import { useMemo } from "react";
import { AddStep, outletLabels } from "./add-step.tsx";
import { StartCard } from "./start-card.tsx";
import { StepCard } from "./step-card.tsx";
import type { Place } from "./step-draft.ts";
import { numberIn, useStepEditor } from "./step-editor.ts";
import { type Branch, outlineOf } from "./step-outline.ts";

/** The steps as nested lists: for phones, and for whoever prefers reading to looking. */
export function StepList() {
  const { draft } = useStepEditor().history;
  const branches = useMemo(() => outlineOf(draft), [draft]);
  const start: Place = { before: draft[0]?.key ?? null };
  return (
    <div className="step-list">
      <StartCard />
      <AddStep place={start} isWide={draft.length === 0} />
      {branches.map((branch) => (
        <BranchList key={branch.blocks[0]?.step.key} branch={branch} label="Steps" />
      ))}
    </div>
  );
}

function BranchList({ branch, label }: { branch: Branch; label: string }) {
  const { history, open } = useStepEditor();
  const { blocks, end } = branch;
  return (
    <>
      {blocks.length > 0 && (
        <ol className="branch" aria-label={label}>
          {blocks.map(({ step, number, branches }, i) => (
            <li key={step.key}>
              <StepCard step={step} number={number} />
              {branches.map(({ outlet, branch: inner }) => (
                <div key={outlet} className={`inner-branch ${outlet}`}>
                  <span className={`outlet ${outlet}`}>{outletLabels[outlet]}</span>
                  <AddStep place={{ from: step.key, outlet }} />
                  <BranchList
                    branch={inner}
                    label={`Branch ${outletLabels[outlet]} of step ${number}`}
                  />
                </div>
              ))}
              {branches.length === 0 ? (
                <AddStep place={{ from: step.key, outlet: "next" }} />
              ) : (
                blocks[i + 1] && <AddStep place={{ before: blocks[i + 1]!.step.key }} />
              )}
            </li>
          ))}
        </ol>
      )}
      {end === "ends" && <p className="way-end">End</p>}
      {typeof end === "object" && (
        <button type="button" className="way-end" onClick={() => open(end.goesTo)}>
          Goes on with step {numberIn(history.draft)(end.goesTo)}
        </button>
      )}
    </>
  );
}
