import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { EmailPreview } from "../../parts/email-preview.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { type ShownDraft, variablesOf } from "./draft.ts";

/** The draft as the contact would get it. The last good state stays while there is an error. */
export function TemplatePreview({ template, draft, contact }: ShownDraft) {
  const { subject, html, text, previewText, locale } = draft;
  const fields = { subject, html, text, ...(previewText !== undefined && { previewText }) };
  const variables = variablesOf(contact);
  const { data, error } = useQuery(
    queries.renderedDraft(template.id, { ...fields, ...(locale && { locale }), variables }),
  );
  return (
    <div className="stack">
      <ErrorNote error={error} />
      {!data && !error && <Skeleton h={300} />}
      {data && (
        <>
          <p>
            <b>{data.subject}</b>
          </p>
          {data.missingVariables.length > 0 && (
            <p className="tone-warn">
              {t("Empty for this contact: {variables}", {
                variables: data.missingVariables.join(", "),
              })}
            </p>
          )}
          {data.html === null ? (
            <pre className="plain-email">{data.text}</pre>
          ) : (
            <EmailPreview html={data.html} text={data.text} title={t("Email preview")} />
          )}
        </>
      )}
    </div>
  );
}
