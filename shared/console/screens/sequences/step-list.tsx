import { useMemo } from "react";
import { t } from "../../language/translate.ts";
import { AddStep } from "./add-step.tsx";
import { StartCard } from "./start-card.tsx";
import { StepCard } from "./step-card.tsx";
import type { Place } from "./step-changes.ts";
import { outletsOf } from "./step-draft.ts";
import { numberIn, useStepEditor } from "./step-editor.ts";
import { type Branch, outlineOf } from "./step-outline.ts";
import { outletLabel } from "./step-texts.ts";

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
        <BranchList key={branch.blocks[0]?.step.key} branch={branch} label={t("Steps")} />
      ))}
    </div>
  );
}

function BranchList({ branch, label }: { branch: Branch; label: string }) {
  const { history, walk, open } = useStepEditor();
  const { blocks, end } = branch;
  const isExit = blocks.at(-1)?.step.type === "exit";
  return (
    <>
      {blocks.length > 0 && (
        <ol className="branch" aria-label={label}>
          {blocks.map(({ step, number, branches }, i) => (
            <li key={step.key}>
              <StepCard step={step} number={number} />
              {branches.map(({ outlet, branch: inner }) => (
                <div key={outlet} className={`inner-branch ${outlet}`}>
                  <span
                    className={`outlet ${outlet}`}
                    data-walked={walk?.outlets.has(`${step.key} ${outlet}`) || undefined}
                  >
                    {outletLabel(step, outlet)}
                  </span>
                  <AddStep place={{ from: step.key, outlet }} />
                  <BranchList
                    branch={inner}
                    label={t("Branch {step} of step {number}", {
                      step: outletLabel(step, outlet),
                      number,
                    })}
                  />
                </div>
              ))}
              {branches.length === 0
                ? outletsOf(step).map((outlet) => (
                    <AddStep key={outlet} place={{ from: step.key, outlet }} />
                  ))
                : blocks[i + 1] && <AddStep place={{ before: blocks[i + 1]!.step.key }} />}
            </li>
          ))}
        </ol>
      )}
      {end === "ends" && !isExit && <p className="way-end">{t("End")}</p>}
      {typeof end === "object" && (
        <button type="button" className="way-end" onClick={() => open(end.goesTo)}>
          {t("Goes on with step {goesTo}", { goesTo: numberIn(history.draft)(end.goesTo) })}
        </button>
      )}
    </>
  );
}
