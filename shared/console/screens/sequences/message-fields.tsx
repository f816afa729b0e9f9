import { ActionIcon, Button, MultiSelect, Textarea, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { CopyAction } from "../../parts/copy-action.tsx";
import { FieldChoice, personFields } from "./field-choice.tsx";
import type { StepAction } from "./step-draft.ts";
import { useStepEditor } from "./step-editor.ts";

interface ActionProps {
  given: StepAction;
  onChange(action: StepAction): void;
}

/** The action without the fields that are empty. */
const withFields = (given: StepAction, changes: Record<string, unknown>): StepAction =>
  Object.fromEntries(
    Object.entries({ ...given, ...changes }).filter(
      ([, value]) => value !== "" && !(Array.isArray(value) && value.length === 0),
    ),
  ) as StepAction;

const maxMembers = 20;

/** An email to members of the organization. */
export function NotifyFields({ given, onChange }: ActionProps) {
  const members = useQuery(queries.members()).data?.members ?? [];
  const { memberIds = [], subject = "", message = "" } = given;
  const change = (changes: Record<string, unknown>) => onChange(withFields(given, changes));
  return (
    <>
      <MultiSelect
        label={t("Members (optional)")}
        {...((memberIds as number[]).length === 0 && { placeholder: t("The owners") })}
        searchable
        maxValues={maxMembers}
        nothingFoundMessage={t("No member has this name")}
        data={members.map(({ id, name, email }) => ({ value: String(id), label: name ?? email }))}
        value={(memberIds as number[]).map(String)}
        onChange={(ids) => change({ memberIds: ids.map(Number) })}
      />
      <TextInput
        label={t("Subject (optional)")}
        maxLength={200}
        value={String(subject)}
        onChange={({ currentTarget }) => change({ subject: currentTarget.value })}
      />
      <Textarea
        label={t("Text")}
        description={t("Liquid works, such as {{ firstName }} and {{ email }}.")}
        autosize
        minRows={4}
        maxRows={12}
        maxLength={5000}
        value={String(message)}
        onChange={({ currentTarget }) => change({ message: currentTarget.value })}
      />
    </>
  );
}

interface Saved {
  path: string;
  field: string;
}

const maxSaved = 10;

/** A POST request to another system. */
export function CallFields({ given, onChange }: ActionProps) {
  const { sequence } = useStepEditor();
  const saved = (given.saveResponse ?? []) as Saved[];
  const change = (changes: Record<string, unknown>) => onChange(withFields(given, changes));
  const set = (i: number, changes: Partial<Saved>) =>
    change({ saveResponse: saved.with(i, { ...saved[i]!, ...changes }) });
  return (
    <>
      <TextInput
        label={t("URL")}
        description={t(
          "Gets a signed POST request with the contact, and is tried again on errors.",
        )}
        type="url"
        placeholder="https://"
        maxLength={2000}
        value={String(given.url ?? "")}
        onChange={({ currentTarget }) => change({ url: currentTarget.value })}
      />
      {sequence.callSecret && (
        <p className="quiet">
          {t("Requests are signed as webhooks are, with the secret of this sequence.")}{" "}
          <CopyAction value={sequence.callSecret} label={t("Copy the secret")} />
        </p>
      )}
      {saved.map(({ path, field }, i) => (
        <fieldset key={i} className="plain-fieldset stack goal">
          <legend className="visually-hidden">
            {t("Stored value {number}", { number: i + 1 })}
          </legend>
          <TextInput
            label={t("Place in the JSON of the response")}
            placeholder="customer.plan"
            maxLength={200}
            value={path}
            onChange={({ currentTarget }) => set(i, { path: currentTarget.value })}
          />
          <FieldChoice
            label={t("Is stored in")}
            value={field || undefined}
            standard={personFields}
            onChange={(chosen = "") => set(i, { field: chosen })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t("Remove stored value {number}", { number: i + 1 })}
            onClick={() => change({ saveResponse: saved.toSpliced(i, 1) })}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </fieldset>
      ))}
      {saved.length < maxSaved && (
        <div className="buttons">
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => change({ saveResponse: [...saved, { path: "", field: "" }] })}
          >
            {t("Store a value of the response")}
          </Button>
        </div>
      )}
    </>
  );
}
