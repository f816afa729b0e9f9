// Responds with an export, or with 202 and an export job if the export is too long for one
// response.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import type { SourceFactory } from "../domain/analytics/exports/export-source.ts";
import * as exports from "../domain/analytics/exports/exports.ts";
import * as inlineExport from "../domain/analytics/exports/inline-export.ts";
import { formatWriters } from "../kernel/table-export.ts";
import { compressText } from "./compression.ts";
import type { ApiReply, ApiRequest } from "./route.ts";

// A Lambda response has at most 6 MB, with bytes in base64.
const maxBytes = 5_500_000;

export const formatMeaning =
  "Format of the response. `csv` puts an apostrophe before text that a spreadsheet would run " +
  "as a formula, and before text in a custom field that looks like a number; an import " +
  "removes it again.";
export const bomMeaning =
  "`true`: the CSV begins with a byte order mark, so that Excel reads it as UTF-8.";
/** For the query of an export. */
export const Bom = z
  .enum(["true", "false"])
  .default("false")
  .transform((value) => value === "true")
  .describe(bomMeaning);

/** Response of an export route. */
export const ExportResponse = z.custom<string | Uint8Array | exports.Export>();
type ExportResponse = z.output<typeof ExportResponse>;

/**
 * For routes with `contentType` and `deferredReturns`: the text, or 202 and the export job.
 * `source` is the source of the request's type.
 */
export async function respondWithExport(
  caller: Caller,
  exportRequest: exports.ExportRequest,
  { source, request, reply }: { source: SourceFactory; request: ApiRequest; reply: ApiReply },
): Promise<ExportResponse> {
  const resolvedRequest = await exports.resolveSite(caller, exportRequest);
  const text = await inlineExport.exportInline(caller, resolvedRequest, source);
  const body = text === undefined ? undefined : compressText(text, request, reply);
  if (body !== undefined && responseBytes(body) <= maxBytes) {
    reply.headers["content-type"] = formatWriters[exportRequest.format].contentType;
    reply.headers["content-disposition"] =
      `attachment; filename="${exportRequest.type}.${exportRequest.format}"`;
    return body;
  }
  return startExport(caller, resolvedRequest, reply);
}

const responseBytes = (body: string | Uint8Array): number =>
  typeof body === "string" ? Buffer.byteLength(body) : Math.ceil(body.length / 3) * 4;

export async function startExport(
  caller: Caller,
  exportRequest: exports.ExportRequest,
  reply: ApiReply,
): Promise<exports.Export> {
  delete reply.headers["content-encoding"];
  delete reply.headers.vary;
  reply.status = 202;
  return exports.start(caller, exportRequest);
}
