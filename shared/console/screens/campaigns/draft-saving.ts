// Changes of a campaign draft. Their answers go into what was read of the campaign, so that it is
// not read again after each change.
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import type { CampaignDetail, CampaignVariant, UpdateCampaignRequest } from "pennymail";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";

type DraftChange = (draft: CampaignDetail) => CampaignDetail;

export const useDraftSaving = (id: number) =>
  useDraftChange(id, async (changes: UpdateCampaignRequest) => {
    const saved = await api.campaigns.update(id, changes);
    // Of two answers that overtake each other, the later state counts.
    return (draft) => (saved.updatedAt < draft.updatedAt ? draft : { ...draft, ...saved });
  });

/** A change of the variants. `run` returns how it changes what was read before. */
export function useDraftChange<Input>(id: number, run: (input: Input) => Promise<DraftChange>) {
  const queryClient = useQueryClient();
  return useChange({
    run,
    refreshes: [],
    onDone: (change) => storeChange(queryClient, id, change),
  });
}

/** Puts a change into what was read of the campaign. */
export async function storeChange(queryClient: QueryClient, id: number, change: DraftChange) {
  const { queryKey } = queries.campaign(id);
  // A read that is under way may have the state before the change.
  await queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData(queryKey, (draft) => draft && change(draft));
  // Other screens read their lists again when they are opened.
  await queryClient.invalidateQueries({ queryKey: ["campaigns", "list"], refetchType: "none" });
}

export const withVariant =
  (variant: CampaignVariant): DraftChange =>
  (draft) => {
    const isKnown = draft.variants.some(({ id }) => id === variant.id);
    const variants = isKnown
      ? draft.variants.map((old) => (old.id === variant.id ? { ...old, ...variant } : old))
      : [...draft.variants, variant];
    return { ...draft, variants };
  };
