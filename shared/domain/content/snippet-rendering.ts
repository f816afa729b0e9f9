// Renders a snippet, or a draft of one, as email brings it in.
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import * as liquid from "../../email/liquid.ts";
import * as sites from "../identity/sites.ts";
import { currentBrandVariables } from "./mail-brand.ts";
import { loadCurrentSnippets } from "./mail-snippets.ts";
import * as snippets from "./snippets.ts";
import { bodyFields } from "./template-bodies.ts";
import { renderBody } from "./template-rendering.ts";

export const RenderedSnippet = z.object({
  html: z.string().nullable().describe("Rendered HTML. `null` if the snippet has none."),
  text: z.string().nullable().describe("Rendered plain text. `null` if the snippet has none."),
  missingVariables: z
    .array(z.string())
    .describe("Variables that were read and not given, and so rendered empty."),
});
type RenderedSnippet = z.output<typeof RenderedSnippet>;

export const snippetDraftFields = {
  html: bodyFields.html
    .optional()
    .describe("HTML of a draft. If omitted, that of the snippet is rendered."),
  text: bodyFields.text
    .optional()
    .describe("Plain text of a draft. If omitted, that of the snippet is rendered."),
};

interface SnippetDraft {
  html?: string | null | undefined;
  text?: string | null | undefined;
  variables: liquid.LiquidVariables;
}

/** What stands in the place of the email in a layout. */
const sampleContent = {
  html: "<p>The content of the email</p>",
  text: "The content of the email",
};

/** Throws 400 if a part is not valid Liquid or takes too long. */
export async function render(
  caller: CallerScope,
  id: number,
  { variables, ...draft }: SnippetDraft,
): Promise<RenderedSnippet> {
  const stored = await snippets.find(caller, id);
  const { name, siteId } = stored;
  const { html = stored.html, text = stored.text } = draft;
  const [used, site] = await Promise.all([
    loadCurrentSnippets(caller.orgId, siteId, { html, text }),
    sites.find({ orgId: caller.orgId }, siteId),
  ]);
  const sourceOf = (part: "html" | "text", source: string | null): string | null => {
    if (source === null) return null;
    const isLayout = liquid.variableNames(compile(part, source)).includes("content");
    return isLayout ? `{% layout '${name}' %}${sampleContent[part]}` : `{% render '${name}' %}`;
  };
  const compile = (field: "html" | "text", source: string) =>
    liquid.compile(source, { escape: field === "html", field, snippets: used });
  const rendered = renderBody(
    {
      ...{ subject: "", previewText: null, locale: null },
      ...{ html: sourceOf("html", html), text: sourceOf("text", text) ?? "" },
      snippets: { ...used, [name]: { html, text } },
    },
    { ...currentBrandVariables(site), ...variables },
  );
  const { missingVariables } = rendered;
  return { html: rendered.html, text: text === null ? null : rendered.text, missingVariables };
}
