// The snippets of one mail or template: which it names, in which versions, and their bodies.
import type { Write } from "../../adapters/dynamodb/table.ts";
import * as liquid from "../../email/liquid.ts";
import { invalid } from "../../errors.ts";
import { loadSnippets } from "./snippet-bodies.ts";
import {
  type PinnedSnippets,
  pinSnippets,
  readDirectory,
  usableChecks,
} from "./snippet-directory.ts";
import type { TemplateVariables } from "./template-bodies.ts";

export { loadSnippets } from "./snippet-bodies.ts";
export type { PinnedSnippets } from "./snippet-directory.ts";

interface Sources {
  html?: string | null | undefined;
  text?: string | null | undefined;
}

interface UsedSnippets {
  snippets: liquid.Snippets;
  /** For the transaction that stores what uses them. */
  snippetChecks: Write[];
}

/** The current snippets for something that is about to be stored, in all its languages. */
export async function loadUsedSnippets(
  orgId: number,
  siteId: number,
  ...sources: Sources[]
): Promise<UsedSnippets> {
  const parts = sources.flatMap(({ html, text }) => [html, text]);
  const names = liquid.findSnippetNames(...parts);
  if (!names.length) return { snippets: {}, snippetChecks: [] };
  const directory = await readDirectory(orgId, siteId);
  return {
    snippets: await loadSnippets(orgId, pinSnippets(directory, names)),
    snippetChecks: usableChecks({ orgId, siteId }, directory, names),
  };
}

/** The current snippets for a preview. */
export const loadCurrentSnippets = async (
  orgId: number,
  siteId: number,
  sources: Sources,
): Promise<liquid.Snippets> => (await loadUsedSnippets(orgId, siteId, sources)).snippets;

interface MailSources extends Sources {
  template?: TemplateVariables | undefined;
}

/**
 * Fixes the versions for a mail that is accepted now. Undefined if it names no snippet, which takes
 * no read. A snippet that was just created takes a second, consistent read. Throws 400 if one that
 * the template names does not exist; inline html and text do not compile then.
 */
export async function pinForMail(
  orgId: number,
  siteId: number,
  { template, html, text }: MailSources,
): Promise<PinnedSnippets | undefined> {
  const names = template ? (template.snippets ?? []) : liquid.findSnippetNames(html, text);
  if (!names.length) return undefined;
  const isPinned = (name: string) => Object.hasOwn(pinned, name);
  let pinned = pinSnippets(await readDirectory(orgId, siteId, { consistent: false }), names);
  if (!names.every(isPinned)) pinned = pinSnippets(await readDirectory(orgId, siteId), names);
  const gone = template && names.find((name) => !isPinned(name));
  if (gone !== undefined)
    throw invalid(`The template uses the snippet "${gone}", which does not exist`, {
      details: [{ path: "templateId", message: `uses the missing snippet "${gone}"` }],
    });
  return pinned;
}
