import { ActionIcon, Button } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ContactAction } from "pennymail";
import { useEffect } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useShownJob } from "../../data/jobs.ts";
import { queries } from "../../data/queries.ts";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";

interface ActionProgressProps {
  id: number;
  onClose(): void;
}

/** How far an action on many contacts is. Its id is part of the address. */
export function ActionProgress({ id, onClose }: ActionProgressProps) {
  const { data: action, error } = useQuery(queries.contactAction(id));
  useShownJob("contact_action", id);
  const queryClient = useQueryClient();
  const isOver = action !== undefined && !isRunning(action);
  useEffect(() => {
    if (isOver) void queryClient.invalidateQueries({ queryKey: ["contacts"] });
  }, [isOver, queryClient]);
  const cancelling = useChange({
    run: () => api.contactActions.cancel(id),
    refreshes: ["contactActions"],
  });
  if (!action) return <ErrorNote error={error} />;
  const { status, summary, progress, failed, errors } = action;
  return (
    <section className="answer" aria-label={t("Action on many contacts")} role="status">
      <StatusMark status={status} tone={toneOf(action)} />
      <div>
        <p>{summary}</p>
        {!isOver && (
          <progress
            className="wide-progress"
            max={100}
            value={progress}
            aria-label={t("Progress")}
          />
        )}
        {failed > 0 && (
          <p className="quiet">
            {errors[0]
              ? t("{failed} not done, for example: {error}", {
                  failed: formatNumber(failed),
                  error: errors[0].error,
                })
              : t("{failed} not done", { failed: formatNumber(failed) })}
          </p>
        )}
        {action.error && <p className="tone-bad">{action.error}</p>}
        <ErrorNote error={cancelling.error} />
      </div>
      {isOver ? (
        <ActionIcon variant="subtle" color="gray" aria-label={t("Close")} onClick={onClose}>
          <IconX size={16} />
        </ActionIcon>
      ) : (
        <Button
          variant="default"
          size="compact-sm"
          loading={cancelling.isPending || status === "cancelling"}
          onClick={() => cancelling.mutate()}
        >
          {t("Stop")}
        </Button>
      )}
    </section>
  );
}

const isRunning = ({ status }: ContactAction): boolean =>
  ["queued", "running", "cancelling"].includes(status);

function toneOf(action: ContactAction) {
  if (isRunning(action)) return "info";
  return action.status === "completed" ? "good" : "bad";
}
