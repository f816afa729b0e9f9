import { Button, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { EmailPreview } from "../../parts/email-preview.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { RecordSelect } from "../../parts/record-select.tsx";
import { eventFields, sequenceFields } from "../../parts/rules/rule-catalog.ts";
import { type ConditionDraft, createCondition } from "../../parts/rules/rule-draft.ts";
import { SidePanel } from "../../parts/side-panel.tsx";
import { ActionFields } from "./action-fields.tsx";
import { DurationFields } from "./duration-fields.tsx";
import { RuleFields } from "./rule-fields.tsx";
import { SplitFields } from "./split-fields.tsx";
import { moveStep, removeStep } from "./step-changes.ts";
import { copyClip } from "./step-clipboard.ts";
import { type DraftStep, type Outlet, outletsOf, type StepRules } from "./step-draft.ts";
import { numberIn, useStepEditor } from "./step-editor.ts";
import { StepFigures } from "./step-figures.tsx";
import { problemsOf } from "./step-problems.ts";
import { copySection, sectionOf } from "./step-sections.ts";
import { labelOf, outletLabel, textOf } from "./step-texts.ts";
import { emailsBefore, possibleTargets } from "./step-ways.ts";
import { useStepChange } from "./use-step-change.ts";
import { WaitFields } from "./wait-fields.tsx";

const titles: Record<DraftStep["type"], string> = {
  email: t("Send an email"),
  delay: t("Wait"),
  condition: t("Branch on a condition"),
  split: t("Split by chance"),
  exit: t("Exit the sequence"),
  wait_until: t("Wait until something happens"),
  action: t("Take an action"),
};

export function StepPanel({ step }: { step: DraftStep }) {
  const { sequence, history, mayWrite, refusals, open } = useStepEditor();
  const stats = sequence.steps.find(({ id }) => String(id) === step.key)?.stats;
  const problem = refusals.get(step.key) ?? problemsOf(step)[0];
  const Fields = fieldsByType[step.type];
  return (
    <SidePanel
      label={t("Step")}
      title={
        <>
          <h2>{titles[step.type]}</h2>
          <p>{t("Step {key}", { key: numberIn(history.draft)(step.key) })}</p>
        </>
      }
      onClose={() => open(undefined)}
    >
      <fieldset className="plain-fieldset stack" disabled={!mayWrite}>
        <Fields step={step} />
        {problem && (
          <p className="tone-warn" role="status">
            {problem}
          </p>
        )}
        {outletsOf(step).map((outlet) => (
          <TargetSelect key={outlet} step={step} outlet={outlet} />
        ))}
      </fieldset>
      {mayWrite && <StepActions step={step} />}
      {stats && <StepFigures step={step} stats={stats} />}
    </SidePanel>
  );
}

interface StepProps {
  step: DraftStep;
}

function EmailFields({ step }: StepProps) {
  const { choices, sequence } = useStepEditor();
  const change = useStepChange(step);
  const { templates } = choices;
  const template = templates.find(({ id }) => id === step.templateId);
  return (
    <>
      <RecordSelect
        group="templates"
        siteId={sequence.siteId}
        label={t("Template")}
        placeholder={t("Choose a template")}
        nothingFoundMessage={t("No template has this name")}
        value={step.templateId}
        onChange={(id) => change({ templateId: id })}
      />
      {templates.length === 0 && (
        <p className="quiet">
          {tNodes("There is no template yet. <link>Make one first.</link>", {
            link: (text) => <Link to="/templates">{text}</Link>,
          })}
        </p>
      )}
      {step.templateId !== null && (
        <p>
          <Link to="/templates/$id" params={{ id: step.templateId }}>
            {template ? t("Edit “{name}”", { name: template.name }) : t("Edit the template")}
          </Link>
        </p>
      )}
      {step.templateId !== null && <TemplatePreview id={step.templateId} />}
      <TextInput
        label={t("Preview text (optional)")}
        description={t("Mail programs show it behind the subject. Liquid works.")}
        maxLength={255}
        value={step.previewText ?? ""}
        onChange={({ currentTarget }) => change({ previewText: currentTarget.value || null })}
      />
    </>
  );
}

function TemplatePreview({ id }: { id: number }) {
  const { data, error } = useQuery(queries.renderedDraft(id, {}));
  if (!data) return <ErrorNote error={error} />;
  return (
    <details className="preview-details">
      <summary>{t("Preview: {subject}", { subject: data.subject })}</summary>
      <EmailPreview html={data.html ?? ""} title={t("Preview of the email")} />
    </details>
  );
}

function DelayFields({ step }: StepProps) {
  const change = useStepChange(step);
  return (
    <DurationFields
      label={t("Wait for")}
      minutes={step.delayMinutes}
      onChange={(delayMinutes) => change({ delayMinutes })}
    />
  );
}

const noRules: StepRules = { match: "all", conditions: [] };

/** Most branches ask whether the last email was opened. */
const firstCondition = (email: string | undefined): ConditionDraft =>
  email ? { ...createCondition("step"), subject: email } : createCondition("tag");

function ConditionFields({ step }: StepProps) {
  const change = useStepChange(step);
  const { history, names } = useStepEditor();
  const numberOf = numberIn(history.draft);
  const emails = emailsBefore(history.draft, step.key).map((email) => ({
    value: email.key,
    label: `${numberOf(email.key)}. ${textOf(email, { names, numberOf })}`,
  }));
  const choices = {
    groups: [sequenceFields, eventFields],
    emails,
    createFirst: () => firstCondition(emails.at(-1)?.value),
  };
  const rules = step.rules ?? noRules;
  return (
    <RuleFields rules={rules} choices={choices} onChange={(next) => change({ rules: next })} />
  );
}

function ExitFields() {
  return <p className="quiet">{t("A contact who comes here has completed the sequence.")}</p>;
}

const fieldsByType = {
  email: EmailFields,
  delay: DelayFields,
  condition: ConditionFields,
  split: SplitFields,
  exit: ExitFields,
  wait_until: WaitFields,
  action: ActionFields,
};

const end = "end";

/** Where the way goes on. Branches meet again when both lead to the same step. */
function TargetSelect({ step, outlet }: StepProps & { outlet: Outlet }) {
  const { history, names } = useStepEditor();
  const { draft } = history;
  const numberOf = numberIn(draft);
  const targets = possibleTargets(draft, step.key);
  const label =
    outletsOf(step).length === 1
      ? t("Then go on with")
      : t("{step}: go on with", { step: outletLabel(step, outlet) });
  const change = useStepChange(step);
  return (
    <Select
      label={label}
      allowDeselect={false}
      data={[
        ...targets.map((target) => ({
          value: target.key,
          label: labelOf(target, { names, numberOf }),
        })),
        { value: end, label: t("The end of the sequence") },
      ]}
      value={step.to[outlet] ?? end}
      onChange={(key) => change({ to: { ...step.to, [outlet]: key === end ? null : key } })}
    />
  );
}

function StepActions({ step }: StepProps) {
  const { history, sequence, open } = useStepEditor();
  const { draft } = history;
  const after = removeStep(draft, step.key);
  const others = draft.length - after.length - 1;
  const own = sectionOf(draft, step.key, "step");
  const rest = sectionOf(draft, step.key, "rest");
  const [copied, setCopied] = useState(0);
  const copies = [own, rest && rest.keys.size > (own?.keys.size ?? 0) ? rest : undefined];
  return (
    <div className="buttons">
      {outletsOf(step).length === 1 &&
        (["up", "down"] as const).map((direction) => {
          const moved = moveStep(draft, step.key, direction);
          return (
            <Button
              key={direction}
              size="xs"
              variant="default"
              disabled={!moved}
              onClick={() => moved && history.change(moved)}
            >
              {t("Move {direction}", { direction })}
            </Button>
          );
        })}
      {copies.map(
        (section, i) =>
          section && (
            <Button
              key={section === rest ? "rest" : "step"}
              size="xs"
              variant="default"
              onClick={() => {
                copyClip(sequence.siteId, copySection(draft, section));
                setCopied(section.keys.size);
              }}
            >
              {i === 0 ? t("Copy") : t("Copy from here on")}
            </Button>
          ),
      )}
      <Button
        size="xs"
        variant="default"
        color="red"
        onClick={() => {
          history.change(after);
          open(undefined);
        }}
      >
        {others > 0 ? t("Delete {count} steps", { count: others + 1 }) : t("Delete step")}
      </Button>
      <p className="quiet" role="status">
        {copied > 0 &&
          t(
            "{copied, plural, one {# step} other {# steps}} copied. Paste with a plus on the " +
              "canvas.",
            { copied },
          )}
      </p>
    </div>
  );
}
