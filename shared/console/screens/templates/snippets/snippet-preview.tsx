import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Contact, Snippet } from "pennymail";
import { queries } from "../../../data/queries.ts";
import { t } from "../../../language/translate.ts";
import { EmailPreview } from "../../../parts/email-preview.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { variablesOf } from "../draft.ts";

interface SnippetPreviewProps {
  snippet: Snippet;
  /** What is not saved yet. */
  draft: { html: string | null; text: string | null };
  contact: Contact | undefined;
}

/** The draft as emails show it. The last good state stays while there is an error. */
export function SnippetPreview({ snippet, draft, contact }: SnippetPreviewProps) {
  const { html, text } = draft;
  const variables = variablesOf(contact);
  const { data, error } = useQuery(queries.renderedSnippet(snippet.id, { html, text, variables }));
  return (
    <div className="stack">
      <ErrorNote error={error} />
      {!data && !error && <Skeleton h={200} />}
      {data && data.missingVariables.length > 0 && (
        <p className="tone-warn">
          {t("Empty for this contact: {variables}", {
            variables: data.missingVariables.join(", "),
          })}
        </p>
      )}
      {data && data.html === null && <pre className="plain-email">{data.text}</pre>}
      {data && data.html !== null && (
        <EmailPreview
          html={data.html}
          text={data.text ?? undefined}
          title={t("Preview of the snippet")}
        />
      )}
    </div>
  );
}
