import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { SequenceDetail } from "pennymail";
import { sequenceQueries } from "../../data/sequence-queries.ts";
import { useRight } from "../../data/session.ts";
import { formatNumber } from "../../format.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { RecordLoading } from "../../parts/record-loading.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useUnsavedChanges } from "../../parts/unsaved-changes.ts";
import { SequenceActions } from "./sequence-actions.tsx";
import { SequenceContacts } from "./sequence-contacts.tsx";
import { SequenceSettings } from "./sequence-settings.tsx";
import { stepOf } from "./step-draft.ts";
import { type StepEditor, StepEditorProvider } from "./step-editor.ts";
import { StepPanel } from "./step-panel.tsx";
import { type ChoiceKind, kindsOfTriggers, namesIn, useChoices } from "./step-texts.ts";
import { StepsView } from "./steps-view.tsx";
import { type StepDraft, useStepDraft } from "./use-step-draft.ts";

export function SequenceScreen() {
  const { id } = useParams({ from: "/shell/sequences/$id/{-$part}" });
  const { data, error } = useQuery(sequenceQueries.detail(id));
  if (!data) return <RecordLoading noun="sequence" list="/sequences" error={error} />;
  return <LoadedSequence key={id} sequence={data} />;
}

const parts = [
  { part: undefined, label: "Steps" },
  { part: "contacts", label: "Contacts" },
  { part: "settings", label: "Settings" },
] as const;

const groupKinds = ["tags", "lists"] as const;

/** The draft of the steps stays while the person looks at contacts or settings. */
function LoadedSequence({ sequence }: { sequence: SequenceDetail }) {
  const { part } = useParams({ from: "/shell/sequences/$id/{-$part}" });
  const search = useSearch({ from: "/shell/sequences/$id/{-$part}" });
  const navigate = useNavigate({ from: "/sequences/$id/{-$part}" });
  const mayWrite = useRight("marketing:write");
  const open = (key: string | undefined) =>
    navigate({ search: (old) => ({ ...old, step: key }), replace: true });
  const openKey = part === undefined && search.step !== undefined ? String(search.step) : undefined;
  const steps = useStepDraft(sequence, (renamed) => {
    const key = openKey && renamed.get(openKey);
    if (key) open(key);
  });
  const kinds = new Set<ChoiceKind>(["templates", ...kindsOfTriggers([sequence])]);
  const hasConditions = steps.history.draft.some(({ type }) => type === "condition");
  if (hasConditions || part === "settings") for (const kind of groupKinds) kinds.add(kind);
  if (part === "settings") kinds.add("forms");
  const choices = useChoices(sequence.siteId, kinds);
  // Contacts and settings of the sequence keep the steps.
  useUnsavedChanges(steps.isDirty, `/sequences/${sequence.id}`);
  const { history, refusals } = steps;
  const names = namesIn(choices);
  const editor: StepEditor = {
    ...{ sequence, history, choices, names, mayWrite, refusals, openKey, open },
  };
  const step = stepOf(history.draft, openKey);
  return (
    <StepEditorProvider value={editor}>
      <div className={step ? "split with-drawer" : "split"}>
        <div className={part === "contacts" ? "page list-page part-page" : "page sequence-page"}>
          <SequenceHead sequence={sequence} steps={steps} />
          <nav className="tabs" aria-label="Parts of the sequence">
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
          {part === undefined && <StepsView steps={steps} />}
          {part === "contacts" && <SequenceContacts sequence={sequence} />}
          {part === "settings" && <SequenceSettings sequence={sequence} />}
        </div>
        {step && <StepPanel key={step.key} step={step} />}
      </div>
    </StepEditorProvider>
  );
}

function SequenceHead({ sequence, steps }: { sequence: SequenceDetail; steps: StepDraft }) {
  const { name, status, statusReason, stats } = sequence;
  return (
    <PageHead
      title={name}
      note={
        <>
          <Link to="/sequences">Sequences</Link> · <StatusMark status={status} />{" "}
          {formatNumber(stats.active)} in it now · {formatNumber(stats.completed)} completed
          {statusReason && ` · ${statusReason}`}
        </>
      }
    >
      <SequenceActions sequence={sequence} steps={steps} />
    </PageHead>
  );
}
