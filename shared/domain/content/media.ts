// The media library: pictures that emails, forms and pages show. Each is a record and an S3 object.
// The record is stored first and deleted last, so every object has a record that leads to it.
import { createHash } from "node:crypto";
import * as z from "zod";
import {
  absent,
  any,
  atMost,
  contains,
  equals,
  exists,
} from "../../adapters/dynamodb/conditions.ts";
import { get, transact, update, type Write, write } from "../../adapters/dynamodb/table.ts";
import * as objects from "../../adapters/s3/objects.ts";
import type { CallerScope } from "../../caller.ts";
import { epochSeconds, now } from "../../clock.ts";
import { config } from "../../config.ts";
import { conflict, invalid, limitExceeded, missing } from "../../errors.ts";
import { singleLineText } from "../../kernel/email-fields.ts";
import type { PageRequest, Pagination } from "../../kernel/paging.ts";
import {
  Count,
  CreatedAt,
  NewSiteId,
  RecordId,
  RecordSiteId,
  UpdatedAt,
} from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { checkDeclared, maxPictureBytes, type Upload } from "../../kernel/uploads.ts";
import { keys } from "../../keys.ts";
import * as sites from "../identity/sites.ts";
import { formatByExtension, looksLikeSvg, readPicture } from "./picture-files.ts";
import { removeMetadata } from "./picture-metadata.ts";

const fields = {
  name: singleLineText(200).trim().min(1).describe("Name of the picture, to find it by."),
  alt: singleLineText(500)
    .trim()
    .describe("What the picture shows, for the `alt` of the image. Empty: it is decoration."),
};

