import { Button, MultiSelect, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { Form } from "pennymail";
import { type FormEvent, useState } from "react";
import { languages } from "../../../email/languages.ts";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { recordOptions } from "../../parts/filters.tsx";
import { languageName } from "../../parts/language-name.ts";
import { MissingNote } from "../../parts/missing-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { RecordLoading } from "../../parts/record-loading.tsx";
import { RecordSelect, TagNamesInput } from "../../parts/record-select.tsx";
import { useUnsavedDraft } from "../../parts/unsaved-changes.ts";
import { CaptchaCard, toCaptchaDraft, toCaptchaRequest } from "./captcha-card.tsx";
import { DeleteForm } from "./delete-form.tsx";
import { type DesignDraft, toDesign, toDesignDraft } from "./design-draft.ts";
import { FieldsEditor } from "./field-editor.tsx";
import { FormPreview } from "./form-preview.tsx";

export function FormDesigner() {
  const { id } = useParams({ from: "/shell/forms/$id" });
  const { data: form, error } = useQuery(queries.form(id));
  if (!form)
    return (
      <RecordLoading
        missing={t("This form does not exist")}
        list={{ to: "/forms", label: t("Show all forms") }}
        error={error}
      />
    );
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
  const [captcha, setCaptcha] = useState(() => toCaptchaDraft(form.captcha));
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
  const request = {
    ...settings,
    captcha: toCaptchaRequest(captcha),
    designJson: toDesign(design),
  };
  const saving = useChange({
    run: () => api.forms.update(form.id, request),
    refreshes: ["forms"],
    onDone: () => setSaved(true),
  });
  useUnsavedDraft(request, saving);
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
            <Link to="/forms">{t("Forms")}</Link> ·{" "}
            <Link to="/forms/$id/submissions" params={{ id: form.id }}>
              {t("{count, plural, one {# submission} other {# submissions}}", {
                count: form.submissionCount,
              })}
            </Link>{" "}
            <span role="status">{isSaved && saving.isSuccess && `· ${t("Saved")}`}</span>
          </>
        }
      >
        {mayWrite && (
          <>
            <Button variant="default" onClick={() => setDeleted(form)}>
              {t("Delete")}
            </Button>
            <Button type="submit" loading={saving.isPending}>
              {t("Save form")}
            </Button>
          </>
        )}
      </PageHead>
      <MissingNote missing={form.missing} />
      <ErrorNote error={saving.error} />
      <div className="columns even">
        <fieldset className="stack plain-fieldset" disabled={!mayWrite}>
          <FormCardSettings settings={settings} onChange={changeSettings} />
          <TextsCard design={design} onChange={changeDesign} />
          <Card title={t("Fields")}>
            <FieldsEditor fields={design.fields} onChange={(fields) => changeDesign({ fields })} />
          </Card>
          <CaptchaCard
            captcha={captcha}
            isStored={form.captcha !== null}
            onChange={(changes) => {
              setSaved(false);
              setCaptcha((old) => ({ ...old, ...changes }));
            }}
          />
          <AfterCard siteId={form.siteId} settings={settings} onChange={changeSettings} />
        </fieldset>
        <div className="stack sticky">
          <Card title={t("Preview")}>
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
  { value: "draft", label: t("Draft: takes no submissions yet") },
  { value: "active", label: t("Active: takes submissions") },
  { value: "inactive", label: t("Closed: says that it is closed") },
];

function FormCardSettings({ settings, onChange }: SettingsProps) {
  return (
    <Card title={t("Form")}>
      <TextInput
        label={t("Name")}
        required
        maxLength={200}
        value={settings.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Select
        label={t("Status")}
        allowDeselect={false}
        data={statuses}
        value={settings.status}
        onChange={(status) => onChange({ status: status as Form["status"] })}
      />
    </Card>
  );
}

const languageChoices = [
  { value: "", label: t("That of the visitor's browser") },
  ...languages.map((language) => ({ value: language, label: languageName(language) })),
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
    <Card title={t("Texts and colour")}>
      <TextInput label={t("Heading (optional)")} maxLength={200} {...bind("title")} />
      <Textarea
        label={t("Text below the heading (optional)")}
        maxLength={2000}
        autosize
        minRows={2}
        {...bind("description")}
      />
      <TextInput
        label={t("Text of the button (optional)")}
        maxLength={100}
        {...bind("submitLabel")}
      />
      <Textarea
        label={t("Thanks after the submission (optional)")}
        maxLength={1000}
        autosize
        {...bind("successMessage")}
      />
      <Select
        label={t("Language of the other texts")}
        allowDeselect={false}
        data={languageChoices}
        value={design.language}
        onChange={(language) => onChange({ language: language as DesignDraft["language"] })}
      />
      <TextInput
        label={t("Colour of the button")}
        type="color"
        {...bind("accent")}
        value={design.accent || "#8f431d"}
      />
    </Card>
  );
}

function AfterCard({ siteId, settings, onChange }: SettingsProps & { siteId: number }) {
  const topics = useQuery(queries.names("topics", siteId)).data;
  const { listId, sequenceId, topicIds, doubleOptIn, redirectUrl } = settings;
  return (
    <Card title={t("After a submission")}>
      <Switch
        label={t("Ask for confirmation by email (double opt-in)")}
        description={t(
          "The proof of consent that many countries ask for. Nothing happens before it.",
        )}
        checked={doubleOptIn}
        onChange={(event) => {
          const isOn = event.currentTarget.checked;
          // Topics need the confirmation, because a visitor can type any address.
          onChange({ doubleOptIn: isOn, ...(!isOn && { topicIds: [] }) });
        }}
      />
      <RecordSelect
        group="lists"
        siteId={siteId}
        label={t("Add to a list (optional)")}
        clearable
        clearButtonProps={{ "aria-label": t("No list") }}
        value={listId}
        onChange={(id) => onChange({ listId: id })}
      />
      <TagNamesInput
        siteId={siteId}
        label={t("Give tags (optional)")}
        maxTags={20}
        value={settings.tags}
        onChange={(names) => onChange({ tags: names })}
      />
      {doubleOptIn && (
        <MultiSelect
          label={t("Subscribe to topics (optional)")}
          data={recordOptions(topics)}
          value={topicIds.map(String)}
          onChange={(ids) => onChange({ topicIds: ids.map(Number) })}
        />
      )}
      <RecordSelect
        group="sequences"
        siteId={siteId}
        label={t("Start a sequence (optional)")}
        clearable
        clearButtonProps={{ "aria-label": t("No sequence") }}
        value={sequenceId}
        onChange={(id) => onChange({ sequenceId: id })}
      />
      <TextInput
        label={t("Go on to a page of yours (optional)")}
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
    <Card title={t("Publish")}>
      {status !== "active" && (
        <p className="quiet">
          {t("Visitors see that the form is closed until its status is active.")}
        </p>
      )}
      <Snippet label={t("Page of the form")} value={pageUrl} href={pageUrl} />
      <Snippet label={t("Line for your own page")} value={script} />
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
        {label} <CopyAction value={value} label={t("Copy: {label}", { label })} />
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
