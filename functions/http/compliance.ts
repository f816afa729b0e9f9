import "../../shared/domain/reactions.ts";
import * as z from "zod";
import type { TopicChoice } from "../../shared/domain/audience/topics/topic-choice-schemas.ts";
import { maxTopicsPerSite } from "../../shared/domain/audience/topics/topic-subscription.ts";
import * as unsubscribes from "../../shared/domain/delivery-events/unsubscribes.ts";
import * as settings from "../../shared/domain/identity/compliance.ts";
import { preferredLanguage } from "../../shared/email/wording/subscriber-pages.ts";
import { Problem, invalid as refused, tooLarge } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { type ApiReply, type ApiRequest, route } from "../../shared/http/route.ts";
import { parseJson } from "../../shared/kernel/json.ts";
import { Id, RecordId } from "../../shared/kernel/record-fields.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";
import {
  renderInvalidLinkPage,
  renderUnsubscribePage,
} from "../../shared/pages/unsubscribe-pages.ts";

const Page = z.custom<string>();
const unknownToken = "The token is not valid.";
const LinkToken = z
  .string()
  .min(1)
  .max(1000)
  .describe("Token of the link in the email. It does not expire.");
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
    topicId: RecordId.nullable().describe("Topic of the email with the link, or `null`."),
    topics: z
      .array(
        z.object({
          id: RecordId.describe("Id of the topic."),
          name: z.string().describe("Name of the topic."),
          description: z.string().nullable().describe("What the topic is about, or `null`."),
          subscribed: z.boolean().describe("Whether the contact is subscribed to the topic."),
        }),
      )
      .describe("Public topics of the site, and the topic of the email, in their order."),
  })
  .meta({ id: "UnsubscribeStanding" });
const actionField = z
  .enum(["unsubscribe", "unsubscribe_site", "unsubscribe_all", "choose_topics", "resubscribe"])
  .default("unsubscribe")
  .describe(
    "What to do. `unsubscribe`: leave the topic of the email, or the site if the email has none. " +
      "`unsubscribe_site`: no more email from the site. `unsubscribe_all`: no more email from " +
      "any site of the organization. `choose_topics`: join and leave topics. `resubscribe`: get " +
      "email from the site again.",
  );
const Action = z
  .object({
    action: actionField,
    topics: z
      .array(
        z.object({
          id: Id.describe("Id of a topic of the page."),
          subscribed: z.boolean().describe("true: joins the topic. false: leaves it."),
        }),
      )
      .max(maxTopicsPerSite)
      .default([])
      .describe("For `choose_topics`: topics to join or leave. The others stay as they are."),
  })
  .meta({
    id: "UnsubscribeAction",
    examples: [{ action: "unsubscribe" }],
  });
const topicIds = z
  .string()
  .max(20)
  .regex(/^\d+$/)
  .meta({ examples: ["1"] });
const ActionForm = z
  .object({
    action: actionField,
    shown: topicIds
      .optional()
      .describe("For `choose_topics`: id of a topic that the page shows. Repeated for each."),
    topic: topicIds
      .optional()
      .describe("Id of a shown topic to join. Repeated for each. The other shown ones are left."),
  })
  .meta({ examples: [{ action: "unsubscribe" }] });
const OneClickBody = z.object({
  "List-Unsubscribe": z
    .literal("One-Click")
    .optional()
    .describe("`One-Click`, as mail clients send it. It may be left out."),
});

