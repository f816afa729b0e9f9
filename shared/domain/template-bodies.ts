// What a template says, apart from its record and immutable per version: mail that was accepted with a version is sent with it.
import * as z from "zod";
import { type Packed, packed, unpacked } from "../bodies.ts";
import { boundedCache } from "../cache.ts";
import { after, epochSeconds } from "../clock.ts";
import { get, put, update, type Write } from "../doors/table.ts";
import { oneLine } from "../email.ts";
import { invalid, missing, overLimit } from "../errors.ts";
import { keys } from "../keys.ts";
import * as liquid from "../liquid.ts";

const maxBytes = 1024 * 1024;
const maxDepth = 100;
const maxVariables = 200;
const maxVariableLength = 100;

const Source = z.string().refine((text) => Buffer.byteLength(text) <= maxBytes, "must have at most 1 MB");
const Design = z
  .unknown()
  .refine((value) => isShallow(value, maxDepth), `must be nested at most ${maxDepth} levels deep`)
  .refine((value) => !isShallow(value, maxDepth) || Buffer.byteLength(JSON.stringify(value)) <= maxBytes, "must have at most 1 MB as JSON");

export const fields = {
  subject: oneLine(998).min(1).describe("Liquid, in one line"),
  html: Source.nullable().describe("Liquid; output is HTML-escaped unless its last filter is raw; at most 1 MB"),
  text: Source.nullable().describe("Liquid; null: made from the html when it is sent; at most 1 MB"),
  designJson: Design.describe("Whatever a visual editor needs to show the template again; any JSON of at most 1 MB"),
};

export interface Body {
  subject: string;
  html: string | null;
  text: string | null;
  designJson: unknown;
}

export interface Reads {
  variables: string[];
  /** Of these, those whose absence leaves no gap. */
  optional?: string[];
}

/** The variables it reads, over all its parts. Throws `invalid` with field and line when a part does not parse. */
export function readsOf({ subject, html, text }: Body): Reads {
  if (html === null && text === null) throw invalid("html or text is required", { details: [{ path: "html", message: "is required" }] });
  const parts = Object.entries({ subject, html, text }).flatMap(([field, source]) => (source === null ? [] : [{ field, source }]));
  const names = new Set<string>();
  const needed = new Set<string>();
  for (const { field, source } of parts) {
    const compiled = liquid.compile(source, { escape: field === "html", field });
    for (const name of liquid.variables(compiled)) names.add(name);
    for (const name of liquid.needed(compiled)) needed.add(name);
    if (names.size > maxVariables) throw overLimit(field, `A template may read at most ${maxVariables} variables`);
    if ([...names].some((name) => name.length > maxVariableLength))
      throw overLimit(field, `A variable's name in ${field} may have at most ${maxVariableLength} characters`);
  }
  const optional = [...names].filter((name) => !needed.has(name));
  return { variables: [...names], ...(optional.length && { optional }) };
}

const addressOf = (orgId: number, id: number, version: number) => keys.body(orgId, "TEMPLATE", id, version);

export async function storing(orgId: number, id: number, version: number, body: Body): Promise<Write> {
  const address = addressOf(orgId, id, version);
  return put(address, await packed(address, body, "templates"));
}

/** Longer than mail can be scheduled ahead, retries included. */
const keepSeconds = 35 * 24 * 3600;

/** For a version that no new mail will use: what is on its way still does. */
export const expiring = (orgId: number, id: number, version: number): Write =>
  update(addressOf(orgId, id, version), { set: { expires: epochSeconds(after(keepSeconds)) } });

const bodies = boundedCache<Body>(32_000_000);
const perBody = 1000;

/** Of a version; 404 when it was replaced so long ago that it is gone. Kept in the process, as it never changes. */
export async function read(orgId: number, id: number, version: number): Promise<Body> {
  const name = `${orgId}/${id}/${version}`;
  const known = bodies.get(name);
  if (known) return known;
  const address = addressOf(orgId, id, version);
  const item = (await get<Packed>(address, { consistent: false })) ?? (await get<Packed>(address));
  if (!item?.gz && !item?.blob) throw missing("This version of the template is gone");
  const body = await unpacked<Body>(item);
  bodies.set(name, body, 2 * JSON.stringify(body).length + perBody);
  return body;
}

// Without recursion past the bound, so that no input can exhaust the stack.
function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((one) => isShallow(one, levels - 1));
}
