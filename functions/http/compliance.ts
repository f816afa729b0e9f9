import "../../shared/domain/reactions.ts";
import * as z from "zod";
import * as unsubscribes from "../../shared/domain/delivery-events/unsubscribes.ts";
import * as settings from "../../shared/domain/identity/compliance.ts";
import { preferredLanguage } from "../../shared/email/wording/subscriber-pages.ts";
import { Problem, invalid as refused, tooLarge } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { type ApiReply, type ApiRequest, route } from "../../shared/http/route.ts";
import { parseJson } from "../../shared/kernel/json.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";
import {
  renderInvalidLinkPage,
  renderUnsubscribePage,
} from "../../shared/pages/unsubscribe-pages.ts";

const Page = z.custom<string>();
const unknownToken = "The token is not valid.";
const responseFormats =
  "Returns a page in English, German, French or Spanish by `Accept-Language`, or JSON with " +
  "`Accept: application/json`.";
const UnsubscribeState = z
  .object({
    email: z.string().describe("Email address that the link was sent to."),
    siteName: z.string().describe("Name of the site that sent the email."),
    state: z
      .enum(["subscribed", "unsubscribed", "suppressed"])
      .describe(
        "`suppressed`: the address bounced, complained or was suppressed, and cannot be " +
          "subscribed on this page.",
      ),
    everything: z
      .boolean()
      .describe("Whether no site of the organization sends marketing email to this address."),
  })
  .meta({ id: "UnsubscribeStanding" });
const Action = z
  .object({
    action: z
      .enum(["unsubscribe", "unsubscribe_all", "resubscribe"])
      .default("unsubscribe")
      .describe("What to do: `unsubscribe_all` applies to all sites of the organization."),
  })
  .meta({ examples: [{ action: "unsubscribe" }] });
const OneClickBody = z.object({
  "List-Unsubscribe": z
    .literal("One-Click")
    .optional()
    .describe("`One-Click`, as mail clients send it. It may be left out."),
});

// The public endpoints are not rate limited: mailbox providers call them for millions of users from
// few addresses.
export const compliance = routeGroup({ name: "compliance", errorPage: renderErrorPage }, [
  route("GET /compliance", "Get compliance settings", {
    operationId: "getComplianceSettings",
    returns: settings.Compliance,
    handle: ({ caller }) => settings.getCompliance(caller.orgId),
  }),
  route("PUT /compliance", "Update compliance settings", {
    operationId: "updateComplianceSettings",
    description:
      "Updates the given fields. Email that was already accepted keeps the settings it was " +
      "accepted with.",
    body: settings.ComplianceChanges,
    returns: settings.Compliance,
    handle: ({ caller, body }) => settings.change(caller, body),
  }),
  route("POST /unsubscribe", "Unsubscribe with one click (RFC 8058)", {
    operationId: "unsubscribeOneClick",
    description:
      "Called by mail clients through the List-Unsubscribe header. The body is ignored. Safe " +
      "to repeat.",
    auth: "public",
    cors: true,
    rawBodyTypes: {
      "application/x-www-form-urlencoded": OneClickBody,
      "multipart/form-data": OneClickBody,
    },
    query: z.object({
      token: z
        .string()
        .min(1)
        .max(1000)
        .describe("Token of the link in the email. It does not expire."),
    }),
    returns: z.object({
      unsubscribed: z.literal(true).describe("Always true: the recipient is unsubscribed."),
    }),
    errors: { 404: unknownToken },
    handle: async ({ query: { token }, request: { clientIp } }) => {
      await unsubscribes.unsubscribe(token, clientIp);
      return { unsubscribed: true as const };
    },
  }),
  route("GET /unsubscribe/:token", "Get the unsubscribe page", {
    operationId: "getUnsubscribePage",
    description: `Asks for confirmation and changes nothing. ${responseFormats}`,
    auth: "public",
    cors: true,
    answersHead: true,
    returns: Page,
    contentType: "text/html; charset=utf-8",
    jsonAlternative: UnsubscribeState,
    errors: { 404: unknownToken },
    handle: ({ params: { token }, request, reply }) =>
      respondWithState(request, reply, { token, act: async () => {} }),
  }),
  route("POST /unsubscribe/:token", "Unsubscribe or resubscribe", {
    operationId: "submitUnsubscribePage",
    description:
      "Unsubscribes from the marketing email of the site. With `action=unsubscribe_all`, " +
      "unsubscribes from all sites of the organization; with `action=resubscribe`, " +
      `subscribes again. ${responseFormats}`,
    auth: "public",
    cors: true,
    rawBodyTypes: { "application/x-www-form-urlencoded": Action, "application/json": Action },
    returns: Page,
    contentType: "text/html; charset=utf-8",
    jsonAlternative: UnsubscribeState,
    errors: {
      400: "The action is none of `unsubscribe`, `unsubscribe_all` and `resubscribe`",
      404: unknownToken,
    },
    handle: ({ params: { token }, request, reply }) => {
      const action = parseAction(request);
      return respondWithState(request, reply, {
        token,
        act: () => actions[action](token, request),
        showsResubscribed: action === "resubscribe",
      });
    },
  }),
]);
export const { handler } = compliance;

