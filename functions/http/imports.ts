import * as z from "zod";
import { Import, NewImport } from "../../shared/domain/audience/imports/import-record.ts";
import * as imported from "../../shared/domain/audience/imports/imports.ts";
import { ImportPreview, preview } from "../../shared/domain/audience/imports/preview-import.ts";
import { invalid, unsupported } from "../../shared/errors.ts";
import { requireVerifiedEmail } from "../../shared/http/authenticate.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { parseMultipart } from "../../shared/http/form-body.ts";
import { maxBytes } from "../../shared/http/request-body.ts";
import {
  type ApiReply,
  type ApiRequest,
  Cursor,
  PageQuery,
  pagedSchema,
  route,
} from "../../shared/http/route.ts";
import { ignoredFields, validate } from "../../shared/http/validate.ts";
import { guarded } from "../../shared/kernel/csv-cells.ts";
import { csvText } from "../../shared/kernel/csv-packages.ts";
import { SiteFilter } from "../../shared/kernel/digits.ts";
import { parseJson, safeJsonText } from "../../shared/kernel/json.ts";

const { shape } = NewImport;
/** Text that is parsed later, documented as the parsed type. */
const maxOptionText = 100_000;
/** Options as text, in the query and in form fields. */
function textOptions(maxLength: number) {
  const documentedText = (documentedAs: z.ZodType) =>
    z.string().max(maxLength).optional().meta({ documentedAs });
  const describedText = (of: z.ZodType, how: string) =>
    documentedText(
      z.string().max(maxLength).describe([of.description, how].filter(Boolean).join(" ")),
    );
  return z.object({
    siteId: documentedText(shape.siteId).describe(
      "Site of the contacts. Defaults to the site of the API key, else to the organization's " +
        "only site.",
    ),
    mapping: describedText(
      shape.mapping,
      'As JSON: `{"Mail": "email", "Plan": "customFields.plan", "Notes": "ignore"}`.',
    ),
    tags: describedText(shape.tags, "Separated by commas, or as a JSON array."),
    lists: describedText(shape.lists, "Separated by commas, or as a JSON array."),
    startSequences: documentedText(shape.startSequences),
    sendConfirmation: documentedText(shape.sendConfirmation),
    mode: documentedText(shape.mode),
    resubscribe: documentedText(shape.resubscribe),
    status: documentedText(shape.status),
    delimiter: describedText(
      shape.delimiter,
      "`comma`, `semicolon`, `tab`, `pipe`, or the character itself.",
    ),
    encoding: documentedText(shape.encoding),
    decimalMark: documentedText(shape.decimalMark),
    dateOrder: documentedText(shape.dateOrder),
    filename: documentedText(shape.filename).describe("Name of the file, shown with the import."),
  });
}
const TextOptions = textOptions(maxOptionText);
/** The query and the headers together have up to 16 KB, and 10 KB on AWS. */
const QueryOptions = textOptions(2000);
const CsvFile = z.string().max(maxBytes.account).describe("CSV file, with a header.");
type TextOptions = z.output<typeof TextOptions>;

const delimiters: Record<string, string> = {
  comma: ",",
  semicolon: ";",
  tab: "\t",
  "\\t": "\t",
  pipe: "|",
};
const toNumbers = (values: unknown) => (Array.isArray(values) ? values.map(toNumber) : values);
const toNumber = (value: unknown) =>
  typeof value === "string" && /^\s*\d+\s*$/.test(value) ? Number(value) : value;
const parseBoolean = (value: string) =>
  ({ true: true, false: false })[value.toLowerCase()] ?? value;

function parseJsonField(name: string, value: string): unknown {
  const read = parseJson(value);
  if (read === undefined)
    throw invalid(`${name} is not valid JSON`, {
      details: [{ path: name, message: "is not valid JSON" }],
    });
  return read;
}

const parseList = (name: string) => (value: string) =>
  value.trim().startsWith("[")
    ? parseJsonField(name, value)
    : value
        .split(",")
        .map((one) => one.trim())
        .filter(Boolean);

const optionParsers: Partial<Record<keyof TextOptions, (value: string) => unknown>> = {
  siteId: toNumber,
  mapping: (value) => parseJsonField("mapping", value),
  tags: parseList("tags"),
  lists: (value) => toNumbers(parseList("lists")(value)),
  resubscribe: parseBoolean,
  startSequences: parseBoolean,
  sendConfirmation: parseBoolean,
  delimiter: (value) => delimiters[value.toLowerCase()] ?? value,
};

/** Ignores empty form fields. */
const parseOptions = (texts: Record<string, string | undefined>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(texts).flatMap(([name, value]) =>
      value ? [[name, (optionParsers[name as keyof TextOptions] ?? String)(value)] as const] : [],
    ),
  );

interface ImportRequest {
  source: imported.ImportSource;
  options: Record<string, unknown>;
}

const UploadId = z.object({
  uploadId: z
    .string()
    .min(1)
    .max(100)
    .describe('Id of a file that was uploaded with POST /attachments and `purpose: "import"`.'),
});

async function parseForm(request: ApiRequest): Promise<ImportRequest> {
  const { file, fields } = await parseMultipart(request);
  if (!file)
    throw invalid("file is required: send the CSV as the file of the form", {
      details: [{ path: "file", message: "is required" }],
    });
  validate(TextOptions, fields);
  return {
    source: { bytes: file.bytes },
    options: { ...(file.name && { filename: file.name.slice(0, 200) }), ...parseOptions(fields) },
  };
}

