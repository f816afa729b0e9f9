import "../../shared/domain/conversion-reactions.ts";
import "../../shared/domain/reactions.ts";
import * as z from "zod";
import { config } from "../../shared/config.ts";
import * as visits from "../../shared/domain/audience/tracking/tracking.ts";
import { tooLarge } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { type ApiRequest, route } from "../../shared/http/route.ts";
import { QueryId } from "../../shared/kernel/digits.ts";
import { trackingScript } from "../../shared/pages/tracking-script.ts";

const maxBytes = 16 * 1024;
const Accepted = z
  .object({
    accepted: z.literal(true).describe("Always true: a worker applies it within seconds."),
  })
  .meta({ id: "AcceptedActivity" });
const accepted = { accepted: true as const };

const embed = (attributes: string): string =>
  `<script async src="https://mail.example/api/v1/tracking/script?siteId=1"${attributes}></script>`;

// Any page may call these endpoints: requests are limited in size, per client address and per
// visitor.
export const tracking = routeGroup("tracking", [
  route("GET /tracking/script", "Get the tracking script of a site", {
    auth: "public",
    description: `Put the script into every page: \`${embed("")}\`. It tracks page views by
default.

With \`${embed(' data-consent="required"')}\`, the script stores nothing in the browser and sends
nothing until the page calls \`pennymail.consent()\`. Each page must call it; earlier calls wait
in memory. \`pennymail.consent(false)\` withdraws consent and forgets the visitor. Without
\`data-consent="required"\`, the browser remembers this until \`pennymail.consent()\` turns
tracking on again.

\`pennymail.track(name, properties)\` records a custom event,
\`pennymail.identify({ contactToken })\` or \`pennymail.identify({ email })\` links the visitor to
a contact (see \`POST /tracking/identify\`). Calls before the script has loaded:
\`(window.pennymail ||= []).push(["track", "looked", { at: "shoes" }])\`.`,
    rateLimit: "none",
    cors: true,
    query: z.object({ siteId: QueryId.describe("Site to track.") }),
    returns: z.string(),
    contentType: "application/javascript; charset=utf-8",
    errors: { 404: "The site does not exist." },
    handle: async ({ query: { siteId }, reply }) => {
      await visits.findOrganizationId(siteId);
      reply.headers["cache-control"] = "public, max-age=3600";
      return trackingScript(siteId, `${config.publicUrl}/api/v1/tracking/`);
    },
  }),
  route("POST /tracking/event", "Track a page view or custom event", {
    operationId: "trackEvent",
    auth: "public",
    description: `Called by the tracking script of a site. Events of an unknown visitor are kept
for a while and are added to the contact once the visitor is identified. Only visitors that came
by a link with \`contactToken\` earn points and start sequences; each sequence starts at most once
in 24 hours for an email address. For a visitor known only by a typed email address, the event is
logged with the contact. If the site has no room for another event name, the event is logged but
not counted.`,
    rateLimit: "address",
    cors: true,
    acceptsTextPlain: true,
    body: visits.TrackedEvent,
    returns: Accepted,
    status: 202,
    errors: { 404: "The site does not exist.", 413: "The body is larger than 16 KB." },
    handle: async ({ body, request }) => {
      checkBodySize(request);
      await visits.track(body);
      return accepted;
    },
  }),
  route("POST /tracking/identify", "Identify a website visitor", {
    operationId: "identifyVisitor",
    auth: "public",
    description: `Links a visitor to a contact by email address or contact token. The response is
the same whether or not the contact exists. \`contactToken\`, from a link in an email, proves who
the visitor is: its events, earlier ones included, earn points and start sequences. \`email\`
proves nothing, because a visitor can type any address: events are logged with the contact, earn
no points and start no sequences. A visitor that was proven stays proven when \`email\` names the
same contact later.`,
    rateLimit: "address",
    cors: true,
    acceptsTextPlain: true,
    body: visits.Identification,
    returns: Accepted,
    status: 202,
    errors: { 404: "The site does not exist.", 413: "The body is larger than 16 KB." },
    handle: async ({ body, request }) => {
      checkBodySize(request);
      await visits.identify(body);
      return accepted;
    },
  }),
]);
export const { handler } = tracking;

function checkBodySize({ rawBody }: ApiRequest): void {
  if (rawBody.length > maxBytes) throw tooLarge("The body is larger than 16 KB");
}
