// The public archive of a site: a list of emails, each email, and an RSS feed.
import * as z from "zod";
import { findPublic, listPublic } from "../../shared/domain/campaigns/archive/archive.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { type ApiReply, route } from "../../shared/http/route.ts";
import { renderArchivePage, renderArchiveRss } from "../../shared/pages/archive-pages.ts";
import { publicEmailPageHeaders, renderEmailPage } from "../../shared/pages/browser-view-pages.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";

const html = "text/html; charset=utf-8";

/** Browsers and caches keep a page for five minutes. */
const allowCaching = ({ headers }: ApiReply): void => {
  headers["cache-control"] = "public, max-age=300, stale-while-revalidate=3600";
};

const noArchive = "The site does not exist, or its archive is turned off.";

export const archive = routeGroup({ name: "archive", errorPage: renderErrorPage }, [
  route("GET /archive/:id", "Get the public archive of a site as a page", {
    operationId: "viewArchive",
    description:
      "The emails that the site shows in public, newest first, 20 on a page. `archive` of a site " +
      "turns it on, and `archive` of a campaign puts its email there.",
    auth: "public",
    atRoot: true,
    rateLimit: "address",
    answersHead: true,
    query: z.object({
      before: z
        .string()
        .max(60)
        .regex(/^[\d:TZ.-]{20,30}#\d{16}$/)
        .optional()
        .describe("Position of an older page, from the link of the page before."),
    }),
    returns: z.string(),
    contentType: html,
    errors: { 404: noArchive },
    handle: async ({ params: { id }, query: { before }, reply }) => {
      const page = await listPublic(id, before);
      allowCaching(reply);
      return renderArchivePage(page, { isFirst: before === undefined });
    },
  }),
  route("GET /archive/:id/feed.xml", "Get the public archive of a site as RSS", {
    operationId: "viewArchiveFeed",
    description: "The latest 20 emails of the archive as an RSS 2.0 feed.",
    auth: "public",
    atRoot: true,
    rateLimit: "address",
    answersHead: true,
    returns: z.string(),
    contentType: "text/xml; charset=utf-8",
    errors: { 404: noArchive },
    handle: async ({ params: { id }, reply }) => {
      const page = await listPublic(id);
      allowCaching(reply);
      return renderArchiveRss(page);
    },
  }),
  route("GET /archive/:id/:campaignId", "Get an email of the public archive as a page", {
    operationId: "viewArchivedEmail",
    description:
      "The email of a campaign without a recipient: fields of contacts have their defaults, and " +
      "links of a person lead nowhere.",
    auth: "public",
    atRoot: true,
    rateLimit: "address",
    answersHead: true,
    returns: z.string(),
    contentType: html,
    errors: { 404: "The archive does not exist or does not show this email." },
    handle: async ({ params: { id, campaignId }, reply }) => {
      const mail = await findPublic(id, campaignId);
      allowCaching(reply);
      Object.assign(reply.headers, publicEmailPageHeaders);
      return renderEmailPage(mail.language, mail, { isPublic: true });
    },
  }),
]);
export const { handler } = archive;
