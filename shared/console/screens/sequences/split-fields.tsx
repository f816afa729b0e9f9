import { ActionIcon, Button, NumberInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { t } from "../../language/translate.ts";
import { addWay, maxWays, removeWay } from "./step-changes.ts";
import type { DraftStep } from "./step-draft.ts";
import { useStepEditor } from "./step-editor.ts";
import { shareText, wayName } from "./step-texts.ts";
import { useStepChange } from "./use-step-change.ts";

/** The ways of a split and their weights. */
export function SplitFields({ step }: { step: DraftStep }) {
  const { history } = useStepEditor();
  const change = useStepChange(step);
  const weights = step.weights ?? [];
  return (
    <>
      <p className="quiet">
        {t(
          "Each contact takes one way by chance, and stays on it. A way with " +
            "twice the weight gets twice as many contacts.",
        )}
      </p>
      {weights.map((weight, way) => (
        <div key={wayName(way)} className="split-way">
          <NumberInput
            label={t("Weight of way {way}", { way: wayName(way) })}
            min={1}
            max={1000}
            allowDecimal={false}
            suffix={` (${shareText(weights, way)})`}
            value={weight}
            onChange={(value) => change({ weights: weights.with(way, Number(value) || 1) })}
          />
          {weights.length > 2 && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t("Remove way {way}", { way: wayName(way) })}
              onClick={() => history.change(removeWay(history.draft, step, way))}
            >
              <IconTrash size={16} />
            </ActionIcon>
          )}
        </div>
      ))}
      {weights.length < maxWays && (
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => history.change(addWay(history.draft, step))}
        >
          {t("Add way {way}", { way: wayName(weights.length) })}
        </Button>
      )}
    </>
  );
}
