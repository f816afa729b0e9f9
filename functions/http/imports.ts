import { stringify } from "csv-stringify/sync";
import * as z from "zod";
import { Import, NewImport } from "../../shared/domain/imports/import.ts";
import * as imported from "../../shared/domain/imports.ts";
import { invalid, unsupported } from "../../shared/errors.ts";
import { formOf } from "../../shared/http/multipart.ts";
import { PageQuery, paged, type Request, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { checked, unread } from "../../shared/http/validate.ts";
import { parsed, readable } from "../../shared/json.ts";

const { shape } = NewImport;
/** What is read out of a text; it is told as what it then is. */
const text = (documentedAs: z.ZodType) => z.string().max(100_000).optional().meta({ documentedAs });
const written = (of: z.ZodType, how: string) => text(z.string().describe([of.description, how].filter(Boolean).join(". ")));
/** Options as texts: in the query, and as fields of a form. */
const Texts = z.object({
  siteId: text(shape.siteId),
  mapping: written(shape.mapping, 'As JSON: {"Mail": "email", "Plan": "customFields.plan", "Notes": "ignore"}'),
  tags: written(shape.tags, "Separated by commas, or as JSON"),
  lists: written(shape.lists, "Separated by commas, or as JSON"),
  mode: text(shape.mode),
  resubscribe: text(shape.resubscribe),
  status: text(shape.status),
  delimiter: written(shape.delimiter, "comma, semicolon, tab, pipe, or the character itself"),
  encoding: text(shape.encoding),
  filename: text(shape.filename),
});
type Texts = z.output<typeof Texts>;

const delimiters: Record<string, string> = { comma: ",", semicolon: ";", tab: "\t", "\\t": "\t", pipe: "|" };
const numbers = (values: unknown) => (Array.isArray(values) ? values.map(numeric) : values);
const numeric = (value: unknown) => (typeof value === "string" && /^\s*\d+\s*$/.test(value) ? Number(value) : value);
const truth = (value: string) => ({ true: true, false: false })[value.toLowerCase()] ?? value;

function fromJson(name: string, value: string): unknown {
  const read = parsed(value);
  if (read === undefined) throw invalid(`${name} is not valid JSON`, { details: [{ path: name, message: "is not valid JSON" }] });
  return read;
}

const several = (name: string) => (value: string) =>
  value.trim().startsWith("[")
    ? fromJson(name, value)
    : value
        .split(",")
        .map((one) => one.trim())
        .filter(Boolean);

const readers: Partial<Record<keyof Texts, (value: string) => unknown>> = {
  siteId: numeric,
  mapping: (value) => fromJson("mapping", value),
  tags: several("tags"),
  lists: (value) => numbers(several("lists")(value)),
  resubscribe: truth,
  delimiter: (value) => delimiters[value.toLowerCase()] ?? value,
};

/** An empty field of a form says nothing. */
const optionsOf = (texts: Record<string, string | undefined>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(texts).flatMap(([name, value]) => (value ? [[name, (readers[name as keyof Texts] ?? String)(value)] as const] : [])),
  );

interface Wish {
  source: imported.Source;
  options: Record<string, unknown>;
}

const UploadId = z.object({ uploadId: z.string().min(1).max(100).describe("Of POST /attachments with purpose import") });

async function fromForm(request: Request): Promise<Wish> {
  const { file, fields } = await formOf(request);
  if (!file)
    throw invalid("file is required: the CSV, as a file of the form", { details: [{ path: "file", message: "file is required" }] });
  return { source: { bytes: file.bytes }, options: { ...(file.name && { filename: file.name.slice(0, 200) }), ...optionsOf(fields) } };
}

async function byReference({ rawBody }: Request): Promise<Wish> {
  const { uploadId, ...options } = (fromJson("The body", readable(rawBody)) ?? {}) as Record<string, unknown>;
  return { source: checked(UploadId, { uploadId }) as z.output<typeof UploadId>, options };
}

const asFile = async ({ rawBody }: Request): Promise<Wish> => ({ source: { bytes: rawBody }, options: {} });

const kinds: Record<string, (request: Request) => Promise<Wish>> = {
  "multipart/form-data": fromForm,
  "text/csv": asFile,
  "text/tab-separated-values": asFile,
  "text/plain": asFile,
  "application/json": byReference,
};

function wishOf(request: Request): Promise<Wish> {
  const type = (request.headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
  const read = kinds[type];
  if (!read) throw unsupported(`The Content-Type must be one of ${Object.keys(kinds).join(", ")}`);
  return read(request);
}

export const imports = group("imports", [
  route(
    "POST /imports/upload",
    "Import contacts from a CSV file, whatever its delimiter and encoding: as a form (a file, and the options below as fields), as raw text/csv (options in the query), or, up to 1 GB, as JSON with the uploadId of POST /attachments and the options",
    {
      level: "site",
      query: Texts,
      raw: {
        "multipart/form-data": Texts.extend({ file: z.string().meta({ format: "binary" }).describe("The CSV") }).meta({
          examples: [{ file: "people.csv", lists: "1" }],
        }),
        "text/csv": z.string(),
        "text/tab-separated-values": z.string(),
        "text/plain": z.string(),
        "application/json": UploadId.extend(shape).meta({
          examples: [{ uploadId: "5b2e8c1f9a7d4e60b3c1d2e4f5a69788", tags: ["customer"] }],
        }),
      },
      returns: Import,
      status: 202,
      errors: { 400: "No file, or options that cannot be", 404: "There is no such site or list", 415: "Neither a form, CSV nor JSON" },
      handle: async ({ caller, query, request, reply }) => {
        const { source, options } = await wishOf(request);
        const given = { ...optionsOf(query), ...options };
        const wish = checked(NewImport, given) as NewImport;
        const ignored = unread(given, wish);
        if (ignored.length) reply.warnings.push(`Ignored fields: ${ignored.join(", ")}`);
        if (wish.resubscribe && caller.siteId !== undefined)
          reply.warnings.push("A key that is bound to a site takes no address off the suppression list");
        return imported.start(caller, wish, source);
      },
    },
  ),
  route("GET /imports", "Imports, newest first", {
    level: "site",
    query: PageQuery.extend({ siteId: z.coerce.number().int().positive().optional() }),
    returns: paged("imports", Import),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await imported.list(caller, page, siteId);
      return { imports: items, pagination };
    },
  }),
  route("GET /imports/:id", "How far an import is, and what came of its rows", {
    level: "site",
    returns: Import,
    handle: ({ caller, params }) => imported.find(caller, params.id),
  }),
  route("GET /imports/:id/errors", "What was wrong with rows, as CSV (row,email,message), 10,000 at a time; kept for 90 days", {
    level: "site",
    query: z.object({
      cursor: z
        .string()
        .regex(/^\d{1,15}$/, "is not one that this list gave")
        .optional()
        .describe("The header X-Next-Cursor of the last part"),
    }),
    returns: z.string(),
    type: "text/csv; charset=utf-8",
    handle: async ({ caller, params: { id }, query: { cursor }, reply }) => {
      const { rows, next } = await imported.errors(caller, id, cursor);
      if (next !== undefined) reply.headers["x-next-cursor"] = next;
      reply.headers["content-disposition"] = `attachment; filename="import-${id}-errors.csv"`;
      return stringify(rows, { header: true, columns: ["row", "email", "message"], escape_formulas: true });
    },
  }),
]);
export const { handler } = imports;