const actions = {
  unsubscribe: (token: string, { clientIp }: ApiRequest) =>
    unsubscribes.unsubscribe(token, clientIp),
  unsubscribe_all: (token: string, { clientIp }: ApiRequest) =>
    unsubscribes.unsubscribeFromEverything(token, clientIp),
  resubscribe: (token: string) => unsubscribes.resubscribe(token),
};

const maxBytes = 16 * 1024;

function parseAction(request: ApiRequest): keyof typeof actions {
  if (request.rawBody.length > maxBytes) throw tooLarge("The body is larger than 16 KB");
  const { success, data } = Action.safeParse(parseFields(request));
  if (success) return data.action;
  const message = "must be unsubscribe, unsubscribe_all or resubscribe";
  throw refused(`action ${message}`, { details: [{ path: "action", message }] });
}

function parseFields({ rawBody, headers }: ApiRequest): unknown {
  const text = rawBody.toString("utf8");
  if (!isJson(headers["content-type"])) return Object.fromEntries(new URLSearchParams(text));
  const fields = text ? parseJson(text) : {};
  if (fields === undefined) throw refused("The body is not valid JSON", { code: "invalid_json" });
  return fields;
}

const isJson = (type = ""): boolean => /\bapplication\/json\b/i.test(type);

/**
 * Performs the action and returns the new state, as a page for browsers and as JSON for programs.
 */
async function respondWithState(
  request: ApiRequest,
  reply: ApiReply,
  {
    token,
    act,
    showsResubscribed: resubscribed = false,
  }: { token: string; act: () => Promise<void>; showsResubscribed?: boolean | undefined },
): Promise<string> {
  const { headers } = request;
  const language = preferredLanguage(headers["accept-language"]);
  try {
    await act();
    const status = await unsubscribes.findStatus(token);
    if (isJson(headers.accept) || isJson(headers["content-type"])) return asJson(reply, status);
    return asPage(reply, language, renderUnsubscribePage(language, status, { back: resubscribed }));
  } catch (error) {
    if (
      isJson(headers.accept) ||
      isJson(headers["content-type"]) ||
      !(error instanceof Problem && error.kind === "missing")
    )
      throw error;
    reply.status = 404;
    return asPage(reply, language, renderInvalidLinkPage(language));
  }
}

function asJson(reply: ApiReply, state: unsubscribes.UnsubscribeStatus): string {
  reply.headers["content-type"] = "application/json; charset=utf-8";
  return JSON.stringify({ data: state });
}

function asPage(reply: ApiReply, language: string, page: string): string {
  Object.assign(reply.headers, { "content-language": language, vary: "Accept-Language, Accept" });
  return page;
}
