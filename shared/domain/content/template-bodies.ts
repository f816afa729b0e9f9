// The bodies of templates, one immutable item per version. Mail is sent with the version it was
// accepted with.
import * as z from "zod";
import { get, put, update, type Write } from "../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds } from "../../clock.ts";
import * as liquid from "../../email/liquid.ts";
import { invalid, limitExceeded, missing } from "../../errors.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import { singleLineText } from "../../kernel/email-fields.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { storedJson } from "../../kernel/stored-json.ts";
import { keys } from "../../keys.ts";

const maxBytes = 1024 * 1024;
const maxVariables = 200;
const maxVariableLength = 100;

const Source = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= maxBytes, "must be at most 1 MB")
  .meta({ maxLength: maxBytes });

export const bodyFields = {
  subject: singleLineText(998).min(1).describe("Subject line, with Liquid, on one line."),
  html: Source.nullable().describe(
    "HTML part, with Liquid. Output is HTML-escaped unless its last filter is `raw`. At most " +
      "1 MB. Give `html`, `text` or both.",
  ),
  text: Source.nullable().describe(
    "Plain text part, with Liquid. `null`: made from `html` when the email is sent. At most 1 MB.",
  ),
  designJson: storedJson(maxBytes).describe(
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
}

export interface TemplateVariables {
  variables: string[];
  /** Variables with a default, or that are only read in conditions. */
  optional?: string[];
  /** Whether html and text are empty for every variable. */
  blankBody?: boolean;
}

/**
 * Finds the variables of all parts. Throws `invalid` with field and line if a part does not parse.
 */
export function parseVariables({ subject, html, text }: TemplateBody): TemplateVariables {
  if (html === null && text === null)
    throw invalid("html or text is required", {
      details: [{ path: "html", message: "is required" }],
    });
  const parts = Object.entries({ subject, html, text }).flatMap(([field, source]) =>
    source === null ? [] : [{ field, source }],
  );
  const names = new Set<string>();
  const required = new Set<string>();
  let blankBody = true;
  for (const { field, source } of parts) {
    const compiled = liquid.compile(source, { escape: field === "html", field });
    for (const name of liquid.variableNames(compiled)) names.add(name);
    for (const name of liquid.requiredVariables(compiled)) required.add(name);
    blankBody &&= field === "subject" || liquid.isBlank(compiled);
    if (names.size > maxVariables)
      throw limitExceeded(field, `A template can use at most ${maxVariables} variables`);
    if ([...names].some((name) => name.length > maxVariableLength))
      throw limitExceeded(
        field,
        `A variable's name in ${field} can have at most ${maxVariableLength} characters`,
      );
  }
  const optional = [...names].filter((name) => !required.has(name));
  return {
    variables: [...names],
    ...(optional.length && { optional }),
    ...(blankBody && { blankBody }),
  };
}

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
const oldVersionTtlSeconds = 61 * 24 * 3600;

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
