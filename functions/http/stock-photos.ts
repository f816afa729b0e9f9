import * as z from "zod";
import * as photos from "../../shared/domain/stock-photos.ts";
import { Pagination, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const errors = {
  502: "Pexels failed to answer",
  503: "The setting PEXELS_API_KEY is missing or wrong, or the quota at Pexels is used up",
};

export const stockPhotos = group("stock-photos", [
  route("GET /stock-photos", "Search stock photos at Pexels; without `q` those it shows today", {
    query: z.object({
      q: z
        .string()
        .max(200)
        .optional()
        .meta({ examples: ["shoes"] }),
      page: z.coerce.number().int().min(1).max(1000).default(1),
      per_page: z.coerce.number().int().min(1).max(80).default(15),
      orientation: z.enum(photos.orientations).optional().describe("Heeded together with `q`"),
    }),
    returns: z.object({ photos: z.array(photos.StockPhoto), pagination: Pagination }),
    errors,
    handle: async ({ query: { q, page, per_page: limit, orientation } }) => {
      const found = await photos.search({ q, page, perPage: limit, orientation });
      const totalPages = found.total === null ? null : Math.ceil(found.total / limit);
      return { photos: found.photos, pagination: { page, limit, total: found.total, totalPages, nextCursor: null } };
    },
  }),
  route("POST /stock-photos/save", "Copy a photo to where mails can show it, at an address that lasts", {
    body: z
      .object({ id: z.union([z.int().positive().transform(String), z.string().regex(/^[1-9]\d{0,14}$/, "must be the id of a photo")]) })
      .meta({ examples: [{ id: "3573351" }] }),
    returns: photos.SavedPhoto,
    status: 201,
    errors: { 404: "Pexels has no such photo", ...errors },
    handle: ({ caller, body }) => photos.save(caller, body.id),
  }),
  // Mail is read everywhere: whoever has the address, which cannot be guessed, sees the photo.
  route("GET /photos/:orgId/:name", "A saved photo, as mails show it", {
    auth: "public",
    limit: "none",
    returns: z.custom<string | Uint8Array>(),
    type: "image/jpeg",
    errors: { 404: "There is no such photo" },
    handle: async ({ params, reply }) => {
      const { bytes, type } = await photos.open(params.orgId, params.name);
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
