import * as z from "zod";
import * as messages from "../../shared/domain/sending/secure-messages/secure-messages.ts";
import type { Brand } from "../../shared/email/brand/brand.ts";
import { preferredLanguage } from "../../shared/email/languages.ts";
import { Problem, tooLarge, undefinedIfMissing } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { allowLogo } from "../../shared/http/responses.ts";
import {
  type ApiReply,
  type ApiRequest,
  PageQuery,
  pagedSchema,
  route,
} from "../../shared/http/route.ts";
import { SiteFilter } from "../../shared/kernel/digits.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";
import type { SecurePageLook } from "../../shared/pages/secure-message-pages.ts";
import * as secureMessagePages from "../../shared/pages/secure-message-pages.ts";

const page = {
  auth: "public",
  atRoot: true,
  rateLimit: "address",
  returns: z.string(),
  contentType: "text/html; charset=utf-8",
} as const;
const unknownToken = "The token is not valid.";
const expiredOrRevoked = "The message has expired or was revoked.";
const ViewForm = z
  .object({
    passphrase: z
      .string()
      .max(200)
      .optional()
      .describe("Passphrase of the message, if it was sent with one."),
  })
  .meta({ examples: [{ passphrase: "a word between us" }] });

export const secureMessages = routeGroup({ name: "secure-messages", errorPage: renderErrorPage }, [
  route("GET /secure-messages", "List secure messages", {
    description:
      "Returns messages that were sent with `secure: true`, newest first, without their content.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
    }),
    returns: pagedSchema("secureMessages", messages.SecureMessage),
    handle: ({ caller, query: { siteId, ...request } }) =>
      messages.list(caller, request, { siteId }),
  }),
  route("GET /secure-messages/:id", "Get a secure message", {
    description: "Returns status, views and expiry. The content is never returned.",
    level: "site",
    returns: messages.SecureMessage,
    handle: ({ caller, params }) => messages.findSecureMessage(caller, params.id),
  }),
  route("POST /secure-messages/:id/revoke", "Revoke a secure message", {
    description: "Deletes the encrypted content. The link shows nothing from then on.",
    level: "site",
    returns: messages.SecureMessage,
    errors: { 409: "The secure message was already revoked (`already_revoked`)." },
    handle: ({ caller, params }) => messages.revoke(caller, params.id),
  }),
  route("GET /secure/:token", "Get the page of a secure message", {
    operationId: "getSecureMessagePage",
    description:
      "The page behind the emailed link. It shows the sender and a button, and counts no " +
      "view, because scanners open links.",
    ...page,
    errors: { 404: unknownToken, 410: expiredOrRevoked },
    handle: async ({ params: { token }, request, reply }) => {
      const look = lookOf(request, reply, await messages.findBrand(token));
      return orInvalidLinkPage(look, reply, async () => {
        const cover = await messages.getCover(token);
        return cover ? secureMessagePages.renderCoverPage(look, cover) : gonePage(look, reply);
      });
    },
  }),
  route("POST /secure/:token", "View a secure message", {
    operationId: "viewSecureMessage",
    description:
      "Shows the content and counts a view. Needs the passphrase if the message was sent with one.",
    ...page,
    rawBodyTypes: { "application/x-www-form-urlencoded": ViewForm },
    errors: {
      400: "The passphrase is wrong (`wrong_passphrase`).",
      404: unknownToken,
      410: expiredOrRevoked,
      429: "Five wrong passphrases within an hour.",
    },
    handle: async ({ params: { token }, request, reply }) => {
      const look = lookOf(request, reply, await messages.findBrand(token));
      return orInvalidLinkPage(look, reply, () =>
        viewPage({ token, passphrase: parsePassphrase(request) }, look, reply),
      );
    },
  }),
  route("GET /secure/files/:file", "Download a file of a secure message", {
    operationId: "getSecureMessageFile",
    description:
      "The link of a file on the page of a secure message. It works for an hour after the " +
      "message was shown, and only while the message can be viewed.",
    auth: "public",
    atRoot: true,
    rateLimit: "address",
    returns: z.custom<string | Uint8Array>(),
    contentType: "application/octet-stream",
    otherContent: { "text/html": z.string() },
    errors: { 404: "The link is not valid, or older than an hour.", 410: expiredOrRevoked },
    handle: async ({ params: { file: token }, request, reply }) => {
      const file = await messages.downloadFile(token).catch(undefinedIfMissing);
      if (!file) {
        const look = lookOf(request, reply, await messages.findBrandOfFile(token));
        reply.htmlPage =
          file === undefined
            ? secureMessagePages.renderInvalidLinkPage(look)
            : secureMessagePages.renderExpiredPage(look);
        reply.status = file === undefined ? 404 : 410;
        return "";
      }
      Object.assign(reply.headers, {
        "content-type": file.type,
        "content-disposition": attachmentHeader(file.filename),
        "content-security-policy": "default-src 'none'; sandbox",
        "x-robots-tag": "noindex",
        "referrer-policy": "no-referrer",
      });
      return file.bytes;
    },
  }),
]);
export const { handler } = secureMessages;

/** RFC 6266. */
function attachmentHeader(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

/** Scripts, forms and caching are off and no referrer is sent; images may be fetched. */
const viewerHeaders = {
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: https:; form-action " +
    "'none'; frame-ancestors 'none'; base-uri 'none'",
  "x-frame-options": "DENY",
  "x-dns-prefetch-control": "off",
  "x-robots-tag": "noindex",
};

async function viewPage(
  { token, passphrase }: { token: string; passphrase: string | undefined },
  look: SecurePageLook,
  reply: ApiReply,
): Promise<string> {
  try {
    const viewed = await messages.openMessage(token, passphrase);
    if (!viewed) return gonePage(look, reply);
    Object.assign(reply.headers, viewerHeaders);
    allowLogo(reply, look.brand);
    return secureMessagePages.renderMessagePage(look, viewed);
  } catch (error) {
    const why = error instanceof Problem ? viewErrors[error.code] : undefined;
    const cover = why && (await messages.getCover(token));
    if (!why || !cover) throw error;
    reply.status = why.status;
    return secureMessagePages.renderCoverPage(look, cover, why.message);
  }
}

const viewErrors: Record<string, { status: number; message: "wrong" | "tooMany" }> = {
  wrong_passphrase: { status: 400, message: "wrong" },
  rate_limited: { status: 429, message: "tooMany" },
};

/** The look of the pages for this reader. */
function lookOf(request: ApiRequest, reply: ApiReply, brand: Brand | null): SecurePageLook {
  allowLogo(reply, brand);
  const accepted = request.headers["accept-language"];
  return { lang: preferredLanguage(accepted, brand?.language ?? undefined), brand };
}

function gonePage(look: SecurePageLook, reply: ApiReply): string {
  reply.status = 410;
  return secureMessagePages.renderExpiredPage(look);
}

/** Answers an unknown token with a page and 404. */
async function orInvalidLinkPage(
  look: SecurePageLook,
  reply: ApiReply,
  work: () => Promise<string>,
): Promise<string> {
  const page = await work().catch(undefinedIfMissing);
  if (page !== undefined) return page;
  reply.status = 404;
  return secureMessagePages.renderInvalidLinkPage(look);
}

const maxBytes = 4096;

function parsePassphrase({ rawBody }: ApiRequest): string | undefined {
  if (rawBody.length > maxBytes) throw tooLarge("The form is larger than 4 KB");
  return new URLSearchParams(rawBody.toString("utf8")).get("passphrase") ?? undefined;
}
