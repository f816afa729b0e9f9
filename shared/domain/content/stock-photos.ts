// Searches stock photos at Pexels (www.pexels.com/api/documentation) and copies them for use in
// mails.
import { createHash } from "node:crypto";
import * as z from "zod";
import { download, request, type WebResponse } from "../../adapters/http/client.ts";
import { NoResponse } from "../../adapters/http/no-response.ts";
import * as objects from "../../adapters/s3/objects.ts";
import type { CallerScope } from "../../caller.ts";
import { config } from "../../config.ts";
import { invalid, missing, type Problem, unavailable, upstream } from "../../errors.ts";
import { toSingleLine } from "../../kernel/email-fields.ts";
import { Count, RecordId } from "../../kernel/record-fields.ts";
import * as sites from "../identity/sites.ts";
import * as media from "./media.ts";
import { detectFormat, formatByExtension, type PictureFormat } from "./picture-files.ts";

export const orientations = ["landscape", "portrait", "square"] as const;

export const StockPhoto = z
  .object({
    id: RecordId.describe("Id for POST /stock-photos/save."),
    provider: z.literal("pexels").describe("Source of the photo: always Pexels."),
    width: Count.describe("Width of the original in pixels."),
    height: Count.describe("Height of the original in pixels."),
    alt: z.string().describe("Description of the photo, for the `alt` of an image. May be empty."),
    url: z.string().describe("Preview image at Pexels, at most 940 x 650 pixels."),
    thumbUrl: z.string().describe("Small preview image at Pexels, at most 350 pixels high."),
    photographer: z.string().describe("Name of the photographer."),
    photographerUrl: z.string().describe("Page of the photographer at Pexels."),
    sourceUrl: z.string().describe("Page of the photo at Pexels."),
  })
  .meta({ id: "StockPhoto" });
export type StockPhoto = z.output<typeof StockPhoto>;

export const SavedPhoto = z
  .object({
    id: RecordId.describe("Id of the photo at Pexels."),
    url: z.string().describe("Permanent public URL, for the `src` of an image in an email."),
    contentType: z.string().describe("Content type of the file, such as `image/jpeg`."),
    size: Count.describe("Size of the file in bytes."),
    width: Count.describe(
      "Width of the original in pixels. The saved image is at most 1880 x 1300 pixels.",
    ),
    height: Count.describe("Height of the original in pixels."),
    alt: z.string().describe("Description of the photo, for the `alt` of an image. May be empty."),
    photographer: z.string().describe("Name of the photographer."),
    photographerUrl: z.string().describe("Page of the photographer at Pexels."),
    sourceUrl: z.string().describe("Page of the photo at Pexels."),
    attribution: z
      .string()
      .describe("Credit line. Pexels asks to name the photographer where possible."),
  })
  .meta({ id: "SavedPhoto" });
export type SavedPhoto = z.output<typeof SavedPhoto>;

const PexelsPhoto = z.object({
  id: z.int().positive(),
  width: z.int(),
  height: z.int(),
  url: z.string(),
  photographer: z.string(),
  photographer_url: z.string(),
  alt: z.string().nullish(),
  src: z.object({ large2x: z.string(), large: z.string(), medium: z.string() }),
});
type PexelsPhoto = z.output<typeof PexelsPhoto>;
const PexelsPage = z.object({ total_results: z.int().optional(), photos: z.array(PexelsPhoto) });

export const isConfigured = (): boolean => config.pexelsApiKey !== undefined;

export interface PhotoSearch {
  q?: string | undefined;
  page: number;
  perPage: number;
  orientation?: (typeof orientations)[number] | undefined;
}

/**
 * Without `q`, returns the photos that Pexels curates, in any orientation. `total` is null if
 * Pexels does not return it.
 */
export async function search({
  q = "",
  page,
  perPage,
  orientation,
}: PhotoSearch): Promise<{ photos: StockPhoto[]; total: number | null }> {
  const words = q.trim();
  const query = new URLSearchParams({
    ...(words && { query: words }),
    page: String(page),
    per_page: String(perPage),
    ...(words && orientation && { orientation }),
  });
  const { photos, total_results: total } = parseResponse(
    PexelsPage,
    await requestPexels(`/v1/${words ? "search" : "curated"}?${query}`),
  );
  return { photos: photos.map(toStockPhoto), total: total ?? null };
}

const toStockPhoto = ({ id, width, height, alt, src, ...rest }: PexelsPhoto): StockPhoto => ({
  id,
  provider: "pexels",
  width,
  height,
  alt: alt ?? "",
  url: src.large,
  thumbUrl: src.medium,
  photographer: rest.photographer,
  photographerUrl: rest.photographer_url,
  sourceUrl: rest.url,
});

/** A Lambda response can have at most 6 MB, and the photo is base64 in it. */
const maxBytes = 4_000_000;

interface PhotoToSave {
  id: number;
  /** The site whose media library gets the photo. */
  siteId?: number | undefined;
}

