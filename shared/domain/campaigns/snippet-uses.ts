// What uses a snippet: templates, other snippets and the html of campaign variants. While something
// uses it, it cannot be deleted or renamed.
import * as z from "zod";
import { contains } from "../../adapters/dynamodb/conditions.ts";
import type { CallerScope } from "../../caller.ts";
import { conflict } from "../../errors.ts";
import { RecordId } from "../../kernel/record-fields.ts";
import type { Snippet, SnippetChanges } from "../content/snippet-schema.ts";
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
  await closeUnused(caller, id);
  await snippets.remove(caller, id);
}

/** Throws 409 `in_use` if the name changes while something uses the snippet. */
export async function change(
  caller: Parameters<typeof snippets.change>[0],
  id: number,
  changes: SnippetChanges,
): Promise<Snippet> {
  const { name } = changes;
  if (name === undefined || name === (await snippets.find(caller, id)).name)
    return snippets.change(caller, id, changes);
  const { reopen } = await closeUnused(caller, id);
  try {
    return await snippets.change(caller, id, changes);
  } catch (error) {
    await reopen();
    throw error;
  }
}

async function closeUnused(caller: CallerScope, id: number): ReturnType<typeof snippets.close> {
  const closed = await snippets.close(caller, id);
  const uses = await listUses(caller, id);
  if (!uses.length) return closed;
  await closed.reopen();
  const details = uses.slice(0, maxNamed).map(({ kind, id: userId, name }) => ({
    path: `${kind}s.${userId}`,
    message: `${kind} ${userId} "${name.slice(0, 100)}" uses it`,
  }));
  throw conflict("The snippet is in use: take it out of what uses it first", {
    code: "in_use",
    details,
  });
}
