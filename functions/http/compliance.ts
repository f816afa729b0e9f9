import "../../shared/domain/reactions.ts";
import * as z from "zod";
import { preferenceFieldTypes } from "../../shared/domain/audience/contacts/preference-fields.ts";
import * as preferences from "../../shared/domain/delivery-events/preferences.ts";
import * as unsubscribes from "../../shared/domain/delivery-events/unsubscribes.ts";
import * as settings from "../../shared/domain/identity/compliance.ts";
import { preferredLanguage, supportedLanguage } from "../../shared/email/languages.ts";
import { Problem } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import {
  type ActionName,
  isFormWithoutButton,
  isJson,
  PreferenceAction,
  PreferenceForm,
  parseAction,
} from "../../shared/http/preference-actions.ts";
import { allowLogo } from "../../shared/http/responses.ts";
import { type ApiReply, type ApiRequest, route } from "../../shared/http/route.ts";
import { RecordId, Timestamp } from "../../shared/kernel/record-fields.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";
import {
  type PageView,
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
  "Returns a page in the language of the email, else in the `locale` of the contact, else by " +
  "`Accept-Language`, in one of ten languages, or JSON with `Accept: application/json`.";
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
    snoozedUntil: Timestamp.nullable().describe(
      "Until when the contact has paused marketing email, or `null`.",
    ),
    canSnooze: z.boolean().describe("Whether the contact can pause marketing email."),
    asksLeaveReason: z
      .boolean()
      .describe("Whether the page asks why the contact unsubscribed: see `give_reason`."),
    fields: z
      .array(
        z.object({
          key: z.string().describe("Name of the field in `change_fields`."),
          label: z.string().nullable().describe("Label of a custom field. Otherwise `null`."),
          type: z.enum(preferenceFieldTypes).describe("How values are read."),
          value: z.string().nullable().describe("Value as text, or `null`."),
        }),
      )
      .describe("Fields that the contact can change, as the site chose them."),
  })
  .meta({ id: "UnsubscribeStanding" });
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
      "ignored, because some mail clients lose it; the address stands only in the header, where " +
      "scanners of links and forms do not find it. Safe to repeat.",
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
      "The unsubscribe page, for a mail client or a reader who opens the URL of the " +
      `List-Unsubscribe header in a browser. Changes nothing. ${responseFormats}`,
    ...statePage,
    query: z.object({ token: LinkToken }),
    handle: ({ query: { token }, request, reply }) =>
      respondWithState(request, reply, { token, act: async () => {} }),
  }),
  route("GET /unsubscribe/:token", "Get the unsubscribe page", {
    operationId: "getUnsubscribePage",
    description:
      "Asks the recipient to confirm. With `view=preferences`, shows the topics of the site and " +
      `all choices. Changes nothing. ${responseFormats}`,
    ...statePage,
    query: z.object({
      view: z
        .enum(["unsubscribe", "preferences"])
        .default("unsubscribe")
        .describe(
          "What the page shows. `unsubscribe`, as in `{{ unsubscribeUrl }}`: one button that " +
            "leaves the topic of the email, or the site if the email has none. `preferences`, as " +
            "in `{{ preferencesUrl }}`: the topics and everything else that can be chosen.",
        ),
    }),
    handle: ({ params: { token }, query: { view }, request, reply }) =>
      respondWithState(request, reply, { token, view, act: async () => {} }),
  }),
  route("POST /unsubscribe/:token", "Unsubscribe, resubscribe or choose topics", {
    operationId: "submitUnsubscribePage",
    description:
      "JSON without an action leaves the topic of the email, or all marketing email of the site " +
      "if the email has no topic. A form needs an action, as the buttons of the page send it, or " +
      "`List-Unsubscribe=One-Click`: scanners submit forms without a button, and such a form " +
      `changes nothing. ${responseFormats}`,
    auth: "public",
    cors: true,
    rawBodyTypes: {
      "application/x-www-form-urlencoded": PreferenceForm,
      "application/json": PreferenceAction,
    },
    returns: Page,
    contentType: "text/html; charset=utf-8",
    jsonAlternative: UnsubscribeState,
    errors: {
      400:
        "The action does not exist or is not offered, a topic or a field is not on the page, or " +
        "a field cannot have the value: `details` names it.",
      404: unknownToken,
    },
    handle: ({ params: { token }, request, reply }) => {
      const input = parseAction(request);
      const { action } = input;
      if (isFormWithoutButton(request))
        return respondWithState(request, reply, { token, act: async () => {} });
      const use = { source: "preference_page" as const, ipAddress: request.clientIp };
      return respondWithState(request, reply, {
        token,
        act: () => actions[action](token, use, input),
        action,
        entered: input.fields,
      });
    },
  }),
]);
export const { handler } = compliance;

