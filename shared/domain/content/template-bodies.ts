// The bodies of templates, one immutable item per version. Mail is sent with the version it was
// accepted with.
import { get, put, update, type Write } from "../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds } from "../../clock.ts";
import { isBrandPath } from "../../email/brand/brand.ts";
import * as liquid from "../../email/liquid.ts";
import { invalid, limitExceeded, missing } from "../../errors.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { storedJson } from "../../kernel/stored-json.ts";
import { keys } from "../../keys.ts";
import {
  checkTranslations,
  maxPartBytes,
  previewText,
  subjectLine,
  subjectsOf,
  type TemplateLanguages,
  TemplateSource,
  type Translations,
} from "./template-translations.ts";

export const maxVariables = 200;
const maxVariableLength = 100;

export const bodyFields = {
  subject: subjectLine.describe("Subject line, with Liquid, on one line."),
  previewText,
  html: TemplateSource.nullable().describe(
    "HTML part, with Liquid. Output is HTML-escaped unless its last filter is `raw`. At most " +
      "1 MB. Give `html`, `text` or both.",
  ),
  text: TemplateSource.nullable().describe(
    "Plain text part, with Liquid. `null`: made from `html` when the email is sent. At most 1 MB.",
  ),
  designJson: storedJson(maxPartBytes).describe(
    "State of your visual editor, as any JSON of at most 1 MB, nested at most 32 levels " +
      "deep. The service stores it and does not read it. The console opens a design of its own " +
      "visually, and every other one as code.",
  ),
};

export interface TemplateBody {
  subject: string;
  html: string | null;
  text: string | null;
  designJson: unknown;
  /** Absent in bodies that earlier versions of the service stored, like the next fields. */
  previewText?: string | null;
  /** The language of these texts. */
  locale?: string | null;
  translations?: Translations;
}

export interface TemplateVariables extends TemplateLanguages {
  variables: string[];
  /** Variables with a default, or that are only read in conditions. */
  optional?: string[];
  /** Whether html and text are empty for every variable. */
  blankBody?: boolean;
  /** Files of the media library that the html shows. */
  pictures?: string[];
  /** The names of the snippets that html and text use themselves. */
  snippets?: string[];
}

interface TemplatePart {
  name: "subject" | "previewText" | "html" | "text";
  /** The path of the part in a request. */
  field: string;
  source: string;
}

type PartTexts = { [Name in TemplatePart["name"]]?: string | null | undefined };

const listParts = (
  { subject, previewText, html, text }: PartTexts,
  prefix: string,
): TemplatePart[] =>
  Object.entries({ subject, previewText, html, text }).flatMap(([name, source]) =>
    source ? [{ name: name as TemplatePart["name"], field: prefix + name, source }] : [],
  );

/** The parts of all languages that can be shown. */
export const listBodies = (body: TemplateBody): { html: string | null; text: string | null }[] => [
  body,
  ...Object.values(body.translations ?? {}),
];

/**
 * Finds the variables of all parts in all languages. Throws `invalid` with field and line if a part
 * does not parse. The path of a field starts with `prefix`.
 */
export function parseVariables(
  body: TemplateBody,
  snippets?: liquid.Snippets,
  prefix = "",
): TemplateVariables {
  const { html, text, locale, translations = {} } = body;
  if (html === null && text === null)
    throw invalid(`${prefix}html or ${prefix}text is required`, {
      details: [{ path: `${prefix}html`, message: "is required" }],
    });
  checkTranslations(body);
  const parts = [
    ...listParts(body, prefix),
    ...Object.entries(translations).flatMap(([name, translation]) =>
      listParts(translation, `${prefix}translations.${name}.`),
    ),
  ];
  const names = new Set<string>();
  const required = new Set<string>();
  const usedSnippets = new Set<string>();
  let blankBody = true;
  for (const { name: part, field, source } of parts) {
    const compiled = liquid.compile(source, {
      ...{ escape: part === "html" || part === "previewText", field },
      snippets: part === "html" || part === "text" ? (snippets ?? {}) : undefined,
    });
    for (const name of liquid.snippetNames(compiled)) usedSnippets.add(name);
    for (const name of brandAsOne(liquid.variableNames(compiled))) names.add(name);
    for (const name of liquid.requiredVariables(compiled))
      if (!isBrandPath(name)) required.add(name);
    if (field === `${prefix}html` || field === `${prefix}text`)
      blankBody &&= liquid.isBlank(compiled);
    if (names.size > maxVariables)
      throw limitExceeded(field, `A template can use at most ${maxVariables} variables`);
    if ([...names].some((name) => name.length > maxVariableLength))
      throw limitExceeded(
        field,
        `A variable's name in ${field} can have at most ${maxVariableLength} characters`,
      );
  }
  const optional = [...names].filter((name) => !required.has(name));
  const pictures = filesIn(
    listBodies(body)
      .map((one) => one.html ?? "")
      .join("\n"),
  );
  const subjects = subjectsOf(body);
  return {
    variables: [...names],
    ...(optional.length && { optional }),
    ...(blankBody && { blankBody }),
    ...(pictures.length && { pictures }),
    ...(usedSnippets.size && { snippets: [...usedSnippets] }),
    ...(locale && { locale }),
    ...(subjects && { subjects }),
  };
}

/** A design can read many values of the brand, which are one variable. */
export const brandAsOne = (names: string[]): string[] =>
  names.map((name) => (isBrandPath(name) ? "brand" : name));

const maxPictures = 200;

/** Names of the first 200 files of the media library. */
export const filesIn = (html: string): string[] => {
  const found = html.matchAll(/\/media\/\d+\/([0-9a-f]{40}\.(?:png|jpg|gif|webp))/g);
  return [...new Set([...found].map(([, file]) => file!))].slice(0, maxPictures);
};

const bodyKey = (orgId: number, id: number, version: number) =>
  keys.recordBody(orgId, "TEMPLATE", { id, version });

interface TemplateVersion {
  orgId: number;
  id: number;
  version: number;
}

export async function storeBodyWrite(
  { orgId, id, version }: TemplateVersion,
  body: TemplateBody,
): Promise<Write> {
  const key = bodyKey(orgId, id, version);
  return put(key, await compress(key, body, "templates"));
}

/**
 * Longer than the content of accepted mail, which is kept for 60 days and rendered again on
 * request. Mail can be scheduled 30 days ahead, so it is handed over within that time too.
 */
export const oldVersionTtlSeconds = 61 * 24 * 3600;

/** Expires a version that new mail no longer uses. Accepted mail still needs it for a while. */
export const expireBodyWrite = (orgId: number, id: number, version: number): Write =>
  update(bodyKey(orgId, id, version), {
    set: { expires: epochSeconds(addSeconds(oldVersionTtlSeconds)) },
  });

const bodyCache = createLruCache<TemplateBody>(32_000_000);
const entryOverheadBytes = 1000;

/**
 * Throws 404 if the version has expired. Caches bodies in the process, because they never change.
 */
export async function findBody(orgId: number, id: number, version: number): Promise<TemplateBody> {
  const cacheKey = `${orgId}/${id}/${version}`;
  const cached = bodyCache.get(cacheKey);
  if (cached) return cached;
  const key = bodyKey(orgId, id, version);
  const item =
    (await get<CompressedValue>(key, { consistent: false })) ?? (await get<CompressedValue>(key));
  if (!item?.gz && !item?.blob) throw missing("This version of the template is no longer stored");
  const body = await decompress<TemplateBody>(item);
  bodyCache.set(cacheKey, body, 2 * JSON.stringify(body).length + entryOverheadBytes);
  return body;
}
