import type { Snippet } from "pennymail";
import { api } from "../../../data/client.ts";
import { useRight } from "../../../data/session.ts";
import { VersionsTable } from "../../../parts/versions-table.tsx";
import { snippetRefreshes } from "./use-snippet-saving.ts";

interface SnippetVersionsProps {
  snippet: Snippet;
  isChanged: boolean;
  onRestored(): unknown;
}

export function SnippetVersions({ snippet, isChanged, onRestored }: SnippetVersionsProps) {
  const { id, name, version: current, versions } = snippet;
  return (
    <VersionsTable
      {...{ name, versions, current, isChanged, onRestored }}
      mayWrite={useRight("content:write")}
      restore={(version) => api.snippets.restore(id, { version })}
      refreshes={snippetRefreshes}
    />
  );
}