/** A page that shows the state of a subscription and changes nothing. */
const statePage = {
  auth: "public" as const,
  cors: true as const,
  answersHead: true as const,
  returns: Page,
  contentType: "text/html; charset=utf-8" as const,
  jsonAlternative: UnsubscribeState,
  errors: { 404: unknownToken },
};

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
      "Called by mail clients through the List-Unsubscribe header. Leaves the topic of the " +
      "email, or all marketing email of the site if the email has no topic. The body is " +
      "ignored. Safe to repeat.",
    auth: "public",
    cors: true,
    rawBodyTypes: {
      "application/x-www-form-urlencoded": OneClickBody,
      "multipart/form-data": OneClickBody,
    },
    query: z.object({ token: LinkToken }),
    returns: z.object({
      unsubscribed: z.literal(true).describe("Always true: the recipient is unsubscribed."),
    }),
    errors: { 404: unknownToken },
    handle: async ({ query: { token }, request: { clientIp: ipAddress } }) => {
      await unsubscribes.unsubscribe(token, { source: "one_click", ipAddress });
      return { unsubscribed: true as const };
    },
  }),
  route("GET /unsubscribe", "Get the page of the List-Unsubscribe header", {
    operationId: "getOneClickPage",
    description:
      "The preference page, for a mail client or a reader who opens the URL of the " +
      `List-Unsubscribe header in a browser. Changes nothing. ${responseFormats}`,
    ...statePage,
    query: z.object({ token: LinkToken }),
    handle: ({ query: { token }, request, reply }) =>
      respondWithState(request, reply, { token, act: async () => {} }),
  }),
  route("GET /unsubscribe/:token", "Get the unsubscribe page", {
    operationId: "getUnsubscribePage",
    description:
      "The preference page: shows the topics of the site and asks for confirmation. Changes " +
      `nothing. ${responseFormats}`,
    ...statePage,
    handle: ({ params: { token }, request, reply }) =>
      respondWithState(request, reply, { token, act: async () => {} }),
  }),
  route("POST /unsubscribe/:token", "Unsubscribe, resubscribe or choose topics", {
    operationId: "submitUnsubscribePage",
    description:
      "Without an action, leaves the topic of the email, or all marketing email of the site if " +
      `the email has no topic. ${responseFormats}`,
    auth: "public",
    cors: true,
    rawBodyTypes: { "application/x-www-form-urlencoded": ActionForm, "application/json": Action },
    returns: Page,
    contentType: "text/html; charset=utf-8",
    jsonAlternative: UnsubscribeState,
    errors: {
      400: "The action does not exist, or a topic is not on the page.",
      404: unknownToken,
    },
    handle: ({ params: { token }, request, reply }) => {
      const { action, topics } = parseAction(request);
      const use = { source: "preference_page" as const, ipAddress: request.clientIp };
      return respondWithState(request, reply, {
        token,
        act: () => actions[action](token, use, topics),
        action,
      });
    },
  }),
]);
export const { handler } = compliance;

type ActionName = z.output<typeof actionField>;

const actions: Record<
  ActionName,
  (token: string, use: unsubscribes.LinkUse, choices: TopicChoice[]) => Promise<void>
> = {
  unsubscribe: unsubscribes.unsubscribe,
  unsubscribe_site: unsubscribes.unsubscribeFromSite,
  unsubscribe_all: unsubscribes.unsubscribeFromEverything,
  choose_topics: unsubscribes.chooseTopics,
  resubscribe: unsubscribes.resubscribe,
};

const maxBytes = 16 * 1024;

function parseAction(request: ApiRequest): z.output<typeof Action> {
  if (request.rawBody.length > maxBytes) throw tooLarge("The body is larger than 16 KB");
  const { success, data, error } = Action.safeParse(parseFields(request));
  if (success) return data;
  const path = error.issues[0]?.path.join(".") || "action";
  const message =
    path === "action"
      ? `must be one of ${actionField.unwrap().options.join(", ")}`
      : "must name topics of this page";
  throw refused(`${path} ${message}`, { details: [{ path, message }] });
}

function parseFields({ rawBody, headers }: ApiRequest): unknown {
  const text = rawBody.toString("utf8");
  if (!isJson(headers["content-type"])) return parseForm(new URLSearchParams(text));
  const fields = text ? parseJson(text) : {};
  if (fields === undefined) throw refused("The body is not valid JSON", { code: "invalid_json" });
  return fields;
}

/** A browser sends only the boxes that are ticked, so the form names all that it shows. */
function parseForm(form: URLSearchParams): unknown {
  const ticked = new Set(form.getAll("topic"));
  const topics = [...new Set(form.getAll("shown"))].map((id) => ({
    id: Number(id),
    subscribed: ticked.has(id),
  }));
  return { action: form.get("action") ?? undefined, topics };
}

const isJson = (type = ""): boolean => /\bapplication\/json\b/i.test(type);

/**
 * Performs the action and returns the new state, as a page for browsers and as JSON for programs.
 */
async function respondWithState(
  request: ApiRequest,
  reply: ApiReply,
  { token, act, action }: { token: string; act: () => Promise<void>; action?: ActionName },
): Promise<string> {
  const { headers } = request;
  const language = preferredLanguage(headers["accept-language"]);
  try {
    await act();
    const status = await unsubscribes.findStatus(token);
    if (isJson(headers.accept) || isJson(headers["content-type"])) return asJson(reply, status);
    return asPage(reply, language, renderUnsubscribePage(language, status, { token, action }));
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
