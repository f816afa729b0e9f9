// What links in emails open without a rate limit: the page behind `browserUrl`, and the links and
// pixels of our own tracking. They share a function, because a stack has a limit of resources.
import * as z from "zod";
import {
  recordClick,
  recordOpen,
  type Visit,
} from "../../shared/domain/delivery-events/tracked-visits.ts";
import { pixelName } from "../../shared/domain/sending/rendering/own-tracking.ts";
import { findBrowserView } from "../../shared/domain/sending/sent-content.ts";
import { preferredLanguage } from "../../shared/email/languages.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { allowLogo } from "../../shared/http/responses.ts";
import { type ApiRequest, route } from "../../shared/http/route.ts";
import {
  emailPageHeaders,
  renderEmailPage,
  renderNoEmailPage,
} from "../../shared/pages/browser-view-pages.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";

/** The token of previews and test emails. */
const previewToken = "preview";

const pixel = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

const toVisit = ({ method, headers, clientIp }: ApiRequest): Visit => ({
  method,
  headers,
  ipAddress: clientIp,
});

// Without a rate limit, as the unsubscribe page: scanners and proxies of mailbox providers open the
// emails of many recipients. A token that is not ours costs nothing, and repeated visits are one
// event.
export const browserView = routeGroup({ name: "browser-view", errorPage: renderErrorPage }, [
  route("GET /view/:token", "Get an email as a page", {
    operationId: "viewEmailInBrowser",
    description:
      "The page behind `{{ browserUrl }}`: the email as it was sent to this person. It works " +
      "while the content of the send is stored, for 60 days. Opening it counts nothing.",
    auth: "public",
    atRoot: true,
    answersHead: true,
    returns: z.string(),
    contentType: "text/html; charset=utf-8",
    errors: { 404: "The token is not valid.", 410: "The email is no longer stored." },
    handle: async ({ params: { token }, request, reply }) => {
      const language = preferredLanguage(request.headers["accept-language"]);
      reply.headers["x-robots-tag"] = "noindex";
      if (token === previewToken)
        return renderNoEmailPage(language, { reason: "preview", brand: null });
      const view = await findBrowserView(token);
      if ("reason" in view) {
        reply.status = view.reason === "gone" ? 410 : 404;
        allowLogo(reply, view.brand);
        return renderNoEmailPage(language, view);
      }
      Object.assign(reply.headers, emailPageHeaders);
      return renderEmailPage(language, view);
    },
  }),
  route("GET /t/:token/:link", "Follow a link of an email", {
    operationId: "viewEmailLink",
    description:
      "The links in emails of sending configs with `tracking` `own`. Records a click, and goes " +
      "to the target, which the link contains in sealed form. The link `open.gif` is the " +
      "invisible picture that records an open.",
    auth: "public",
    atRoot: true,
    answersHead: true,
    returns: z.custom<string | Uint8Array>(),
    contentType: "text/html; charset=utf-8",
    otherContent: { "image/gif": z.string().meta({ format: "binary" }) },
    otherStatuses: { 302: "Goes to the target of the link." },
    errors: { 404: "The link is not valid." },
    handle: async ({ params: { token, link }, request, reply }) => {
      reply.headers["x-robots-tag"] = "noindex";
      const visit = toVisit(request);
      if (link === pixelName && (await recordOpen(token, visit))) {
        reply.headers["content-type"] = "image/gif";
        return pixel;
      }
      const location = await recordClick({ token, link }, visit);
      if (location !== undefined) {
        Object.assign(reply, { status: 302 }).headers.location = location;
        return "";
      }
      reply.status = 404;
      const language = preferredLanguage(request.headers["accept-language"]);
      return renderNoEmailPage(language, { reason: "invalid", brand: null });
    },
  }),
]);
export const { handler } = browserView;
