// What uses a snippet: templates, other snippets and the html of campaign variants. While something
// uses it, it cannot be deleted.
import * as z from "zod";
import { contains } from "../../adapters/dynamodb/conditions.ts";
import type { CallerScope } from "../../caller.ts";
import { conflict } from "../../errors.ts";
import { RecordId } from "../../kernel/record-fields.ts";
import * as snippets from "../content/snippets.ts";
import type { StoredCampaign } from "./stored-campaign.ts";
import { recordsOf, stillToSend } from "./usage-search.ts";

export const SnippetUse = z
  .object({
    kind: z.enum(["template", "snippet", "campaign"]).describe("What uses the snippet."),
    id: RecordId.describe("Its id."),
    name: z.string().describe("Its name."),
  })
  .meta({ id: "SnippetUse" });
export type SnippetUse = z.output<typeof SnippetUse>;

const maxShown = 100;

/** The first 100. A campaign counts until it is sent, for the html of its variants. */
export async function listUses(caller: CallerScope, id: number): Promise<SnippetUse[]> {
  const { siteId, name } = await snippets.find(caller, id);
  const uses: SnippetUse[] = [];
  for await (const use of usesOf({ orgId: caller.orgId, siteId }, name)) {
    uses.push(use);
    if (uses.length >= maxShown) break;
  }
  return uses;
}

type Place = Parameters<typeof recordsOf>[0];

async function* usesOf(place: Place, name: string): AsyncGenerator<SnippetUse> {
  for await (const one of recordsOf<SnippetUse>(place, "SNIPPET", contains("uses", name)))
    yield { kind: "snippet", id: one.id, name: one.name };
  for await (const one of recordsOf<SnippetUse>(place, "TEMPLATE", contains("snippets", name)))
    yield { kind: "template", id: one.id, name: one.name };
  for await (const one of recordsOf<StoredCampaign>(place, "CAMPAIGN", stillToSend))
    if (one.variants.some(({ snippets = [] }) => snippets.includes(name)))
      yield { kind: "campaign", id: one.id, name: one.name };
}

const maxNamed = 20;

/** Throws 409 `in_use` with up to 20 uses in `details`. */
export async function removeUnused(caller: CallerScope, id: number): Promise<void> {
  const { reopen } = await snippets.closeForDeletion(caller, id);
  const uses = await listUses(caller, id);
  if (!uses.length) return snippets.remove(caller, id);
  await reopen();
  const details = uses.slice(0, maxNamed).map(({ kind, id: userId, name }) => ({
    path: `${kind}s.${userId}`,
    message: `${kind} ${userId} "${name.slice(0, 100)}" uses it`,
  }));
  throw conflict("The snippet is in use: take it out of what uses it first", {
    code: "in_use",
    details,
  });
}
