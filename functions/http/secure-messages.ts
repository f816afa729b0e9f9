import * as z from "zod";
import * as messages from "../../shared/domain/secure-messages.ts";
import { Problem, tooLarge, unlessMissing } from "../../shared/errors.ts";
import { type Extra, PageQuery, paged, type Request, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { failure } from "../../shared/pages/failure.ts";
import * as pages from "../../shared/pages/secure-message.ts";
import { type Language, languageOf } from "../../shared/pages/words.ts";

const page = { auth: "public", atRoot: true, limit: "address", returns: z.string(), type: "text/html; charset=utf-8" } as const;
const notOurs = "The token is none of ours";
const isGone = "It has expired or was revoked";
const Opening = z
  .object({ passphrase: z.string().optional().describe("Where the message was sent with one") })
  .meta({ examples: [{ passphrase: "a word between us" }] });

export const secureMessages = group({ name: "secure-messages", failurePage: failure }, [
  route("GET /secure-messages", "Messages that were sent with `secure: true`, newest first", {
    level: "site",
    query: PageQuery.extend({ siteId: z.coerce.number().int().positive().optional() }),
    returns: paged("secureMessages", messages.SecureMessage),
    handle: ({ caller, query: { siteId, ...request } }) => messages.list(caller, request, { siteId }),
  }),
  route("GET /secure-messages/:id", "Status, view count and expiry of a secure message; what it says is never answered", {
    level: "site",
    returns: messages.SecureMessage,
    handle: ({ caller, params }) => messages.find(caller, params.id),
  }),
  route("POST /secure-messages/:id/revoke", "Delete what a secure message says; its link shows nothing from now on", {
    level: "site",
    returns: messages.SecureMessage,
    errors: { 409: "It was revoked before" },
    handle: ({ caller, params }) => messages.revoke(caller, params.id),
  }),
  route("GET /secure/:token", "The page behind the link of a secure message. It asks before it shows anything, and counts nothing", {
    ...page,
    errors: { 404: notOurs, 410: isGone },
    handle: async ({ params: { token }, request, reply }) => {
      const language = languageOf(request.headers["accept-language"]);
      return answered(language, reply, async () => {
        const cover = await messages.cover(token);
        return cover ? pages.cover(language, cover) : gone(language, reply);
      });
    },
  }),
  route("POST /secure/:token", "What the button of that page does: shows the message, and counts it", {
    ...page,
    raw: { "application/x-www-form-urlencoded": Opening },
    errors: { 400: "The passphrase is wrong", 404: notOurs, 410: isGone, 429: "Five wrong passphrases in an hour" },
    handle: async ({ params: { token }, request, reply }) => {
      const language = languageOf(request.headers["accept-language"]);
      return answered(language, reply, () => shown(language, token, passphraseOf(request), reply));
    },
  }),
]);
export const { handler } = secureMessages;

/** Nothing of the message may run, be kept, or tell anybody where it was read; its pictures may be fetched. */
const viewerHeaders = {
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: https:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  "x-frame-options": "DENY",
  "x-dns-prefetch-control": "off",
  "x-robots-tag": "noindex",
};

async function shown(language: Language, token: string, passphrase: string | undefined, reply: Extra): Promise<string> {
  try {
    const viewed = await messages.view(token, passphrase);
    if (!viewed) return gone(language, reply);
    Object.assign(reply.headers, viewerHeaders);
    return pages.shown(language, viewed.cover, viewed.said);
  } catch (error) {
    const why = error instanceof Problem ? refusals[error.code] : undefined;
    const cover = why && (await messages.cover(token));
    if (!why || !cover) throw error;
    reply.status = why.status;
    return pages.cover(language, cover, why.words);
  }
}

const refusals: Record<string, { status: number; words: "wrong" | "tooMany" }> = {
  wrong_passphrase: { status: 400, words: "wrong" },
  rate_limited: { status: 429, words: "tooMany" },
};

function gone(language: Language, reply: Extra): string {
  reply.status = 410;
  return pages.gone(language);
}

/** A page, too, for a token that is none of ours. */
async function answered(language: Language, reply: Extra, work: () => Promise<string>): Promise<string> {
  const page = await work().catch(unlessMissing);
  if (page !== undefined) return page;
  reply.status = 404;
  return pages.invalid(language);
}

const maxBytes = 4096;

function passphraseOf({ rawBody }: Request): string | undefined {
  if (rawBody.length > maxBytes) throw tooLarge("The form is larger than 4 kB");
  return new URLSearchParams(rawBody.toString("utf8")).get("passphrase") ?? undefined;
}
