// The html of a variant is an item of its own, so that the list of campaigns reads small records.
import { get, put, remove, type Write } from "../../adapters/dynamodb/table.ts";
import { missing } from "../../errors.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import { keys } from "../../keys.ts";
import type { StoredVariant } from "./stored-campaign.ts";

const variantHtmlKey = (orgId: number, variantId: number, version: number) =>
  keys.recordBody(orgId, "CAMPAIGN", { id: variantId, version });

export async function storeHtmlWrite(
  orgId: number,
  { variantId, version }: { variantId: number; version: number },
  html: string,
): Promise<Write> {
  const key = variantHtmlKey(orgId, variantId, version);
  return put(key, await compress(key, { html }, "templates"));
}

export const deleteHtmlWrites = (
  orgId: number,
  { id, htmlVersion }: Pick<StoredVariant, "id" | "htmlVersion">,
): Write[] => (htmlVersion ? [remove(variantHtmlKey(orgId, id, htmlVersion))] : []);

export async function findVariantHtml(
  orgId: number,
  variantId: number,
  version: number,
): Promise<string> {
  const item = await get<CompressedValue>(variantHtmlKey(orgId, variantId, version));
  if (!item) throw missing("The html of this variant is no longer stored");
  return (await decompress<{ html: string }>(item)).html;
}
