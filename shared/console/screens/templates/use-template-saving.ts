import type { Template, UpdateTemplateRequest } from "pennymail";
import { api } from "../../data/client.ts";
import { useVersionedSaving, type VersionedSaving } from "../../parts/versioned-saving.ts";

interface SavingInput<Draft> {
  template: Template;
  draft: Draft;
  isSame(a: Draft, b: Draft): boolean;
  /** What is sent to the API. */
  toChanges(draft: Draft): UpdateTemplateRequest | Promise<UpdateTemplateRequest>;
  /** Begins again with the stored template. */
  onReload(): unknown;
}

/** Saves the draft of a template, visual or code. */
export function useTemplateSaving<Draft>(input: SavingInput<Draft>): VersionedSaving {
  const { template, toChanges, ...rest } = input;
  return useVersionedSaving({
    ...rest,
    stored: template,
    run: async (draft, base) =>
      api.templates.update(template.id, { ...(await toChanges(draft)), ...base }),
    conflictCode: "template_changed",
    refreshes: ["templates"],
  });
}