/**
 * Copies the photo to the media library of the site, or only to S3, where saving it again gives the
 * same file. Throws 404 for an unknown id.
 */
export async function save(caller: CallerScope, { id, siteId }: PhotoToSave): Promise<SavedPhoto> {
  if (siteId !== undefined) await sites.resolveSiteId(caller, siteId);
  const photo = parseResponse(PexelsPhoto, await requestPexels(`/v1/photos/${id}`));
  const picture = await downloadImage(photo.src.large2x);
  const { provider: _, url: __, thumbUrl: ___, ...details } = toStockPhoto(photo);
  return {
    ...details,
    url: await storeCopy(caller, photo, { ...picture, siteId }),
    contentType: picture.format.type,
    size: picture.bytes.length,
    attribution: `Photo by ${photo.photographer} on Pexels`,
  };
}

interface PictureToStore {
  bytes: Uint8Array;
  format: PictureFormat;
  siteId: number | undefined;
}

/** Returns the public URL. */
async function storeCopy(
  caller: CallerScope,
  { id, alt, photographer }: PexelsPhoto,
  { bytes, format, siteId }: PictureToStore,
): Promise<string> {
  if (siteId !== undefined) {
    const text = media.NewMedia.parse({
      siteId,
      name: toSingleLine(`${alt || "Photo"} (${photographer}, Pexels)`).slice(0, 200),
      alt: toSingleLine(alt ?? "").slice(0, 500),
    });
    return (await media.create(caller, text, { bytes })).url;
  }
  const { orgId } = caller;
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 40);
  const name = `${id}-${hash}.${format.extension}`;
  await objects.put(blobKeyOf(orgId, name), bytes, format.type);
  return `${config.publicUrl}/api/v1/photos/${orgId}/${name}`;
}

const blobKeyOf = (orgId: number, name: string): string => `photos/${orgId}/${name}`;

const savedNamePattern = /^\d{1,15}-[0-9a-f]{40}\.(jpg|png|gif)$/;

/** Reads a saved photo. Needs no credential, because recipients' mail clients load it. */
export async function readPhoto(
  orgId: number,
  name: string,
): Promise<{ bytes: Uint8Array; type: string }> {
  const [, extension = ""] = savedNamePattern.exec(name) ?? [];
  const format = formatByExtension(extension);
  const bytes = format && (await objects.get(blobKeyOf(orgId, name), maxBytes));
  if (!bytes) throw missing("The photo does not exist");
  return { bytes, type: format.type };
}

const pexelsOrigin = "https://api.pexels.com";
const imageHost = "images.pexels.com";

/** Errors never contain text from Pexels. */
async function requestPexels(path: string): Promise<WebResponse> {
  const key = config.pexelsApiKey;
  if (!key)
    throw unavailable("Stock photos are not configured: set PEXELS_API_KEY", {
      code: "not_configured",
    });
  const response = await request({
    url: `${config.pexelsUrl ?? pexelsOrigin}${path}`,
    headers: { authorization: key, accept: "application/json" },
  }).catch(throwUnavailable);
  if (response.status === 200) return response;
  throw (problemByStatus[response.status] ?? pexelsFailed)();
}

const pexelsFailed = () => upstream("Pexels is not available: try again later");
const pexelsKeyRefused = () =>
  unavailable("Pexels rejected the key in the setting PEXELS_API_KEY", { code: "not_configured" });
const problemByStatus: Record<number, () => Problem> = {
  400: () =>
    invalid("Pexels rejected the search: change q or its filters", { code: "provider_refused" }),
  401: pexelsKeyRefused,
  403: pexelsKeyRefused,
  404: () => missing("The photo does not exist"),
  429: () =>
    unavailable("The quota at Pexels is used up: try again in an hour", {
      bodyFields: { retryAfter: 3600 },
    }),
};

function throwUnavailable(error: unknown): never {
  if (error instanceof NoResponse) throw pexelsFailed();
  throw error;
}

function parseResponse<T extends z.ZodType>(schema: T, { text }: WebResponse): z.output<T> {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw pexelsFailed();
  }
}

/** Only downloads from Pexels' own host, and only files with the content of an image. */
async function downloadImage(url: string): Promise<{ bytes: Uint8Array; format: PictureFormat }> {
  const from = URL.parse(url);
  if (from?.protocol !== "https:" || from.host !== imageHost)
    throw upstream("Pexels returned a photo URL that is not on images.pexels.com");
  const source =
    config.pexelsUrl === undefined
      ? from.href
      : `${config.pexelsUrl}${from.pathname}${from.search}`;
  const { status, bytes } = await download(source, maxBytes, {
    accept: "image/jpeg, image/png, image/gif",
  }).catch(throwUnavailable);
  if (status !== 200) throw pexelsFailed();
  const format = detectFormat(bytes);
  // Some mail programs show no WebP.
  if (!format || format.extension === "webp")
    throw upstream("The photo from Pexels is not a JPEG, PNG or GIF");
  return { bytes, format };
}
