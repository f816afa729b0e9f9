// Templates: a small record that lists and sends read, and a body per version apart from it.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { now } from "../clock.ts";
import { all, contains, equals, where } from "../conditions.ts";
import { Unmet, update, type Write, write } from "../doors/table.ts";
import { asOneLine, oneLine } from "../email.ts";
import { conflict, Problem } from "../errors.ts";
import * as ids from "../ids.ts";
import { keys } from "../keys.ts";
import * as liquid from "../liquid.ts";
import type { PageRequest, Pagination } from "../paging.ts";
import { plainText } from "../plain-text.ts";
import * as records from "./records.ts";
import * as sites from "./sites.ts";
import * as bodies from "./template-bodies.ts";
import * as folders from "./template-folders.ts";

const name = oneLine(200).trim().min(1);
const folderId = z.int().positive().nullable();
const { subject, html, text, designJson } = bodies.fields;

export const TemplateMeta = z
  .object({
    id: z.int(),
    siteId: z.int(),
    name: z.string(),
    subject: z.string(),
    folderId: z.int().nullable(),
    version: z
      .int()
      .describe("Rises by 1 with every change of subject, html, text or designJson; mail keeps the version it was accepted with"),
    variables: z.array(z.string()).describe("What it reads, as written in it: firstName, order.total"),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "TemplateMeta" });
export type TemplateMeta = z.output<typeof TemplateMeta>;
export const Template = TemplateMeta.extend({ html: z.string().nullable(), text: z.string().nullable(), designJson: z.unknown() }).meta({
  id: "Template",
});
export type Template = z.output<typeof Template>;

export const NewTemplate = z
  .object({
    siteId: z.int().positive().optional(),
    name,
    subject,
    html: html.default(null),
    text: text.default(null),
    designJson: designJson.default(null),
    folderId: folderId.default(null),
  })
  .meta({ examples: [{ name: "Welcome", subject: "Welcome, {{ firstName }}", html: "<p>Hello {{ firstName | default: 'there' }}</p>" }] });
export type NewTemplate = z.output<typeof NewTemplate>;
export const TemplateChanges = z
  .object({ name, subject, html, text, designJson, folderId })
  .partial()
  .meta({ examples: [{ subject: "Welcome to the shop, {{ firstName }}" }] });
export type TemplateChanges = z.output<typeof TemplateChanges>;

interface TemplateFilter {
  siteId?: number | undefined;
  /** "none": unfiled */
  folderId?: number | "none" | undefined;
  /** Part of the name, in any case. */
  search?: string | undefined;
}

type Who = Pick<Caller, "orgId" | "siteId">;
interface Stored extends TemplateMeta, bodies.Reads {
  /** Lower-cased name. */
  search: string;
}

export async function create(who: Who, { siteId: given, name, folderId, ...body }: NewTemplate): Promise<Template> {
  const reads = bodies.readsOf(body);
  const siteId = await sites.resolve(who, given);
  const stamp = await records.stamp("TEMPLATE");
  const meta: Stored = { ...stamp, siteId, name, subject: body.subject, folderId, version: 1, ...reads, search: searchable(name) };
  const stored = await bodies.storing(who.orgId, meta.id, 1, body);
  return { ...(await records.insert("TEMPLATE", who, meta, stored, ...filing(who, meta))), ...body };
}

/** Several for one site, for a transaction that makes something else besides. */
export async function inserting(
  who: Who,
  siteId: number,
  all: Pick<NewTemplate, "name" | "subject" | "html" | "text">[],
): Promise<{ templates: TemplateMeta[]; writes: Write[] }> {
  const [first, at] = [await ids.take("TEMPLATE", all.length), new Date(await ids.time()).toISOString()];
  const stamped = all.map((given, i) => ({ given, id: first + i, body: { ...given, designJson: null } }));
  const templates = stamped.map(
    ({ given: { name, subject }, id, body }): Stored => ({
      ...{ id, siteId, name, subject, folderId: null, version: 1, createdAt: at, updatedAt: at },
      ...bodies.readsOf(body),
      search: searchable(name),
    }),
  );
  const stored = await Promise.all(stamped.map(({ id, body }) => bodies.storing(who.orgId, id, 1, body)));
  return { templates, writes: [...records.inserting("TEMPLATE", who, templates), ...stored] };
}

const searchable = (name: string): string => name.toLowerCase();
const filing = (who: Who, { folderId, siteId }: Pick<TemplateMeta, "folderId" | "siteId">): Write[] =>
  folderId === null ? [] : [folders.holding(who, folderId, siteId)];

