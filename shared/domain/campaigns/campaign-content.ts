// The own content of campaigns: templates that belong to one campaign each.
import type { Write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { undefinedIfMissing } from "../../errors.ts";
import * as ids from "../../ids.ts";
import {
  createOwnContentWrites,
  type OwnContent,
  readOwnContent,
  renameOwnContentWrites,
} from "../content/own-content.ts";
import * as templates from "../content/templates.ts";
import { requireStatus, type StoredCampaign } from "./stored-campaign.ts";

interface ContentEdit {
  set: Partial<Pick<StoredCampaign, "templateId" | "ownTemplateId">>;
  extraWrites: Write[];
}

export type ContentOwner = Pick<
  StoredCampaign,
  "id" | "siteId" | "name" | "status" | "ownTemplateId"
>;

/**
 * Returns a function that gives a campaign content of its own, and can be repeated. It changes the
 * template that the campaign has, or returns the writes of a new one.
 */
export function createContentEdit(
  who: templates.Editor,
  given: OwnContent | undefined,
): (owner: ContentOwner) => Promise<ContentEdit> {
  let newId: number | undefined;
  return async ({ id: campaignId, siteId, name, status, ownTemplateId }) => {
    if (!given) return { set: {}, extraWrites: [] };
    requireStatus({ status }, ["draft"], "given other content");
    const content = await readOwnContent(who, siteId, given);
    if (ownTemplateId !== undefined) {
      const found = await templates
        .replaceBody(who, ownTemplateId, content)
        .catch(undefinedIfMissing);
      if (found) return { set: { templateId: ownTemplateId }, extraWrites: [] };
    }
    newId ??= await ids.nextId("TEMPLATE");
    const owned = { id: newId, campaignId, siteId, name, content };
    return {
      set: { templateId: newId, ownTemplateId: newId },
      extraWrites: await createOwnContentWrites(who, owned, now().toISOString()),
    };
  };
}

/** For the transaction that changes the campaign. */
export const renameContentWrites = async (
  who: CallerScope,
  { ownTemplateId, name: oldName }: StoredCampaign,
  name: string | undefined,
): Promise<Write[]> =>
  ownTemplateId === undefined || name === undefined || name === oldName
    ? []
    : renameOwnContentWrites(who, ownTemplateId, name);

/** Gives the copy of a campaign its own copy of the first one's content, if it uses that. */
export async function copyOwnContent(
  who: CallerScope,
  { ownTemplateId: ownId }: StoredCampaign,
  copy: StoredCampaign,
): Promise<ContentEdit & { set: Partial<StoredCampaign> }> {
  const { templateId, variants } = copy;
  const isUsed = templateId === ownId || variants.some((variant) => variant.templateId === ownId);
  if (ownId === undefined || !isUsed) return { set: {}, extraWrites: [] };
  const edit = await createContentEdit(who, { copyOf: ownId })(copy);
  const ownTemplateId = edit.set.ownTemplateId!;
  const copiedId = (id: number | null) => (id === ownId ? ownTemplateId : id);
  return {
    set: {
      ...{ ownTemplateId, templateId: copiedId(templateId) },
      variants: variants.map((one) => ({ ...one, templateId: copiedId(one.templateId) })),
    },
    extraWrites: edit.extraWrites,
  };
}
