import { IconBolt } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { useStepEditor } from "./step-editor.ts";
import { triggerText } from "./step-texts.ts";

/** What starts the sequence. Leads to the settings, where it is changed. */
export function StartCard() {
  const { sequence, names } = useStepEditor();
  const atSteps = sequence.steps.reduce((sum, { stats }) => sum + stats.waiting, 0);
  const here = sequence.stats.active - atSteps;
  return (
    <Link
      className="step-card start"
      to="/sequences/$id/{-$part}"
      params={{ id: sequence.id, part: "settings" }}
    >
      <span className="step-icon" aria-hidden>
        <IconBolt size={16} stroke={1.8} />
      </span>
      <span className="step-text">
        <small>{t("Start")}</small>
        <b>{t("When a contact {event}", { event: triggerText(sequence, names) })}</b>
        {here > 0 && (
          <small className="step-numbers">
            {t("{here} wait to start", { here: formatNumber(here) })}
          </small>
        )}
      </span>
    </Link>
  );
}
