import { Button, Menu, Select, Skeleton, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Contact, Template } from "pennymail";
import { type FormEvent, lazy, Suspense, useRef, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import type { CodeEditorHandle } from "../../editors/code-editor.tsx";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { Tabs } from "../../parts/tabs.tsx";
import { useUnsavedChanges } from "../../parts/unsaved-changes.ts";
import { type Draft, draftOf, insertOptions, isSame } from "./draft.ts";
import { TemplateChecks } from "./template-checks.tsx";
import { TemplateMenu } from "./template-menu.tsx";
import { TemplatePreview } from "./template-preview.tsx";
import { TemplateTest } from "./template-test.tsx";
import { TemplateVersions } from "./template-versions.tsx";

const CodeEditor = lazy(async () => ({
  default: (await import("../../editors/code-editor.tsx")).CodeEditor,
}));

export function TemplateScreen() {
  const { id } = useParams({ from: "/shell/templates/$id" });
  const { data: template, error } = useQuery(queries.template(id));
  if (!template)
    return <div className="page">{error ? <ErrorNote error={error} /> : <Skeleton h={240} />}</div>;
  return <Editor key={template.id} template={template} />;
}

function Editor({ template }: { template: Template }) {
  const mayWrite = useRight("content:write");
  const [draft, setDraft] = useState(() => draftOf(template));
  const change = (changes: Partial<Draft>) => setDraft((old) => ({ ...old, ...changes }));
  const [restoredVersion, setRestoredVersion] = useState(0);
  const isChanged = !isSame(draft, draftOf(template));
  const saving = useChange({
    run: () => api.templates.update(template.id, draft),
    refreshes: ["templates"],
  });
  const save = () => {
    if (mayWrite && isChanged && !saving.isPending) saving.mutate();
  };
  useShortcuts([{ keys: ["mod+S"], label: "Save the template", run: save, inFields: true }]);
  useUnsavedChanges(isChanged);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save();
  };
  const contacts = useQuery(queries.sampleContacts(template.siteId)).data?.contacts ?? [];
  const [contactId, setContactId] = useState<number>();
  const contact = contacts.find(({ id }) => id === contactId) ?? contacts[0];
  // One request when the typing pauses.
  const [settled] = useDebouncedValue(draft, 700);
  const shown = { template, draft: settled, contact };
  return (
    <div className="page">
      <PageHead
        title={template.name}
        note={
          <>
            <Link to="/templates">Templates</Link> · Version {template.version}{" "}
            <span role="status">{saving.isSuccess && !isChanged && "Saved"}</span>
          </>
        }
      >
        {mayWrite && (
          <Button type="submit" form="template" disabled={!isChanged} loading={saving.isPending}>
            Save template
          </Button>
        )}
        {mayWrite && <TemplateMenu template={template} />}
      </PageHead>
      <ErrorNote error={saving.error} />
      <div className="columns even">
        <form id="template" onSubmit={submit}>
          <fieldset className="card plain-fieldset" disabled={!mayWrite}>
            <TextInput
              label="Name"
              required
              maxLength={200}
              value={draft.name}
              onChange={({ currentTarget: { value } }) => change({ name: value })}
            />
            <TextInput
              label="Subject"
              required
              maxLength={998}
              value={draft.subject}
              onChange={({ currentTarget: { value } }) => change({ subject: value })}
            />
            <Parts
              key={restoredVersion}
              draft={draft}
              contacts={contacts}
              isReadOnly={!mayWrite}
              onChange={change}
            />
          </fieldset>
        </form>
        <Card title="Preview" className="preview-card">
          <Select
            label="As it looks for"
            data={contacts.map(({ id, email }) => ({ value: String(id), label: email }))}
            placeholder="There is no contact yet"
            value={contact ? String(contact.id) : null}
            allowDeselect={false}
            searchable
            onChange={(value) => setContactId(Number(value))}
          />
          <Tabs
            label="Preview"
            tabs={{
              Email: <TemplatePreview {...shown} />,
              Checks: <TemplateChecks {...shown} />,
              "Test email": <TemplateTest {...shown} />,
              Versions: (
                <TemplateVersions
                  template={template}
                  isChanged={isChanged}
                  onRestored={(restored) => {
                    setDraft(draftOf(restored));
                    setRestoredVersion(restored.version);
                  }}
                />
              ),
            }}
          />
        </Card>
      </div>
    </div>
  );
}

/** What the panels beside the editor show. */
export interface ShownDraft {
  template: Template;
  draft: Draft;
  contact: Contact | undefined;
}

interface PartsProps {
  draft: Draft;
  contacts: Contact[];
  isReadOnly: boolean;
  onChange(changes: Partial<Draft>): void;
}

/** The HTML and the plain text of the email. */
function Parts({ draft, contacts, isReadOnly, onChange }: PartsProps) {
  const editor = useRef<CodeEditorHandle>(null);
  const insert = !isReadOnly && (
    <InsertMenu contacts={contacts} onInsert={(text) => editor.current?.insert(text)} />
  );
  return (
    <Tabs
      label="Parts of the email"
      tabs={{
        HTML: (
          <div className="stack">
            {insert}
            <Suspense fallback={<Skeleton h={560} />}>
              <CodeEditor
                label="HTML"
                language="html"
                value={draft.html ?? ""}
                isReadOnly={isReadOnly}
                handle={editor}
                onChange={(html) => onChange({ html: html || null })}
              />
            </Suspense>
          </div>
        ),
        "Plain text": (
          <div className="stack">
            <p className="quiet">
              {draft.text === null
                ? "It is made from the HTML when the email is sent."
                : "This text is sent as it is. Empty it to have it made from the HTML."}
            </p>
            {insert}
            <Suspense fallback={<Skeleton h={560} />}>
              <CodeEditor
                label="Plain text"
                language="text"
                value={draft.text ?? ""}
                isReadOnly={isReadOnly}
                handle={editor}
                onChange={(text) => onChange({ text: text || null })}
              />
            </Suspense>
          </div>
        ),
      }}
    />
  );
}

interface InsertMenuProps {
  contacts: Contact[];
  onInsert(text: string): void;
}

function InsertMenu({ contacts, onInsert }: InsertMenuProps) {
  const groups = Object.entries(insertOptions(contacts)).filter(([, options]) => options.length);
  return (
    <Menu position="bottom-start" returnFocus={false}>
      <Menu.Target>
        <Button className="start" variant="default" size="xs" leftSection={<IconPlus size={14} />}>
          Insert a field
        </Button>
      </Menu.Target>
      <Menu.Dropdown className="menu-scroll">
        {groups.map(([group, options]) => (
          <div key={group}>
            <Menu.Label>{group}</Menu.Label>
            {options.map(({ label, text }) => (
              <Menu.Item key={label} onClick={() => onInsert(text)}>
                {label}
              </Menu.Item>
            ))}
          </div>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
