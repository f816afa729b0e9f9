// The media library, and its files for mail programs and pages.
import * as z from "zod";
import * as pictures from "../../shared/domain/content/media.ts";
import { invalid, unsupported } from "../../shared/errors.ts";
import { deleteWithUses } from "../../shared/http/delete-with-uses.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { parseMultipart } from "../../shared/http/form-body.ts";
import {
  type ApiRequest,
  Deleted,
  IfUnused,
  inUse,
  PageQuery,
  pagedSchema,
  route,
} from "../../shared/http/route.ts";
import { validate } from "../../shared/http/validate.ts";
import { QueryId, SiteFilter } from "../../shared/kernel/digits.ts";
import { parseJson, safeJsonText } from "../../shared/kernel/json.ts";
import { maxPictureBytes } from "../../shared/kernel/uploads.ts";

const { shape } = pictures.NewMedia;
/** The fields of a new picture as text, in the query and in form fields. */
const TextFields = z.object({
  siteId: QueryId.optional().describe(shape.siteId.description!),
  name: shape.name,
  alt: shape.alt.unwrap().optional(),
});
const UploadedPicture = z
  .object({
    uploadId: z
      .string()
      .min(1)
      .max(100)
      .describe('Id of a file that was uploaded with POST /attachments and `purpose: "picture"`.'),
    ...shape,
  })
  .meta({
    id: "MediaOfUpload",
    examples: [{ uploadId: "5b2e8c1f9a7d4e60b3c1d2e4f5a69788", alt: "Two red running shoes" }],
  });

const binary = z.string().meta({ format: "binary" });
const picture = z.string().max(maxPictureBytes).meta({ format: "binary" });
const rawType = "application/octet-stream";
const requestTypes = {
  [rawType]: picture.describe("The picture itself. Its own type, such as `image/png`, works too."),
  "multipart/form-data": z.object({
    file: picture.describe("The picture."),
    ...TextFields.shape,
  }),
  "application/json": UploadedPicture,
};

interface PictureRequest {
  source: pictures.MediaSource;
  fields: unknown;
}

async function parseForm(request: ApiRequest): Promise<PictureRequest> {
  const { file, fields } = await parseMultipart(request);
  if (!file)
    throw invalid("file is required: send the picture as the file of the form", {
      details: [{ path: "file", message: "is required" }],
    });
  return { source: { bytes: file.bytes, filename: file.name }, fields };
}

function parseUpload({ rawBody }: ApiRequest): PictureRequest {
  const json = parseJson(safeJsonText(rawBody));
  if (json === undefined) throw invalid("The body is not valid JSON", { code: "invalid_json" });
  const { uploadId, ...fields } = validate(UploadedPicture, json) as z.output<
    typeof UploadedPicture
  >;
  return { source: { uploadId }, fields };
}

async function parseRequest(request: ApiRequest): Promise<PictureRequest> {
  const type = (request.headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
  if (type === "multipart/form-data") return parseForm(request);
  if (type === "application/json") return parseUpload(request);
  if (type === rawType || type.startsWith("image/"))
    return { source: { bytes: request.rawBody }, fields: {} };
  throw unsupported(`The Content-Type must be one of ${Object.keys(requestTypes).join(", ")}`);
}

export const media = routeGroup("media", [
  route("GET /media", "List pictures", {
    description: "Returns the pictures of the media library, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
      search: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe("Part of the name or of `alt`, ignoring case.")
        .meta({ examples: ["shoes"] }),
    }),
    returns: pagedSchema("media", pictures.Media),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await pictures.list(caller, query);
      return { media: items, pagination };
    },
  }),
  route("POST /media", "Add a picture", {
    operationId: "createMedia",
    description:
      "Adds a PNG, JPEG, GIF or WebP picture of up to 5 MB to the media library, and returns " +
      "its public URL for emails. What cameras and editors wrote into it, such as where the " +
      "picture was taken, is removed; its orientation stays. Send the file itself with the " +
      "fields in the query, as multipart/form-data, or as JSON with the `uploadId` of a file. On " +
      "AWS, a request can have about 4 MB, so a larger picture needs an upload. The content of " +
      "the file decides what it is. SVG is refused, because mail programs do not show it. An " +
      "organization can have 10,000 pictures and 5 GB.",
    level: "site",
    query: TextFields,
    rawBodyTypes: requestTypes,
    returns: pictures.Media,
    status: 201,
    errors: {
      400: "The file is no picture, it is larger than 5 MB, or a field is not valid.",
      404: "The site does not exist.",
      409: "The organization has no room for more pictures (`too_many`).",
      415: "The `Content-Type` must be that of a picture, multipart/form-data or application/json.",
    },
    handle: async ({ caller, query, request }) => {
      const { source, fields } = await parseRequest(request);
      const inBody = validate(TextFields, fields) as z.output<typeof TextFields>;
      const { alt = "", ...rest } = { ...query, ...inBody };
      return pictures.create(caller, { alt, ...rest }, source);
    },
  }),
  route("GET /media/:id", "Get a picture", {
    level: "site",
    returns: pictures.Media,
    handle: ({ caller, params }) => pictures.find(caller, params.id),
  }),
  route("PATCH /media/:id", "Update a picture", {
    description:
      "Updates the given fields. The file and its URL stay as they are, and emails that show it " +
      "keep their own `alt`.",
    level: "site",
    body: pictures.MediaChanges,
    returns: pictures.Media,
    handle: ({ caller, params, body }) => pictures.change(caller, params.id, body),
  }),
  route("DELETE /media/:id", "Delete a picture", {
    description:
      "Deletes the file at once, so that emails that were sent with it show it no longer. Also " +
      "deletes it while something uses it, and `warnings` of the response names up to 20 " +
      "templates and campaigns that show it.",
    level: "site",
    query: IfUnused,
    returns: Deleted,
    errors: { 409: inUse },
    handle: (input) => deleteWithUses("MEDIA", input, pictures.remove),
  }),
  // Emails are read everywhere, so the file is public. Its URL cannot be guessed.
  route("GET /media/:orgId/:file", "Get the file of a picture", {
    operationId: "getMediaFile",
    auth: "public",
    atRoot: true,
    rateLimit: "none",
    returns: z.custom<string | Uint8Array>(),
    contentType: "image/png",
    otherContent: { "image/jpeg": binary, "image/gif": binary, "image/webp": binary },
    otherStatuses: { 302: "The picture is larger than 4 MB, and `Location` is its file in S3." },
    errors: { 404: "The picture does not exist." },
    handle: async ({ params, reply }) => {
      const found = await pictures.readFile(params.orgId, params.file);
      if ("redirectUrl" in found) {
        reply.status = 302;
        // The URL is valid for an hour.
        const headers = { location: found.redirectUrl, "cache-control": "public, max-age=1800" };
        Object.assign(reply.headers, headers);
        return "";
      }
      Object.assign(reply.headers, {
        "content-type": found.type,
        "cache-control": "public, max-age=31536000, immutable",
        "cross-origin-resource-policy": "cross-origin",
        "content-security-policy": "default-src 'none'; sandbox",
      });
      return found.bytes;
    },
  }),
]);
export const { handler } = media;
