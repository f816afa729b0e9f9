import * as z from "zod";
import * as photos from "../../shared/domain/content/stock-photos.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Pagination, route } from "../../shared/http/route.ts";
import { digits } from "../../shared/kernel/digits.ts";
import { Id } from "../../shared/kernel/record-fields.ts";

const errors = {
  502: "Pexels failed or did not answer.",
  503:
    "Stock photos are not configured (`not_configured`): the setting `PEXELS_API_KEY` is " +
    "missing. Or the quota at Pexels is used up.",
};

const binary = z.string().meta({ format: "binary" });

export const stockPhotos = routeGroup("stock-photos", [
  route("GET /stock-photos", "Search stock photos", {
    operationId: "searchStockPhotos",
    description: "Searches Pexels. Without `q`, returns the photos that Pexels features today.",
    query: z.object({
      q: z
        .string()
        .max(200)
        .optional()
        .meta({ examples: ["shoes"] })
        .describe(
          "Words to search for. If omitted, returns the photos that Pexels features today.",
        ),
      page: digits(z.int().min(1).max(1000)).default(1).describe("Page number, from 1 to 1,000."),
      per_page: digits(z.int().min(1).max(80)).default(15).describe("Number of photos per page."),
      orientation: z
        .enum(photos.orientations)
        .optional()
        .describe("Shape of the photos. Used only together with `q`."),
    }),
    returns: z.object({
      photos: z.array(photos.StockPhoto).describe("Photos of this page."),
      pagination: Pagination,
    }),
    errors,
    handle: async ({ query: { q, page, per_page: limit, orientation } }) => {
      const found = await photos.search({ q, page, perPage: limit, orientation });
      const totalPages = found.total === null ? null : Math.ceil(found.total / limit);
      return {
        photos: found.photos,
        pagination: { page, limit, total: found.total, totalPages, nextCursor: null },
      };
    },
  }),
  route("GET /stock-photos/status", "Tell whether stock photos are configured", {
    operationId: "getStockPhotoStatus",
    description: "Asks nothing of Pexels, so it does not say whether the key still works.",
    returns: z.object({
      configured: z
        .boolean()
        .describe("Whether the service has a key for Pexels, the setting `PEXELS_API_KEY`."),
    }),
    handle: async () => ({ configured: photos.isConfigured() }),
  }),
  route("POST /stock-photos/save", "Save a stock photo", {
    operationId: "saveStockPhoto",
    description:
      "Copies a photo to a permanent public URL for use in emails. With `siteId`, it becomes a " +
      "picture of the media library of the site.",
    level: "site",
    body: z
      .object({
        id: Id.describe("Id of the photo, as in GET /stock-photos."),
        siteId: Id.optional().describe(
          "Site whose media library gets the photo. If omitted, only its URL is known.",
        ),
      })
      .meta({ examples: [{ id: 3573351 }] }),
    returns: photos.SavedPhoto,
    status: 201,
    errors: { 404: "The photo does not exist at Pexels.", ...errors },
    handle: ({ caller, body }) => photos.save(caller, body),
  }),
  // Emails are read everywhere, so the photo is public. Its URL cannot be guessed.
  route("GET /photos/:orgId/:name", "Get a saved photo", {
    operationId: "getStockPhotoFile",
    auth: "public",
    rateLimit: "none",
    returns: z.custom<string | Uint8Array>(),
    contentType: "image/jpeg",
    otherContent: { "image/png": binary, "image/gif": binary },
    errors: { 404: "The photo does not exist." },
    handle: async ({ params, reply }) => {
      const { bytes, type } = await photos.readPhoto(params.orgId, params.name);
      Object.assign(reply.headers, {
        "content-type": type,
        "cache-control": "public, max-age=31536000, immutable",
        "cross-origin-resource-policy": "cross-origin",
        "content-security-policy": "default-src 'none'; sandbox",
      });
      return bytes;
    },
  }),
]);
export const { handler } = stockPhotos;
