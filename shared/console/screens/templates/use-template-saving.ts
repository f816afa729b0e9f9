import type { Template, UpdateTemplateRequest } from "pennymail";
import { api } from "../../data/client.ts";
import { useVersionedSaving, type VersionedSaving } from "../../parts/versioned-saving.ts";
import { useTemplateUses } from "./template-uses.tsx";

interface SavingInput<Draft> {
  template: Template;
  draft: Draft;
  isSame(a: Draft, b: Draft): boolean;
  /** What is sent to the API. */
  toChanges(draft: Draft): UpdateTemplateRequest | Promise<UpdateTemplateRequest>;
  /** Begins again with the stored template. */
  onReload(): unknown;
}

/**
 * Saves the draft of a template, visual or code. Only the email of a campaign that is not sent yet
 * saves itself. Programs can send every other template by its id, so nobody knows whether text that
 * is half written would go out.
 */
export function useTemplateSaving<Draft>(input: SavingInput<Draft>): VersionedSaving {
  const { template, toChanges, ...rest } = input;
  const { isLive } = useTemplateUses(template.id);
  return useVersionedSaving({
    ...rest,
    stored: template,
    savesItself: template.campaignId !== null && isLive === false,
    run: async (draft, base) =>
      api.templates.update(template.id, { ...(await toChanges(draft)), ...base }),
    conflictCode: "template_changed",
    refreshes: ["templates"],
  });
}