async function parseUploadReference({ rawBody }: ApiRequest): Promise<ImportRequest> {
  const { uploadId, ...options } = (parseJsonField("The body", safeJsonText(rawBody)) ??
    {}) as Record<string, unknown>;
  return { source: validate(UploadId, { uploadId }) as z.output<typeof UploadId>, options };
}

const parseFile = async ({ rawBody }: ApiRequest): Promise<ImportRequest> => ({
  source: { bytes: rawBody },
  options: {},
});

const parserByContentType: Record<string, (request: ApiRequest) => Promise<ImportRequest>> = {
  "multipart/form-data": parseForm,
  "text/csv": parseFile,
  "text/tab-separated-values": parseFile,
  "text/plain": parseFile,
  "application/json": parseUploadReference,
};

function parseRequest(request: ApiRequest): Promise<ImportRequest> {
  const type = (request.headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
  const read = parserByContentType[type];
  if (!read)
    throw unsupported(
      `The Content-Type must be one of ${Object.keys(parserByContentType).join(", ")}`,
    );
  return read(request);
}

const requestTypes = {
  "multipart/form-data": TextOptions.extend({
    file: CsvFile.meta({ format: "binary" }),
  }).meta({ id: "ImportForm", examples: [{ file: "people.csv", lists: "1" }] }),
  "text/csv": CsvFile,
  "text/tab-separated-values": CsvFile,
  "text/plain": CsvFile,
  "application/json": UploadId.extend(shape).meta({
    id: "ImportOfUpload",
    examples: [{ uploadId: "5b2e8c1f9a7d4e60b3c1d2e4f5a69788", tags: ["customer"] }],
  }),
};
const wrongType =
  "The `Content-Type` must be `multipart/form-data`, `text/csv`, `text/tab-separated-values`, " +
  "`text/plain` or `application/json`.";

/** The file and the options of an import, from the body and the query. */
async function readImport(
  query: TextOptions,
  { request, reply }: { request: ApiRequest; reply: ApiReply },
): Promise<{ source: imported.ImportSource; options: NewImport }> {
  const { source, options: inBody } = await parseRequest(request);
  const given = { ...parseOptions(query), ...inBody };
  const options = validate(NewImport, given) as NewImport;
  const ignored = ignoredFields(given, options);
  if (ignored.length) reply.warnings.push(`Ignored fields: ${ignored.join(", ")}`);
  return { source, options };
}

export const imports = routeGroup("imports", [
  route("POST /imports/preview", "Preview an import", {
    operationId: "previewImport",
    description:
      "Takes the same request as POST /imports/upload. Returns the columns with the field that " +
      "each would be read as, the first 20 rows with what is wrong in them, and how many rows " +
      "there are. Imports and stores nothing.",
    level: "site",
    preview: true,
    query: QueryOptions,
    rawBodyTypes: requestTypes,
    returns: ImportPreview,
    errors: {
      400: "The file is missing or cannot be read, or an option is not valid.",
      404: "The site does not exist.",
      415: wrongType,
    },
    handle: async ({ caller, query, request, reply }) => {
      const { source, options } = await readImport(query, { request, reply });
      return preview(caller, options, source);
    },
  }),
  route("POST /imports/upload", "Import contacts from a CSV file", {
    operationId: "createImport",
    description:
      "Starts an import job: read its progress with GET /imports/:id. Send the file as " +
      "multipart/form-data (options as fields), as text/csv (options in the query), or as " +
      "JSON with the `uploadId` of a file of up to 1 GB. Starts no sequences and gives no " +
      "points.",
    level: "site",
    query: QueryOptions,
    rawBodyTypes: requestTypes,
    returns: Import,
    status: 202,
    errors: {
      400: "The file is missing, or an option is not valid.",
      404: "The site or one of the lists does not exist.",
      415: wrongType,
    },
    handle: async ({ caller, query, request, reply }) => {
      const { source, options: importOptions } = await readImport(query, { request, reply });
      if (importOptions.resubscribe && caller.siteIds)
        reply.warnings.push(
          "resubscribe does not remove addresses from the suppression list: this API key or " +
            "member is limited to sites",
        );
      requireVerifiedEmail(caller, { needsVerifiedEmail: importOptions.sendConfirmation });
      return imported.start(caller, importOptions, source);
    },
  }),
  route("GET /imports", "List imports", {
    description: "Returns imports, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
    }),
    returns: pagedSchema("imports", Import),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await imported.list(caller, page, siteId);
      return { imports: items, pagination };
    },
  }),
  route("GET /imports/:id", "Get an import", {
    description: "Returns the progress, the counts and the first 100 row errors.",
    level: "site",
    returns: Import,
    handle: ({ caller, params }) => imported.find(caller, params.id),
  }),
  route("GET /imports/:id/errors", "Get the row errors of an import", {
    audit: "each",
    right: "audience:export",
    description:
      "Returns CSV with the columns row, email and message, 10,000 rows at a time. Row " +
      "errors are kept for 90 days.",
    level: "site",
    query: z.object({ cursor: Cursor.describe("Header `X-Next-Cursor` of the previous part.") }),
    returns: z.string(),
    contentType: "text/csv; charset=utf-8",
    handle: async ({ caller, params: { id }, query: { cursor }, reply }) => {
      const { rows, next } = await imported.listErrors(caller, id, cursor);
      if (next !== undefined) reply.headers["x-next-cursor"] = reply.sealCursor(next);
      reply.headers["content-disposition"] = `attachment; filename="import-${id}-errors.csv"`;
      return csvText(rows, {
        header: true,
        columns: ["row", "email", "message"],
        cast: { string: guarded },
      });
    },
  }),
]);
export const { handler } = imports;
