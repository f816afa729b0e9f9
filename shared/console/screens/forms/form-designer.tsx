import { Button, MultiSelect, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { Form } from "pennymail";
import { type FormEvent, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { formatNumber } from "../../format.ts";
import { Card } from "../../parts/card.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { recordOptions } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { RecordLoading } from "../../parts/record-loading.tsx";
import { useUnsavedDraft } from "../../parts/unsaved-changes.ts";
import { DeleteForm } from "./delete-form.tsx";
import { type DesignDraft, toDesign, toDesignDraft } from "./design-draft.ts";
import { FieldsEditor } from "./field-editor.tsx";
import { FormPreview } from "./form-preview.tsx";

export function FormDesigner() {
  const { id } = useParams({ from: "/shell/forms/$id" });
  const { data: form, error } = useQuery(queries.form(id));
  if (!form) return <RecordLoading noun="form" list="/forms" error={error} />;
  return <Designer key={form.id} form={form} />;
}

/** What happens with a submission, and the name and status of the form. */
type Settings = Pick<
  Form,
  "name" | "status" | "listId" | "sequenceId" | "topicIds" | "tags" | "doubleOptIn" | "redirectUrl"
>;

const settingsOf = (form: Form): Settings => ({
  name: form.name,
  status: form.status,
  listId: form.listId,
  sequenceId: form.sequenceId,
  topicIds: form.topicIds,
  tags: form.tags,
  doubleOptIn: form.doubleOptIn,
  redirectUrl: form.redirectUrl,
});

function Designer({ form }: { form: Form }) {
  const mayWrite = useRight("audience:write");
  const navigate = useNavigate();
  const [settings, setSettings] = useState(() => settingsOf(form));
  const [design, setDesign] = useState(() => toDesignDraft(form));
  const [isSaved, setSaved] = useState(false);
  const [deleted, setDeleted] = useState<Form>();
  const changeSettings = (changes: Partial<Settings>) => {
    setSaved(false);
    setSettings((old) => ({ ...old, ...changes }));
  };
  const changeDesign = (changes: Partial<DesignDraft>) => {
    setSaved(false);
    setDesign((old) => ({ ...old, ...changes }));
  };
  const saving = useChange({
    run: () => api.forms.update(form.id, { ...settings, designJson: toDesign(design) }),
    refreshes: ["forms"],
    onDone: () => setSaved(true),
  });
  useUnsavedDraft({ settings, design: toDesign(design) }, saving);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <form className="page" onSubmit={submit}>
      <PageHead
        title={form.name}
        note={
          <>
            <Link to="/forms">Forms</Link> ·{" "}
            <Link to="/forms/$id/submissions" params={{ id: form.id }}>
              {formatNumber(form.submissionCount)}{" "}
              {form.submissionCount === 1 ? "submission" : "submissions"}
            </Link>{" "}
            <span role="status">{isSaved && saving.isSuccess && "· Saved"}</span>
          </>
        }
      >
        {mayWrite && (
          <>
            <Button variant="default" onClick={() => setDeleted(form)}>
              Delete
            </Button>
            <Button type="submit" loading={saving.isPending}>
              Save form
            </Button>
          </>
        )}
      </PageHead>
      <ErrorNote error={saving.error} />
      <div className="columns even">
        <fieldset className="stack plain-fieldset" disabled={!mayWrite}>
          <FormCardSettings settings={settings} onChange={changeSettings} />
          <TextsCard design={design} onChange={changeDesign} />
          <Card title="Fields">
            <FieldsEditor fields={design.fields} onChange={(fields) => changeDesign({ fields })} />
          </Card>
          <AfterCard siteId={form.siteId} settings={settings} onChange={changeSettings} />
        </fieldset>
        <div className="stack sticky">
          <Card title="Preview">
            <FormPreview name={settings.name} design={design} />
          </Card>
          <ShareCard form={form} />
        </div>
      </div>
      <DeleteForm
        form={deleted}
        onClose={() => setDeleted(undefined)}
        onDeleted={() => navigate({ to: "/forms", ignoreBlocker: true })}
      />
    </form>
  );
}

interface SettingsProps {
  settings: Settings;
  onChange(changes: Partial<Settings>): void;
}

const statuses: { value: Form["status"]; label: string }[] = [
  { value: "draft", label: "Draft: takes no submissions yet" },
  { value: "active", label: "Active: takes submissions" },
  { value: "inactive", label: "Closed: says that it is closed" },
];

function FormCardSettings({ settings, onChange }: SettingsProps) {
  return (
    <Card title="Form">
      <TextInput
        label="Name"
        required
        maxLength={200}
        value={settings.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Select
        label="Status"
        allowDeselect={false}
        data={statuses}
        value={settings.status}
        onChange={(status) => onChange({ status: status as Form["status"] })}
      />
    </Card>
  );
}

const languages = [
  { value: "", label: "That of the visitor's browser" },
  { value: "en", label: "English" },
  { value: "de", label: "German" },
  { value: "fr", label: "French" },
  { value: "es", label: "Spanish" },
];

interface TextsProps {
  design: DesignDraft;
  onChange(changes: Partial<DesignDraft>): void;
}

function TextsCard({ design, onChange }: TextsProps) {
  const bind = (name: "title" | "description" | "submitLabel" | "successMessage" | "accent") => ({
    value: design[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange({ [name]: event.currentTarget.value }),
  });
  return (
    <Card title="Texts and colour">
      <TextInput label="Heading (optional)" maxLength={200} {...bind("title")} />
      <Textarea
        label="Text below the heading (optional)"
        maxLength={2000}
        autosize
        minRows={2}
        {...bind("description")}
      />
      <TextInput label="Text of the button (optional)" maxLength={100} {...bind("submitLabel")} />
      <Textarea
        label="Thanks after the submission (optional)"
        maxLength={1000}
        autosize
        {...bind("successMessage")}
      />
      <Select
        label="Language of the other texts"
        allowDeselect={false}
        data={languages}
        value={design.language}
        onChange={(language) => onChange({ language: language as DesignDraft["language"] })}
      />
      <TextInput
        label="Colour of the button"
        type="color"
        {...bind("accent")}
        value={design.accent || "#8f431d"}
      />
    </Card>
  );
}

function AfterCard({ siteId, settings, onChange }: SettingsProps & { siteId: number }) {
  const lists = useQuery(queries.names("lists", siteId)).data;
  const tags = useQuery(queries.names("tags", siteId)).data;
  const topics = useQuery(queries.names("topics", siteId)).data;
  const sequences = useQuery(queries.names("sequences", siteId)).data;
  const { listId, sequenceId, topicIds, doubleOptIn, redirectUrl } = settings;
  return (
    <Card title="After a submission">
      <Switch
        label="Ask for confirmation by email (double opt-in)"
        description="The proof of consent that many countries ask for. Nothing happens before it."
        checked={doubleOptIn}
        onChange={(event) => {
          const isOn = event.currentTarget.checked;
          // Topics need the confirmation, because a visitor can type any address.
          onChange({ doubleOptIn: isOn, ...(!isOn && { topicIds: [] }) });
        }}
      />
      <Select
        label="Add to a list (optional)"
        clearable
        clearButtonProps={{ "aria-label": "No list" }}
        searchable
        data={recordOptions(lists)}
        value={listId === null ? null : String(listId)}
        onChange={(id) => onChange({ listId: id ? Number(id) : null })}
      />
      <TagsInput
        label="Give tags (optional)"
        data={(tags ?? []).map(({ name }) => name)}
        maxTags={20}
        value={settings.tags}
        onChange={(names) => onChange({ tags: names })}
      />
      {doubleOptIn && (
        <MultiSelect
          label="Subscribe to topics (optional)"
          data={recordOptions(topics)}
          value={topicIds.map(String)}
          onChange={(ids) => onChange({ topicIds: ids.map(Number) })}
        />
      )}
      <Select
        label="Start a sequence (optional)"
        clearable
        clearButtonProps={{ "aria-label": "No sequence" }}
        searchable
        data={recordOptions(sequences)}
        value={sequenceId === null ? null : String(sequenceId)}
        onChange={(id) => onChange({ sequenceId: id ? Number(id) : null })}
      />
      <TextInput
        label="Go on to a page of yours (optional)"
        placeholder="https://"
        type="url"
        maxLength={2000}
        value={redirectUrl ?? ""}
        onChange={(event) => onChange({ redirectUrl: event.currentTarget.value || null })}
      />
    </Card>
  );
}

/** The link of the form's own page, and the line that puts the form into another page. */
function ShareCard({ form: { pageUrl, status } }: { form: Form }) {
  const script = `<script async src="${pageUrl.replace(/page$/, "embed")}"></script>`;
  return (
    <Card title="Publish">
      {status !== "active" && (
        <p className="quiet">Visitors see that the form is closed until its status is active.</p>
      )}
      <Snippet label="Page of the form" value={pageUrl} href={pageUrl} />
      <Snippet label="Line for your own page" value={script} />
    </Card>
  );
}

interface SnippetProps {
  label: string;
  value: string;
  href?: string;
}

function Snippet({ label, value, href }: SnippetProps) {
  return (
    <div>
      <p className="quiet">
        {label} <CopyAction value={value} label={`Copy: ${label}`} />
      </p>
      <p className="mono link-cell">
        {href ? (
          <a href={href} target="_blank" rel="noreferrer">
            {value}
          </a>
        ) : (
          value
        )}
      </p>
    </div>
  );
}
