import * as z from "zod";
import { config } from "../../shared/config.ts";
import * as visits from "../../shared/domain/tracking.ts";
import { tooLarge } from "../../shared/errors.ts";
import { type Request, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { script } from "../../shared/pages/tracking-script.ts";

const maxBytes = 16 * 1024;
const Accepted = z.object({ accepted: z.literal(true) });
const accepted = { accepted: true as const };

// Any page may call these; what comes in is bounded here, per client address, and per visitor.
export const tracking = group("tracking", [
  route("GET /tracking/script", "The script that tracks the pages of a site", {
    auth: "public",
    limit: "none",
    cors: true,
    query: z.object({ siteId: z.coerce.number().int().positive() }),
    returns: z.string(),
    type: "application/javascript; charset=utf-8",
    errors: { 404: "There is no such site" },
    handle: async ({ query: { siteId }, reply }) => {
      await visits.organizationOf(siteId);
      reply.headers["cache-control"] = "public, max-age=3600";
      return script(siteId, `${config.publicUrl}/api/v1/tracking/`);
    },
  }),
  route("POST /tracking/event", "A visitor of a site viewed a page, or did something that has a name", {
    auth: "public",
    limit: "address",
    cors: true,
    beacon: true,
    body: visits.TrackedEvent,
    returns: Accepted,
    status: 202,
    errors: { 404: "There is no such site", 413: "The body is larger than 16 kB" },
    handle: async ({ body, request }) => {
      bound(request);
      await visits.track(body);
      return accepted;
    },
  }),
  route("POST /tracking/identify", "Says which contact a visitor is; answers alike whether there is such a contact or not", {
    auth: "public",
    limit: "address",
    cors: true,
    beacon: true,
    body: visits.Identification,
    returns: Accepted,
    status: 202,
    errors: { 404: "There is no such site", 413: "The body is larger than 16 kB" },
    handle: async ({ body, request }) => {
      bound(request);
      await visits.identify(body);
      return accepted;
    },
  }),
]);
export const { handler } = tracking;

function bound({ rawBody }: Request): void {
  if (rawBody.length > maxBytes) throw tooLarge("The body is larger than 16 kB");
}
