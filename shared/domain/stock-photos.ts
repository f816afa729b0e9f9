// Stock photos of Pexels (www.pexels.com/api/documentation): searched there, and copied into our own storage to be used in mails.
import { createHash } from "node:crypto";
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { config } from "../config.ts";
import * as blobs from "../doors/blobs.ts";
import { NoAnswer } from "../doors/no-answer.ts";
import { call, download, type WebResponse } from "../doors/web.ts";
import { invalid, missing, type Problem, unavailable, upstream } from "../errors.ts";
import { type Format, formatOf, formats } from "./stock-photos/formats.ts";

export const orientations = ["landscape", "portrait", "square"] as const;

export const StockPhoto = z
  .object({
    id: z.string().describe("For POST /stock-photos/save"),
    provider: z.literal("pexels"),
    width: z.int(),
    height: z.int(),
    alt: z.string(),
    url: z.string().describe("At Pexels, at most 940 x 650; for previews"),
    thumbUrl: z.string(),
    photographer: z.string(),
    photographerUrl: z.string(),
    sourceUrl: z.string().describe("Its page at Pexels"),
  })
  .meta({ id: "StockPhoto" });
export type StockPhoto = z.output<typeof StockPhoto>;

export const SavedPhoto = z
  .object({
    id: z.string(),
    url: z.string().describe("Public and lasting: for the src of an image in a mail"),
    contentType: z.string(),
    size: z.int().describe("Bytes"),
    width: z.int().describe("Of the original; what is saved is at most 1880 x 1300"),
    height: z.int(),
    alt: z.string(),
    photographer: z.string(),
    photographerUrl: z.string(),
    sourceUrl: z.string(),
    attribution: z.string().describe("Pexels asks you to name the photographer where you can"),
  })
  .meta({ id: "SavedPhoto" });
export type SavedPhoto = z.output<typeof SavedPhoto>;

const TheirPhoto = z.object({
  id: z.int().positive(),
  width: z.int(),
  height: z.int(),
  url: z.string(),
  photographer: z.string(),
  photographer_url: z.string(),
  alt: z.string().nullish(),
  src: z.object({ large2x: z.string(), large: z.string(), medium: z.string() }),
});
type TheirPhoto = z.output<typeof TheirPhoto>;
const TheirPage = z.object({ total_results: z.int().optional(), photos: z.array(TheirPhoto) });

export interface Search {
  q?: string | undefined;
  page: number;
  perPage: number;
  orientation?: (typeof orientations)[number] | undefined;
}

/** Without words to look for: what Pexels finds worth showing today, whatever its orientation. `total` is null where it is not told. */
export async function search({ q = "", page, perPage, orientation }: Search): Promise<{ photos: StockPhoto[]; total: number | null }> {
  const words = q.trim();
  const query = new URLSearchParams({
    ...(words && { query: words }),
    page: String(page),
    per_page: String(perPage),
    ...(words && orientation && { orientation }),
  });
  const { photos, total_results: total } = read(TheirPage, await asked(`/v1/${words ? "search" : "curated"}?${query}`));
  return { photos: photos.map(ours), total: total ?? null };
}

const ours = ({ id, width, height, alt, src, ...rest }: TheirPhoto): StockPhoto => ({
  id: String(id),
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

/** A function answers with 6 MB at the most, in base64. */
const maxBytes = 4_000_000;

/** Copies it into our storage. The same photo saved again is the same file. 404 when Pexels has none with this id. */
export async function save({ orgId }: Pick<Caller, "orgId">, id: string): Promise<SavedPhoto> {
  const answer = await asked(`/v1/photos/${id}`);
  const photo = read(TheirPhoto, answer);
  const { bytes, format } = await image(photo.src.large2x);
  const name = `${photo.id}-${createHash("sha256").update(bytes).digest("hex").slice(0, 40)}.${format}`;
  await blobs.put(keyOf(orgId, name), bytes, formats[format].type);
  const { provider: _, url: __, thumbUrl: ___, ...told } = ours(photo);
  return {
    ...told,
    url: `${config.publicUrl}/api/v1/photos/${orgId}/${name}`,
    contentType: formats[format].type,
    size: bytes.length,
    attribution: `Photo by ${photo.photographer} on Pexels`,
  };
}

const keyOf = (orgId: number, name: string): string => `photos/${orgId}/${name}`;

const SavedName = /^\d{1,15}-[0-9a-f]{40}\.(jpg|png|gif)$/;

/** A saved photo, to anybody who has its address. */
export async function open(orgId: number, name: string): Promise<{ bytes: Uint8Array; type: string }> {
  const [, format] = SavedName.exec(name) ?? [];
  const bytes = format && (await blobs.get(keyOf(orgId, name), maxBytes));
  if (!bytes) throw missing("There is no such photo");
  return { bytes, type: formats[format as Format].type };
}

const api = "https://api.pexels.com";
const imageHost = "images.pexels.com";

/** Our own words only: nothing that Pexels says to us is passed on. */
async function asked(path: string): Promise<WebResponse> {
  const key = config.pexelsApiKey;
  if (!key) throw unavailable("Stock photos are not set up: the setting PEXELS_API_KEY is missing");
  const answer = await call({
    url: `${config.pexelsUrl ?? api}${path}`,
    headers: { authorization: key, accept: "application/json" },
  }).catch(down);
  if (answer.status === 200) return answer;
  throw (refusals[answer.status] ?? failed)();
}

const failed = () => upstream("Pexels failed to answer: try again later");
const refused = () => unavailable("Pexels refused our key: the setting PEXELS_API_KEY is wrong");
const refusals: Record<number, () => Problem> = {
  400: () => invalid("Pexels did not understand the search", { code: "provider_refused" }),
  401: refused,
  403: refused,
  404: () => missing("There is no such photo"),
  429: () => unavailable("The quota at Pexels is used up: try again in an hour", { facts: { retryAfter: 3600 } }),
};

function down(error: unknown): never {
  if (error instanceof NoAnswer) throw failed();
  throw error;
}

function read<T extends z.ZodType>(schema: T, { text }: WebResponse): z.output<T> {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw failed();
  }
}

/** Only from Pexels's own host, and only what is an image by its content. */
async function image(url: string): Promise<{ bytes: Uint8Array; format: Format }> {
  const from = URL.parse(url);
  if (from?.protocol !== "https:" || from.host !== imageHost) throw upstream("Pexels named a place for the photo that is not its own");
  const at = config.pexelsUrl === undefined ? from.href : `${config.pexelsUrl}${from.pathname}${from.search}`;
  // Others than these are not shown by every mail program.
  const { status, bytes } = await download(at, maxBytes, { accept: "image/jpeg, image/png, image/gif" }).catch(down);
  if (status !== 200) throw failed();
  const format = formatOf(bytes);
  if (!format) throw upstream("What Pexels sent is no JPEG, PNG or GIF");
  return { bytes, format };
}
