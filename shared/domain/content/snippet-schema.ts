// The fields of snippets, as the API has them.
import * as z from "zod";
import {
  Count,
  CreatedAt,
  NewSiteId,
  RecordId,
  RecordSiteId,
  Timestamp,
  UpdatedAt,
} from "../../kernel/record-fields.ts";
import { bodyFields } from "./template-bodies.ts";

/** The current version and those that it replaced. */
export const maxVersionsOfSnippet = 20;

const Part = bodyFields.html;
const html = Part.describe(
  "Piece of HTML, with Liquid, that `{% render 'name' %}` in the `html` of a template brings in. " +
    "With `{{ content }}` it can be a layout too. `null`: it cannot be used in `html`.",
);
const text = Part.describe(
  "The same for the `text` of a template. `null`: it cannot be used in `text`.",
);

export const SnippetVersion = z.object({
  version: RecordId.describe("Number of the version."),
  savedAt: Timestamp.describe("When the version was saved."),
  savedBy: RecordId.nullable().describe("User who saved it. `null`: not known."),
});

export const SnippetMeta = z
  .object({
    id: RecordId.describe("Id of the snippet, for GET /snippets/:id."),
    siteId: RecordSiteId,
    name: z.string().describe("Name of the snippet, for `render` and `layout`."),
    version: Count.describe(
      "Rises by 1 with each change. Email is sent with the version it was accepted with.",
    ),
    isLayout: z
      .boolean()
      .describe(
        "Whether `{% layout 'name' %}` can frame a template with it: each part has " +
          "`{{ content }}` once, outside of tags.",
      ),
    variables: z.array(z.string()).describe("Variables that the snippet reads."),
    uses: z.array(z.string()).describe("Names of the snippets that it uses itself."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "SnippetMeta" });
export type SnippetMeta = z.output<typeof SnippetMeta>;

export const Snippet = SnippetMeta.extend({
  html: z.string().nullable().describe("Piece of HTML, or `null`."),
  text: z.string().nullable().describe("Piece of plain text, or `null`."),
  designJson: z.unknown().describe("State of your visual editor, as it was stored, or `null`."),
  versions: z
    .array(SnippetVersion)
    .describe(
      `The current version and up to ${maxVersionsOfSnippet - 1} that it replaced, newest first.`,
    ),
}).meta({ id: "Snippet" });
export type Snippet = z.output<typeof Snippet>;

/** Checked by code: validators of other languages do not know classes of Unicode. */
const namePattern = /^[\p{L}\p{N}][\p{L}\p{N} _.-]*$/u;

const name = z
  .string()
  .trim()
  .min(1)
  .max(60)
  .refine((text) => namePattern.test(text), "can have letters, digits, spaces and _ . -")
  .describe(
    "Name, unique in its site, such as `footer`: letters, digits, spaces and `_ . -`, with a " +
      "letter or digit first. It can be changed while nothing uses the snippet.",
  );

export const NewSnippet = z
  .object({
    siteId: NewSiteId,
    name,
    html: html.default(null),
    text: text.default(null),
    designJson: bodyFields.designJson.default(null),
  })
  .meta({ examples: [{ name: "greeting", html: "<p>Hello {{ firstName }}</p>" }] });
export type NewSnippet = z.output<typeof NewSnippet>;

export const SnippetChanges = z
  .object({
    name,
    html,
    text,
    designJson: bodyFields.designJson,
    version: z
      .int()
      .positive()
      .describe(
        "`version` that the change is based on. If somebody else has changed the snippet since, " +
          "the response is 409. If omitted, the change replaces theirs.",
      ),
  })
  .partial()
  .meta({ examples: [{ html: "<p>Good morning, {{ firstName }}</p>" }] });
export type SnippetChanges = z.output<typeof SnippetChanges>;

export const SnippetRestore = z
  .object({ version: z.int().positive().describe("Version whose content the snippet gets.") })
  .meta({ examples: [{ version: 1 }] });