/** Without what it says; newest first. */
export async function list(
  who: Who,
  { siteId, folderId, search, ...request }: PageRequest & TemplateFilter,
): Promise<{ items: TemplateMeta[]; pagination: Pagination }> {
  const filed = where({ siteId: await sites.only(who, siteId), folderId: folderId === "none" ? null : folderId });
  const named = search === undefined ? undefined : contains("search", searchable(search));
  return records.list<TemplateMeta>("TEMPLATE", who, request, filed && named ? all(filed, named) : (filed ?? named));
}

/** What sending needs to know at once: half a read unit. A template that was made a moment ago costs a second, sure look. */
export async function findMeta(who: Who, id: number): Promise<TemplateMeta & bodies.Reads> {
  try {
    return await records.find<Stored>("TEMPLATE", who, id, { consistent: false });
  } catch (error) {
    if (error instanceof Problem && error.kind === "missing") return records.find<Stored>("TEMPLATE", who, id);
    throw error;
  }
}

export const body = bodies.read;

export async function find(who: Who, id: number): Promise<Template> {
  const meta = await records.find<TemplateMeta>("TEMPLATE", who, id);
  return { ...meta, ...(await body(who.orgId, id, meta.version)) };
}

export const change = (who: Who, id: number, changes: TemplateChanges): Promise<Template> =>
  untilSettled(async () => {
    const { html, text, designJson, ...meta } = await find(who, id);
    const before = { subject: meta.subject, html, text, designJson };
    const { name = meta.name, folderId = meta.folderId, ...content } = changes;
    // JSON knows no undefined: a field is given or it is not there.
    const after: bodies.Body = { ...before, ...(content as Partial<bodies.Body>) };
    const isNewVersion = JSON.stringify(after) !== JSON.stringify(before);
    const version = meta.version + (isNewVersion ? 1 : 0);
    const reads = isNewVersion ? { optional: [], ...bodies.readsOf(after) } : {};
    const set = { name, search: searchable(name), subject: after.subject, folderId, version, ...reads, updatedAt: now().toISOString() };
    await write(
      update(keys.record(who.orgId, "TEMPLATE", id), { set }, { if: equals("version", meta.version) }),
      ...(changes.folderId === undefined ? [] : filing(who, { ...meta, folderId })),
      ...(isNewVersion ? [await bodies.storing(who.orgId, id, version, after), bodies.expiring(who.orgId, id, meta.version)] : []),
    );
    return { ...meta, ...set, ...after };
  });

/** Mail that was accepted with it is still sent. */
export const remove = (who: Who, id: number): Promise<void> =>
  untilSettled(async () => {
    const { version } = await records.find<TemplateMeta>("TEMPLATE", who, id);
    await write(...records.removing("TEMPLATE", who, id, { if: equals("version", version) }), bodies.expiring(who.orgId, id, version));
  });

/** Somebody else changed the template between our reading and writing: read again. */
async function untilSettled<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; tries <= 10; tries++)
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
    }
  throw conflict("The template is being changed by others at the same time");
}

export const Rendered = z.object({
  subject: z.string(),
  html: z.string().nullable(),
  text: z.string().describe("Made from the html where the template has none"),
  missingVariables: z
    .array(z.string())
    .describe(
      "Looked up and not given, so empty; not those with a default filter or only asked about in a condition, nor email, name and what marketing mail brings itself: unsubscribeUrl, contactToken",
    ),
});
export type Rendered = z.output<typeof Rendered>;

/** What every mail knows, or all marketing mail, without being told. */
const always = new Set(["email", "name", "unsubscribeUrl", "contactToken"]);

/** What a recipient with these variables would get. */
export async function render(who: Who, id: number, variables: liquid.Variables): Promise<Rendered> {
  const { subject, html, text } = await find(who, id);
  const moment = { now: now() };
  const missingVariables = new Set<string>();
  const part = (field: string, source: string) => {
    const { text, missing } = liquid.render(liquid.compile(source, { escape: field === "html", field }), variables, moment);
    for (const one of missing) if (!always.has(one)) missingVariables.add(one);
    return text;
  };
  const oneLine = asOneLine(part("subject", subject));
  const markup = html === null ? null : part("html", html);
  const plain = text === null ? plainText(markup ?? "") : part("text", text);
  return { subject: oneLine, html: markup, text: plain, missingVariables: [...missingVariables] };
}