export const Media = z
  .object({
    id: RecordId.describe("Id of the picture, for GET /media/:id."),
    siteId: RecordSiteId,
    name: z.string().describe("Name of the picture."),
    alt: z.string().describe("What the picture shows, for the `alt` of the image. May be empty."),
    url: z
      .string()
      .describe("Public URL of the file, for the `src` of an image. It never changes."),
    contentType: z.string().describe("Content type of the file, such as `image/png`."),
    size: Count.describe("Size of the file in bytes."),
    width: Count.describe("Width in pixels."),
    height: Count.describe("Height in pixels."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "Media" });
export type Media = z.output<typeof Media>;

export const NewMedia = z.object({
  siteId: NewSiteId,
  name: fields.name
    .optional()
    .describe("Name of the picture. Default: the name of the file, else `Picture`."),
  alt: fields.alt.default(""),
});
export type NewMedia = z.output<typeof NewMedia>;

export const MediaChanges = z
  .object(fields)
  .partial()
  .meta({ examples: [{ alt: "Two red running shoes" }] });
export type MediaChanges = z.output<typeof MediaChanges>;

export type MediaSource =
  | { bytes: Uint8Array; filename?: string | undefined }
  | { uploadId: string };

export interface StoredMedia extends Omit<Media, "url"> {
  /** Name of the file in its URL and its object. */
  file: string;
  /** Lower-cased name and description. */
  search: string;
}

/** Bytes of all pictures of an organization. */
const maxTotalBytes = 5 * 1024 ** 3;

/**
 * Throws 400 for a file that is no picture, and 409 when the organization has no room for it. A
 * repeated request stores the file again.
 */
export async function create(
  caller: CallerScope,
  { siteId: requestedSiteId, name, alt }: NewMedia,
  source: MediaSource,
): Promise<Media> {
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  const { bytes: file, filename } = await readSource(caller.orgId, source);
  const picture = requirePicture(file);
  const { bytes, isSideways } = removeMetadata(file, picture);
  const stamp = await records.newRecordFields("MEDIA");
  const shownName = name ?? toName(filename);
  const record: StoredMedia = {
    ...stamp,
    siteId,
    name: shownName,
    alt,
    contentType: picture.type,
    size: bytes.length,
    width: isSideways ? picture.height : picture.width,
    height: isSideways ? picture.width : picture.height,
    file: `${hashOf(stamp.id, bytes)}.${picture.extension}`,
    search: toSearchText(shownName, alt),
  };
  const stored = await records.insert("MEDIA", caller, {
    record,
    extraWrites: [addBytesWrite(caller.orgId, bytes.length)],
  });
  await storeFile(caller, stored, bytes);
  return toApi(caller.orgId, stored);
}

/** Takes the record back if its file cannot be stored. */
async function storeFile(
  caller: CallerScope,
  record: StoredMedia,
  bytes: Uint8Array,
): Promise<void> {
  try {
    await objects.put(objectKeyOf(caller.orgId, record.file), bytes, record.contentType);
  } catch (error) {
    await remove(caller, record.id);
    throw error;
  }
}

/** The name of a file cannot be guessed without the picture itself. */
const hashOf = (id: number, bytes: Uint8Array): string =>
  createHash("sha256").update(`${id} `).update(bytes).digest("hex").slice(0, 40);

const toSearchText = (name: string, alt: string): string => `${name}\n${alt}`.toLowerCase();

const toName = (filename = ""): string => {
  const parsed = fields.name.safeParse(filename.replace(/\.\w{1,5}$/, "").slice(0, 200));
  return parsed.success ? parsed.data : "Picture";
};

const refuseFile = (message: string) =>
  invalid(`The file ${message}`, { details: [{ path: "file", message }] });

function requirePicture(bytes: Uint8Array) {
  if (!bytes.length) throw refuseFile("is empty");
  if (bytes.length > maxPictureBytes)
    throw limitExceeded("file", "A picture can have at most 5 MB: make it smaller");
  const picture = readPicture(bytes);
  if (picture) return picture;
  throw refuseFile(
    looksLikeSvg(bytes)
      ? "is an SVG, which mail programs do not show: save it as PNG"
      : "is no PNG, JPEG, GIF or WebP picture",
  );
}

/** Throws 400 if an upload is not finished, expired, or of another size than declared. */
async function readSource(orgId: number, source: MediaSource) {
  if ("bytes" in source) return source;
  const upload = await get<Upload>(keys.upload(orgId, source.uploadId));
  const isAlive = upload !== undefined && upload.expires > epochSeconds();
  const size = isAlive ? await objects.getSize(upload.blob) : undefined;
  if (!upload || size === undefined)
    throw invalid("uploadId does not name a finished upload: PUT the file to its uploadUrl first", {
      details: [{ path: "uploadId", message: "does not name a finished upload" }],
    });
  checkDeclared(upload, size, "uploadId");
  if (size > maxPictureBytes)
    throw limitExceeded("uploadId", "A picture can have at most 5 MB: make it smaller");
  const bytes = await objects.get(upload.blob);
  if (!bytes) throw invalid("The upload has expired: upload the file again");
  return { bytes, filename: upload.filename };
}

const addBytesWrite = (orgId: number, bytes: number): Write =>
  update(
    keys.mediaUsage(orgId),
    { add: { bytes } },
    {
      if: any(absent("bytes"), atMost("bytes", maxTotalBytes - bytes)),
      orThrow: conflict(
        "The pictures of an organization can have at most 5 GB: delete some that nothing uses",
        { code: "too_many" },
      ),
    },
  );

const objectKeyOf = (orgId: number, file: string): string => `media/${orgId}/${file}`;

const toUrl = (orgId: number, file: string): string => `${config.publicUrl}/media/${orgId}/${file}`;

const toApi = (orgId: number, { file, ...record }: StoredMedia): Media => ({
  ...record,
  url: toUrl(orgId, file),
});

export const find = async (caller: CallerScope, id: number): Promise<Media> =>
  toApi(caller.orgId, await records.find<StoredMedia>("MEDIA", caller, id));

/** Newest first. `search` is a part of the name or of the description, in any case. */
export async function list(
  caller: CallerScope,
  {
    siteId,
    search,
    ...request
  }: PageRequest & { siteId?: number | undefined; search?: string | undefined },
): Promise<{ items: Media[]; pagination: Pagination }> {
  const { items, pagination } = await records.list<StoredMedia>("MEDIA", caller, {
    ...request,
    siteIds: await sites.siteFilter(caller, siteId),
    filter: search === undefined ? undefined : contains("search", search.toLowerCase()),
  });
  return { items: items.map((record) => toApi(caller.orgId, record)), pagination };
}

/** The file and its URL stay as they are. */
export const change = (caller: CallerScope, id: number, changes: MediaChanges): Promise<Media> =>
  retryOnConflict("The picture", async () => {
    const stored = await records.find<StoredMedia>("MEDIA", caller, id);
    const { name = stored.name, alt = stored.alt } = changes;
    const search = toSearchText(name, alt);
    const set = { name, alt, search, updatedAt: now().toISOString() };
    const condition = { if: equals("search", stored.search) };
    await write(update(keys.record(caller.orgId, "MEDIA", id), { set }, condition));
    return toApi(caller.orgId, { ...stored, ...set });
  });

/** Emails that were sent with the picture show it no longer. */
export async function remove(caller: CallerScope, id: number): Promise<void> {
  const stored = await records.find<StoredMedia>("MEDIA", caller, id);
  await objects.remove(objectKeyOf(caller.orgId, stored.file));
  await write(
    ...records.removeWrites("MEDIA", caller, stored),
    addBytesWrite(caller.orgId, -stored.size),
  );
}

/** For a deleted site. The file goes first, so that a repeated job still finds it. */
export async function erase(orgId: number, record: StoredMedia): Promise<void> {
  await objects.remove(objectKeyOf(orgId, record.file));
  const condition = { if: exists };
  await transact(
    ...records.removeWrites("MEDIA", { orgId }, { ...record, condition }),
    addBytesWrite(orgId, -record.size),
  );
}

const filePattern = /^[0-9a-f]{40}\.(png|jpg|gif|webp)$/;

/** A Lambda response can have at most 6 MB, and the file is base64 in it. */
const maxResponseBytes = 4_000_000;
const redirectSeconds = 3600;

export type PublicFile = { bytes: Uint8Array; type: string } | { redirectUrl: string };

/**
 * The file of a picture, for everyone. On AWS, a file that is too large for a response is a
 * redirect to S3.
 */
export async function readFile(orgId: number, file: string): Promise<PublicFile> {
  const [, extension = ""] = filePattern.exec(file) ?? [];
  const format = formatByExtension(extension);
  const key = objectKeyOf(orgId, file);
  const limit = config.usesOwnS3 ? maxPictureBytes : maxResponseBytes;
  const bytes = format && (await objects.get(key, limit));
  if (format && bytes) return { bytes, type: format.type };
  if (format && !config.usesOwnS3 && (await objects.getSize(key)) !== undefined)
    return { redirectUrl: await objects.presignPublicFile(key, format.type, redirectSeconds) };
  throw missing("The picture does not exist");
}
