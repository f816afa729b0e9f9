import { Button, Skeleton, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Template } from "pennymail";
import type { FormEvent } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { Card } from "../../parts/card.tsx";
import { EmailPreview } from "../../parts/email-preview.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { useTextField } from "../../parts/text-field.ts";

export function TemplateScreen() {
  const { id } = useParams({ from: "/shell/templates/$id" });
  const { data: template, error } = useQuery(queries.template(id));
  if (!template)
    return <div className="page">{error ? <ErrorNote error={error} /> : <Skeleton h={240} />}</div>;
  return <Editor key={template.id} template={template} />;
}

function Editor({ template }: { template: Template }) {
  const mayWrite = useRight("content:write");
  const name = useTextField(template.name);
  const subject = useTextField(template.subject);
  const html = useTextField(template.html ?? "");
  const isChanged =
    name.value !== template.name ||
    subject.value !== template.subject ||
    html.value !== (template.html ?? "");
  const saving = useChange({
    run: () =>
      api.templates.update(template.id, {
        name: name.value,
        subject: subject.value,
        html: html.value,
      }),
    refreshes: ["templates"],
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <form className="page" onSubmit={submit}>
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
          <Button type="submit" disabled={!isChanged} loading={saving.isPending}>
            Save template
          </Button>
        )}
      </PageHead>
      <ErrorNote error={saving.error} />
      <div className="columns even">
        <fieldset className="card plain-fieldset" disabled={!mayWrite}>
          <TextInput label="Name" required {...name.input} />
          <TextInput label="Subject" required {...subject.input} />
          <Textarea
            label="HTML"
            description="{{ firstName }} and other fields are filled for each recipient."
            className="code"
            autosize
            minRows={16}
            maxRows={40}
            spellCheck={false}
            {...html.input}
          />
        </fieldset>
        <Card title="Preview of the saved version" className="preview-card">
          <Rendered template={template} />
        </Card>
      </div>
    </form>
  );
}

function Rendered({ template: { id, version } }: { template: Template }) {
  const { data, error } = useQuery(queries.renderedTemplate(id, version));
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={300} />;
  return (
    <div className="stack">
      <p>
        <b>{data.subject}</b>
      </p>
      {data.missingVariables.length > 0 && (
        <p className="quiet">Empty without a recipient: {data.missingVariables.join(", ")}</p>
      )}
      {data.html && <EmailPreview html={data.html} title="Email preview" />}
    </div>
  );
}
