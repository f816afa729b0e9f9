// Finds what shows a picture of the media library: templates, snippets, the brand of its site, and
// campaigns that are still to be sent with HTML of their own.
import { contains } from "../../adapters/dynamodb/conditions.ts";
import { inParallel } from "../../kernel/parallel.ts";
import type { StoredMedia } from "../content/media.ts";
import type { SnippetMeta } from "../content/snippet-schema.ts";
import type { TemplateMeta } from "../content/template-schema.ts";
import type { StoredCampaign } from "./stored-campaign.ts";
import { recordsOf, stillToSend, type Use, use } from "./usage-search.ts";
import * as variantHtml from "./variant-html.ts";

type Picture = Pick<StoredMedia, "siteId" | "file"> & { orgId: number };

export async function* pictureUsersOf(picture: Picture): AsyncGenerator<Use> {
  for await (const template of recordsOf<TemplateMeta>(
    picture,
    "TEMPLATE",
    contains("pictures", picture.file),
  ))
    yield use("templates", template, "shows it");
  for await (const snippet of recordsOf<SnippetMeta>(
    picture,
    "SNIPPET",
    contains("pictures", picture.file),
  ))
    yield use("snippets", snippet, "shows it");
  for await (const campaign of recordsOf<StoredCampaign>(picture, "CAMPAIGN", stillToSend))
    if (await showsPicture(campaign, picture.file))
      yield use("campaigns", campaign, `(${campaign.status}) shows it`);
}

async function showsPicture({ orgId, variants }: StoredCampaign, file: string): Promise<boolean> {
  const withHtml = variants.flatMap(({ id, htmlVersion }) =>
    htmlVersion ? [{ id, htmlVersion }] : [],
  );
  const sources = await inParallel(4, withHtml, ({ id, htmlVersion }) =>
    variantHtml.findVariantHtml(orgId, id, htmlVersion),
  );
  return sources.some((html) => html.includes(file));
}
