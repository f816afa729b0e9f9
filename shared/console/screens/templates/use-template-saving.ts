import { ConflictError, type Template, type UpdateTemplateRequest } from "pennymail";
import { useEffect, useRef, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";

export interface TemplateSaving {
  /** Version that the draft began with. */
  version: number;
  isChanged: boolean;
  isPending: boolean;
  isSaved: boolean;
  error: unknown;
  /** Whether somebody else has saved the template since it was read. */
  isConflict: boolean;
  save(): void;
  /** Replaces what somebody else has saved. */
  overwrite(): void;
}

interface SavingInput<Draft> {
  template: Template;
  draft: Draft;
  isSame(a: Draft, b: Draft): boolean;
  /** What is sent to the API. */
  toChanges(draft: Draft): UpdateTemplateRequest | Promise<UpdateTemplateRequest>;
  /** Begins again with the stored template. */
  onReload(): unknown;
}

interface Save<Draft> {
  draft: Draft;
  isForced: boolean;
}

/** Saves a draft over the version that it began with. */
export function useTemplateSaving<Draft>(input: SavingInput<Draft>): TemplateSaving {
  const { template, draft, isSame, toChanges, onReload } = input;
  const [base, setBase] = useState({ draft, version: template.version });
  const isChanged = !isSame(draft, base.draft);
  const saving = useChange({
    run: async ({ draft: saved, isForced }: Save<Draft>) =>
      api.templates.update(template.id, {
        ...(await toChanges(saved)),
        ...(!isForced && { version: base.version }),
      }),
    refreshes: ["templates"],
    onDone: ({ version }, { draft: saved }) => setBase({ draft: saved, version }),
  });
  // Somebody else saved. What nobody has edited here follows.
  const follow = useRef(onReload);
  follow.current = onReload;
  const isBehind = template.version > base.version && !isChanged && !saving.isPending;
  useEffect(() => {
    if (isBehind) follow.current();
  }, [isBehind]);
  const { error } = saving;
  const isConflict = error instanceof ConflictError && error.code === "template_changed";
  const start = (isForced: boolean) => {
    if (isChanged && !saving.isPending) saving.mutate({ draft, isForced });
  };
  return {
    version: base.version,
    isChanged,
    isPending: saving.isPending,
    isSaved: saving.isSuccess && !isChanged,
    error: isConflict ? undefined : error,
    isConflict,
    save: () => start(false),
    overwrite: () => start(true),
  };
}
