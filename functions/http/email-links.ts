// Links and pixels of emails with tracking of our own.
import * as z from "zod";
import {
  recordClick,
  recordOpen,
  type Visit,
} from "../../shared/domain/delivery-events/tracked-visits.ts";
import { preferredLanguage } from "../../shared/email/languages.ts";
import { missing } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { type ApiReply, type ApiRequest, route } from "../../shared/http/route.ts";
import { renderNoEmailPage } from "../../shared/pages/browser-view-pages.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";

const pixel = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

const toVisit = ({ method, headers, clientIp }: ApiRequest): Visit => ({
  method,
  headers,
  ipAddress: clientIp,
});

const hideFromSearch = (reply: ApiReply): void => {
  reply.headers["x-robots-tag"] = "noindex";
};

// Without a rate limit, as the unsubscribe page: proxies of mailbox providers open the emails of
// many recipients. A token that is not ours costs nothing, and repeated visits are one event.
export const emailLinks = routeGroup({ name: "email-links", errorPage: renderErrorPage }, [
  route("GET /t/:token", "Get the tracking pixel of an email", {
    operationId: "getTrackingPixel",
    description:
      "The invisible picture in emails of sending configs with `tracking` `own`. Records an open.",
    auth: "public",
    atRoot: true,
    answersHead: true,
    returns: z.custom<Uint8Array>(),
    contentType: "image/gif",
    errors: { 404: "The token is not valid." },
    handle: async ({ params: { token }, request, reply }) => {
      hideFromSearch(reply);
      if (!(await recordOpen(token, toVisit(request)))) throw missing("The link is not valid");
      return pixel;
    },
  }),
  route("GET /t/:token/:link", "Follow a link of an email", {
    operationId: "viewEmailLink",
    description:
      "The links in emails of sending configs with `tracking` `own`. Records a click, and goes " +
      "to the target, which the link contains in sealed form.",
    auth: "public",
    atRoot: true,
    answersHead: true,
    returns: z.string(),
    contentType: "text/html; charset=utf-8",
    otherStatuses: { 302: "Goes to the target of the link." },
    errors: { 404: "The link is not valid." },
    handle: async ({ params, request, reply }) => {
      hideFromSearch(reply);
      const location = await recordClick(params, toVisit(request));
      if (location === undefined) {
        reply.status = 404;
        const language = preferredLanguage(request.headers["accept-language"]);
        return renderNoEmailPage(language, { reason: "invalid", brand: null });
      }
      Object.assign(reply, { status: 302 }).headers.location = location;
      return "";
    },
  }),
]);
export const { handler } = emailLinks;
