import type { Snippet, UpdateSnippetRequest } from "pennymail";
import { api } from "../../../data/client.ts";
import { useVersionedSaving, type VersionedSaving } from "../../../parts/versioned-saving.ts";

/** Emails that have a snippet are drawn again when it changes. */
export const snippetRefreshes = ["snippets", "templates", "campaignPreview"];

interface SavingInput<Draft> {
  snippet: Snippet;
  draft: Draft;
  isSame(a: Draft, b: Draft): boolean;
  /** What is sent to the API. */
  toChanges(draft: Draft): UpdateSnippetRequest | Promise<UpdateSnippetRequest>;
  /** Begins again with the stored snippet. */
  onReload(): unknown;
}

/** Saves the draft of a snippet, visual or code. */
export function useSnippetSaving<Draft>(input: SavingInput<Draft>): VersionedSaving {
  const { snippet, toChanges, ...rest } = input;
  return useVersionedSaving({
    ...rest,
    stored: snippet,
    run: async (draft, base) =>
      api.snippets.update(snippet.id, { ...(await toChanges(draft)), ...base }),
    conflictCode: "snippet_changed",
    refreshes: snippetRefreshes,
  });
}
