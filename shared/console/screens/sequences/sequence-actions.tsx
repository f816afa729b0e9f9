import { ActionIcon, Button, Menu } from "@mantine/core";
import { IconDots, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import type { SequenceDetail } from "pennymail";
import { type ReactNode, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { useStepEditor } from "./step-editor.ts";
import { problemsOf } from "./step-problems.ts";
import { triggerText } from "./step-texts.ts";
import type { StepDraft } from "./use-step-draft.ts";

type Kind = "activate" | "pause" | "archive" | "delete";

interface ActionsProps {
  sequence: SequenceDetail;
  steps: StepDraft;
}

const labels: Record<Kind, string> = {
  activate: t("Activate sequence"),
  pause: t("Pause sequence"),
  archive: t("Archive sequence"),
  delete: t("Delete sequence"),
};

/** Each asks first and says what it will do. */
export function SequenceActions({ sequence, steps }: ActionsProps) {
  const { mayWrite } = useStepEditor();
  const [asked, setAsked] = useState<Kind>();
  const navigate = useNavigate();
  const running = useChange({
    run: (kind: Kind) => run(sequence.id, kind),
    refreshes: ["sequences"],
    onDone: async (_, kind) => {
      setAsked(undefined);
      if (kind === "delete") await navigate({ to: "/sequences", ignoreBlocker: true });
    },
  });
  if (!mayWrite) return null;
  const { status } = sequence;
  return (
    <>
      {status === "active" ? (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={16} />}
          onClick={() => setAsked("pause")}
        >
          {labels.pause}
        </Button>
      ) : (
        <Button
          leftSection={<IconPlayerPlay size={16} />}
          disabled={steps.isDirty}
          onClick={() => setAsked("activate")}
        >
          {labels.activate}
        </Button>
      )}
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label={t("More actions")}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {status !== "archived" && (
            <Menu.Item onClick={() => setAsked("archive")}>{labels.archive}</Menu.Item>
          )}
          <Menu.Item color="red" onClick={() => setAsked("delete")}>
            {labels.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        title={sequence.name}
        action={asked ? labels[asked] : ""}
        isDangerous={asked === "delete"}
        target={asked}
        change={running}
        typed={asked === "delete" ? sequence.name : undefined}
        onClose={() => {
          running.reset();
          setAsked(undefined);
        }}
      >
        {asked && <Consequence kind={asked} sequence={sequence} steps={steps} />}
      </ConfirmDialog>
    </>
  );
}

const statusAfter = { activate: "active", pause: "paused", archive: "archived" } as const;

const run = (id: number, kind: Kind): Promise<unknown> =>
  kind === "delete"
    ? api.sequences.delete(id)
    : api.sequences.update(id, { status: statusAfter[kind] });

/** What the action will do. */
function Consequence({ kind, sequence, steps }: ActionsProps & { kind: Kind }): ReactNode {
  const { names } = useStepEditor();
  const { active } = sequence.stats;
  if (kind === "activate") {
    const open = steps.history.draft.filter((step) => problemsOf(step).length > 0).length;
    return (
      <div className="stack">
        <p>
          {t("From now on, a contact who {event} gets these steps.", {
            event: triggerText(sequence, names),
          })}{" "}
          {active > 0 &&
            t(
              "{active, plural, one {# contact who waits goes} other {# contacts who wait go}} " +
                "on within a minute.",
              { active },
            )}
        </p>
        {open > 0 && (
          <p className="tone-warn">
            {t("{open, plural, one {# step is} other {# steps are}} not complete yet.", { open })}
          </p>
        )}
      </div>
    );
  }
  const stay = t(
    "{active, plural, one {# contact in it stays at its step and gets no email} other " +
      "{# contacts in it stay at their steps and get no email}}",
    { active },
  );
  const texts: Record<Exclude<Kind, "activate">, string> = {
    pause: t("Nobody starts, and {stay} until you activate the sequence again.", { stay }),
    archive: t("Nobody can be added any more, and {stay}. You can activate it again.", { stay }),
    delete: t(
      "{active, plural, one {# contact leaves} other {# contacts leave}} the sequence, and its " +
        "emails that wait are not sent. Its numbers are lost. This cannot be undone; to keep " +
        "them, archive it.",
      { active },
    ),
  };
  return <p>{texts[kind]}</p>;
}
