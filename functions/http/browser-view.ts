// The page behind the link `browserUrl` of an email.
import * as z from "zod";
import { findBrowserView } from "../../shared/domain/sending/sent-content.ts";
import { preferredLanguage } from "../../shared/email/languages.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { allowLogo } from "../../shared/http/responses.ts";
import { route } from "../../shared/http/route.ts";
import {
  emailPageHeaders,
  renderEmailPage,
  renderNoEmailPage,
} from "../../shared/pages/browser-view-pages.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";

/** The token of previews and test emails. */
const previewToken = "preview";

// Without a rate limit, as the unsubscribe page: mail scanners open the links of many recipients.
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
]);
export const { handler } = browserView;
