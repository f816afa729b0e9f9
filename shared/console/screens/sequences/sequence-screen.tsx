import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { SequenceDetail } from "pennymail";
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { sequenceQueries } from "../../data/sequence-queries.ts";
import { useRight } from "../../data/session.ts";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { MissingNote } from "../../parts/missing-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { RecordLoading } from "../../parts/record-loading.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useUnsavedChanges } from "../../parts/unsaved-changes.ts";
import { SequenceActions } from "./sequence-actions.tsx";
import { stepOf } from "./step-draft.ts";
import { type StepEditor, StepEditorProvider, type WalkMarks } from "./step-editor.ts";
import {
  type ChoiceKind,
  kindsOfActions,
  kindsOfTriggers,
  namesIn,
  type PeopleKind,
  useChoices,
} from "./step-texts.ts";
import { StepsView } from "./steps-view.tsx";
import { type StepDraft, useStepDraft } from "./use-step-draft.ts";

const loadPanel = () => import("./step-panel.tsx");
const StepPanel = lazy(() => loadPanel().then((module) => ({ default: module.StepPanel })));
const WalkPanel = lazy(async () => ({
  default: (await import("./walk-panel.tsx")).WalkPanel,
}));
const SequenceContacts = lazy(async () => ({
  default: (await import("./sequence-contacts.tsx")).SequenceContacts,
}));
const SequenceSettings = lazy(async () => ({
  default: (await import("./sequence-settings.tsx")).SequenceSettings,
}));

export function SequenceScreen() {
  const { id } = useParams({ from: "/shell/sequences/$id/{-$part}" });
  const { data, error } = useQuery(sequenceQueries.detail(id));
  if (!data)
    return (
      <RecordLoading
        missing={t("This sequence does not exist")}
        list={{ to: "/sequences", label: t("Show all sequences") }}
        error={error}
      />
    );
  return <LoadedSequence key={id} sequence={data} />;
}

const parts = [
  { part: undefined, label: t("Steps") },
  { part: "contacts", label: t("Contacts") },
  { part: "settings", label: t("Settings") },
] as const;

const groupKinds = ["tags", "lists"] as const;

/** The draft of the steps stays while the person looks at contacts or settings. */
function LoadedSequence({ sequence }: { sequence: SequenceDetail }) {
  const { part } = useParams({ from: "/shell/sequences/$id/{-$part}" });
  const search = useSearch({ from: "/shell/sequences/$id/{-$part}" });
  const navigate = useNavigate({ from: "/sequences/$id/{-$part}" });
  const mayWrite = useRight("marketing:write");
  const [isWalking, setWalking] = useState(false);
  const open = useCallback(
    (key: string | undefined, people?: PeopleKind) => {
      if (key !== undefined) setWalking(false);
      navigate({ search: (old) => ({ ...old, step: key, people }), replace: true });
    },
    [navigate],
  );
  const [walk, setWalk] = useState<WalkMarks>();
  const openKey = part === undefined && search.step !== undefined ? String(search.step) : undefined;
  const steps = useStepDraft(sequence, (renamed) => {
    const key = openKey && renamed.get(openKey);
    if (key && key !== openKey) open(key);
  });
  const kinds = new Set<ChoiceKind>(["templates", ...kindsOfTriggers([sequence])]);
  for (const kind of kindsOfActions(steps.history.draft)) kinds.add(kind);
  const hasConditions = steps.history.draft.some(({ type }) => type === "condition");
  if (hasConditions || part === "settings") for (const kind of groupKinds) kinds.add(kind);
  if (part === "settings") kinds.add("forms");
  const choices = useChoices(sequence.siteId, kinds);
  // Contacts and settings of the sequence keep the steps.
  useUnsavedChanges(steps.isDirty, `/sequences/${sequence.id}`);
  const { history, refusals } = steps;
  const names = namesIn(choices);
  const editor: StepEditor = {
    ...{ sequence, history, choices, names, mayWrite, refusals, openKey, walk, open },
  };
  const step = stepOf(history.draft, openKey);
  const showsWalk = isWalking && part === undefined && !step;
  useEffect(() => {
    loadPanel();
  }, []);
  return (
    <StepEditorProvider value={editor}>
      <div className={step || showsWalk ? "split with-drawer" : "split"}>
        <div className={part === "contacts" ? "page list-page part-page" : "page sequence-page"}>
          <SequenceHead sequence={sequence} steps={steps} />
          <MissingNote missing={sequence.missing} />
          <nav className="tabs" aria-label={t("Parts of the sequence")}>
            {parts.map((one) => (
              <Link
                key={one.label}
                to="/sequences/$id/{-$part}"
                params={{ id: sequence.id, part: one.part }}
                activeOptions={{ exact: true, includeSearch: false }}
              >
                {one.label}
              </Link>
            ))}
          </nav>
          {part === undefined && (
            <StepsView
              steps={steps}
              onWalk={() => {
                open(undefined);
                setWalking(true);
              }}
            />
          )}
          <Suspense>
            {part === "contacts" && <SequenceContacts sequence={sequence} />}
            {part === "settings" && <SequenceSettings sequence={sequence} />}
          </Suspense>
        </div>
        {step && (
          <Suspense fallback={<aside className="drawer" aria-label={t("Step")} />}>
            <StepPanel key={step.key} step={step} />
          </Suspense>
        )}
        {showsWalk && (
          <Suspense fallback={<aside className="drawer" aria-label={t("Walk")} />}>
            <WalkPanel
              isDirty={steps.isDirty}
              onMarks={setWalk}
              onClose={() => setWalking(false)}
            />
          </Suspense>
        )}
      </div>
    </StepEditorProvider>
  );
}

function SequenceHead({ sequence, steps }: { sequence: SequenceDetail; steps: StepDraft }) {
  const { name, status, statusReason, stats, goals } = sequence;
  return (
    <PageHead
      title={name}
      note={
        <>
          {tNodes("<link>Sequences</link> · {status} {active} in it now · {completed} completed", {
            link: (text) => <Link to="/sequences">{text}</Link>,
            status: <StatusMark status={status} />,
            active: formatNumber(stats.active),
            completed: formatNumber(stats.completed),
          })}
          {(goals.length > 0 || stats.converted > 0) && ` · ${conversionsText(stats)}`}
          {statusReason && ` · ${statusReason}`}
        </>
      }
    >
      <SequenceActions sequence={sequence} steps={steps} />
    </PageHead>
  );
}

const conversionsText = ({ converted, value }: SequenceDetail["stats"]): string =>
  value
    ? t("{count, plural, one {# conversion} other {# conversions}} worth {worth}", {
        count: converted,
        worth: formatNumber(value),
      })
    : t("{count, plural, one {# conversion} other {# conversions}}", { count: converted });
