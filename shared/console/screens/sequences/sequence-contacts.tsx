import { Button, MultiSelect, Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconUserPlus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { EnrollmentOutcome, ListedEnrollment, SequenceDetail } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { sequenceQueries } from "../../data/sequence-queries.ts";
import { useMe } from "../../data/session.ts";
import { formatAgo, formatAhead, formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FilterSelect, statusOptions } from "../../parts/filters.tsx";
import { FormDialog } from "../../parts/form.tsx";
import { RowMenu } from "../../parts/row-menu.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { numberIn, useStepEditor } from "./step-editor.ts";
import { labelOf } from "./step-texts.ts";

const statuses = ["active", "completed", "cancelled", "failed"] as const;
type Status = (typeof statuses)[number];

/** The contacts of a sequence: at which step each is, or how it left. */
export function SequenceContacts({ sequence }: { sequence: SequenceDetail }) {
  const search = useSearch({ from: "/shell/sequences/$id/{-$part}" });
  const navigate = useNavigate({ from: "/sequences/$id/{-$part}" });
  const { timezone } = useMe().organization;
  const { mayWrite } = useStepEditor();
  const [isAdding, setAdding] = useState(false);
  const [chosen, setChosen] = useState<ListedEnrollment>();
  const step = Number(search.step) || undefined;
  const list = usePagedRows(
    sequenceQueries.enrollments(sequence.id, {
      ...(search.status && { status: search.status as Status }),
      ...(step && { stepId: step }),
    }),
    ({ enrollments }) => enrollments,
  );
  const stepOptions = useStepOptions();
  const change = (next: Partial<typeof search>) =>
    navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const open = (row: ListedEnrollment) =>
    navigate({ to: "/contacts", search: { contact: row.contactId } });
  const columns = columnsIn(timezone, stepOptions);
  if (mayWrite) columns.push(menuOf(setChosen));
  return (
    <>
      <search className="filters">
        <FilterSelect
          label={t("Step")}
          any={t("Any step")}
          options={stepOptions}
          value={step}
          onChange={(value) => change({ step: value ? Number(value) : undefined })}
        />
        <FilterSelect
          label={t("Status")}
          any={t("Any status")}
          options={statusOptions(statuses)}
          value={search.status}
          onChange={(status) => change({ status })}
        />
        {mayWrite && sequence.status !== "archived" && (
          <Button
            className="filters-end"
            leftSection={<IconUserPlus size={16} />}
            onClick={() => setAdding(true)}
          >
            {t("Add contacts")}
          </Button>
        )}
      </search>
      <RowTable
        label={t("Contacts in the sequence")}
        columns={columns}
        list={list}
        onOpen={open}
        empty={
          <EmptyState title={t("Nobody here")}>
            <p>
              {search.status || step
                ? t("No contact has this status at this step.")
                : t("Contacts come here by the trigger of the sequence, or when you add them.")}
            </p>
          </EmptyState>
        }
      />
      <AddContacts sequence={sequence} opened={isAdding} onClose={() => setAdding(false)} />
      <LeaveSequence sequence={sequence} enrollment={chosen} onClose={() => setChosen(undefined)} />
    </>
  );
}

interface StepOption {
  value: string;
  label: string;
}

/** The stored steps, each with its number and what it does. */
function useStepOptions(): StepOption[] {
  const { history, names, sequence } = useStepEditor();
  const { draft } = history;
  const numberOf = numberIn(draft);
  const stored = new Set(sequence.steps.map(({ id }) => String(id)));
  return draft
    .filter(({ key }) => stored.has(key))
    .map((step) => ({
      value: step.key,
      label: labelOf(step, { names, numberOf }),
    }));
}

const columnsIn = (timezone: string, steps: StepOption[]): Column<ListedEnrollment>[] => [
  {
    label: t("Contact"),
    className: "c-main",
    render: ({ contactEmail }) => (
      <b>{contactEmail ?? <span className="quiet">{t("Deleted contact")}</span>}</b>
    ),
  },
  {
    label: t("Status"),
    className: "c-status",
    render: ({ status }) => <StatusMark status={status} />,
  },
  {
    label: t("Step"),
    className: "c-step",
    render: ({ currentStepId, status, failureReason }) => {
      const step = steps.find(({ value }) => value === String(currentStepId))?.label;
      if (status === "active") return step ?? t("Before the first step");
      const reason =
        failureReason && failureReason !== status
          ? ` (${reasonTexts[failureReason] ?? failureReason})`
          : "";
      return (
        <span className="quiet">
          {status === "completed" ? t("The end") : `${step ?? "–"}${reason}`}
        </span>
      );
    },
  },
  {
    label: t("Goes on"),
    className: "c-when",
    render: ({ nextRunAt }) => (nextRunAt ? formatAhead(nextRunAt, timezone) : "–"),
  },
  {
    label: t("Came in"),
    className: "c-added quiet",
    render: ({ createdAt }) => formatAgo(createdAt, timezone),
  },
];

const menuOf = (leave: (row: ListedEnrollment) => void): Column<ListedEnrollment> => ({
  label: t("Actions"),
  className: "c-menu num",
  isAction: true,
  render: (row) =>
    row.status === "active" && (
      <RowMenu
        name={row.contactEmail ?? t("Contact")}
        actions={[
          { label: t("Take out of the sequence"), isDangerous: true, run: () => leave(row) },
        ]}
      />
    ),
});

const reasonTexts: Record<string, string> = {
  unsubscribed: t("unsubscribed"),
  pending: t("not confirmed"),
  suppressed: t("suppressed"),
  contact_deleted: t("contact deleted"),
};

interface LeaveSequenceProps {
  sequence: SequenceDetail;
  enrollment: ListedEnrollment | undefined;
  onClose(): void;
}

/** Takes one contact out. */
function LeaveSequence({ sequence, enrollment, onClose }: LeaveSequenceProps) {
  const removing = useChange({
    run: ({ id }: ListedEnrollment) =>
      api.sequences.cancelEnrollment(sequence.id, { enrollmentId: id }),
    refreshes: ["sequences"],
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      title={enrollment?.contactEmail ?? t("Contact")}
      action={t("Take out of the sequence")}
      isDangerous
      target={enrollment}
      change={removing}
      onClose={onClose}
    >
      {t(
        "The contact gets no further email of “{name}”. Emails that were sent " +
          "stay in its history. It can be added again and then starts from the " +
          "beginning.",
        { name: sequence.name },
      )}
    </ConfirmDialog>
  );
}

interface AddContactsProps {
  sequence: SequenceDetail;
  opened: boolean;
  onClose(): void;
}

const maxContacts = 100;

function AddContacts({ sequence, opened, onClose }: AddContactsProps) {
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const [text, setText] = useState("");
  const [searched] = useDebouncedValue(text.trim(), 300);
  const [start, setStart] = useState<string | null>(null);
  const [outcome, setOutcome] = useState<EnrollmentOutcome>();
  const stepOptions = useStepOptions();
  const { data } = useInfiniteQuery({
    ...queries.contacts({
      siteId: sequence.siteId,
      status: "subscribed",
      ...(searched && { search: searched }),
    }),
    enabled: opened,
  });
  const found = data?.pages[0]?.contacts ?? [];
  const adding = useChange({
    run: () =>
      api.sequences.enrollContacts(sequence.id, {
        contactIds: [...chosen.keys()].map(Number),
        ...(start && {
          startAtStep: sequence.steps.find(({ id }) => String(id) === start)!.stepOrder,
        }),
      }),
    refreshes: ["sequences"],
    onDone: (result) => {
      setChosen(new Map());
      if (result.failed.length === 0) close();
      else setOutcome(result);
    },
  });
  const close = () => {
    setOutcome(undefined);
    adding.reset();
    onClose();
  };
  const known = new Map([...chosen, ...found.map(({ id, email }) => [String(id), email] as const)]);
  const count = chosen.size;
  return (
    <FormDialog
      title={t("Add contacts to “{name}”", { name: sequence.name })}
      action={t("Add {count, plural, one {# contact} other {# contacts}}", { count })}
      submission={adding}
      isDisabled={count === 0}
      opened={opened}
      onClose={close}
    >
      <MultiSelect
        label={t("Contacts")}
        description={t("Search by address or name. Only subscribed contacts can be added.")}
        placeholder={count === 0 ? t("Search contacts") : ""}
        searchable
        hidePickedOptions
        maxValues={maxContacts}
        // The API has searched already.
        filter={({ options }) => options}
        nothingFoundMessage={t("No subscribed contact is found")}
        data={[...known].map(([value, label]) => ({ value, label }))}
        value={[...chosen.keys()]}
        onChange={(ids) => setChosen(new Map(ids.map((id) => [id, known.get(id) ?? id])))}
        searchValue={text}
        onSearchChange={setText}
        data-autofocus
      />
      <Select
        label={t("Start with (optional)")}
        placeholder={t("The first step")}
        clearable
        data={stepOptions}
        value={start}
        onChange={setStart}
      />
      {sequence.status !== "active" && (
        <p className="quiet">
          {t("The sequence is not active: contacts wait until you activate it.")}
        </p>
      )}
      {outcome && (
        <div role="status">
          <p>
            {t("{enrolled} added. {failed} could not be added:", {
              enrolled: formatNumber(outcome.enrolled),
              failed: formatNumber(outcome.failed.length),
            })}
          </p>
          {outcome.failed.slice(0, 5).map(({ contactId, error }) => (
            <p key={contactId} className="tone-bad">
              {error}
            </p>
          ))}
        </div>
      )}
    </FormDialog>
  );
}