type ActionHandler = (
  token: string,
  use: unsubscribes.LinkUse,
  input: PreferenceAction,
) => Promise<void>;

const actions: Record<ActionName, ActionHandler> = {
  unsubscribe: unsubscribes.unsubscribe,
  unsubscribe_site: unsubscribes.unsubscribeFromSite,
  unsubscribe_all: unsubscribes.unsubscribeFromEverything,
  choose_topics: (token, use, { topics }) => unsubscribes.chooseTopics(token, use, topics),
  change_fields: (token, _, { fields }) => preferences.changeFields(token, fields),
  snooze: (token, use, { days }) => preferences.pauseMail(token, use, days),
  end_snooze: preferences.endPause,
  give_reason: (token, use, { reason, comment }) =>
    preferences.giveReason(token, use, { reason: reason!, comment: comment || null }),
  resubscribe: unsubscribes.resubscribe,
};

interface PageRequest {
  token: string;
  view?: PageView;
  act(): Promise<void>;
  action?: ActionName;
  /** Values of fields as they were entered. */
  entered?: PreferenceAction["fields"];
}

/**
 * Performs the action and returns the new state, as a page for browsers and as JSON for programs.
 */
async function respondWithState(
  request: ApiRequest,
  reply: ApiReply,
  { act, token, view = "unsubscribe", action, entered }: PageRequest,
): Promise<string> {
  const { headers } = request;
  const accept = headers["accept-language"];
  const wantsJson = isJson(headers.accept) || isJson(headers["content-type"]);
  try {
    const refusedField = await act().then(
      () => undefined,
      (error: unknown) => {
        if (wantsJson || action !== "change_fields") throw error;
        return findRefusedField(error);
      },
    );
    const status = await unsubscribes.findStatus(token);
    if (wantsJson) return asJson(reply, status);
    if (refusedField) reply.status = 400;
    const language =
      supportedLanguage(status.locale ?? "") ??
      preferredLanguage(accept, status.brand?.language ?? undefined);
    allowLogo(reply, status.brand);
    const refusal = refusedField ? { key: refusedField, entered: entered ?? {} } : undefined;
    const page = renderUnsubscribePage(language, status, { token, view, action, refusal });
    return asPage(reply, language, page);
  } catch (error) {
    if (wantsJson || !(error instanceof Problem && error.kind === "missing")) throw error;
    reply.status = 404;
    const language = preferredLanguage(accept);
    return asPage(reply, language, renderInvalidLinkPage(language));
  }
}

/** The key of the field whose value was refused. Throws an error of another cause. */
function findRefusedField(error: unknown): string {
  const path = error instanceof Problem && error.kind === "invalid" && error.details?.[0]?.path;
  if (!path) throw error;
  return path;
}

function asJson(
  reply: ApiReply,
  { locale: _, brand: __, ...state }: unsubscribes.UnsubscribeStatus,
): string {
  reply.headers["content-type"] = "application/json; charset=utf-8";
  return JSON.stringify({ data: state });
}

function asPage(reply: ApiReply, language: string, page: string): string {
  Object.assign(reply.headers, { "content-language": language, vary: "Accept-Language, Accept" });
  return page;
}
