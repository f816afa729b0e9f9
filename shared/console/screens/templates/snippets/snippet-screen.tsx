import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Snippet } from "pennymail";
import { useMemo, useState } from "react";
import { queries } from "../../../data/queries.ts";
import { parseDesign } from "../../../editors/visual/parse-design.ts";
import { t } from "../../../language/translate.ts";
import { RecordLoading } from "../../../parts/record-loading.tsx";
import { CodeSnippet } from "./code-snippet.tsx";
import { VisualSnippet } from "./visual-snippet.tsx";

export function SnippetScreen() {
  const { id } = useParams({ from: "/shell/snippets/$id" });
  const { data: snippet, error } = useQuery(queries.snippet(id));
  if (!snippet)
    return (
      <RecordLoading
        missing={t("This snippet does not exist")}
        list={{ to: "/snippets", label: t("Show all snippets") }}
        error={error}
      />
    );
  return <SnippetEditor key={snippet.id} snippet={snippet} />;
}

/** A snippet with a design of this console is edited visually, every other one as code. */
function SnippetEditor({ snippet }: { snippet: Snippet }) {
  const queryClient = useQueryClient();
  const [round, setRound] = useState(0);
  const design = useMemo(() => parseDesign(snippet.designJson), [snippet.designJson]);
  const reload = async () => {
    await queryClient.invalidateQueries(queries.snippet(snippet.id));
    setRound((last) => last + 1);
  };
  const props = { snippet, onReload: reload };
  return design ? (
    <VisualSnippet key={`visual ${round}`} design={design} {...props} />
  ) : (
    <CodeSnippet key={`code ${round}`} {...props} />
  );
}
