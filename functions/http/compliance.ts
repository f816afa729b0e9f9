import * as z from "zod";
import * as settings from "../../shared/domain/compliance.ts";
import * as unsubscribes from "../../shared/domain/unsubscribes.ts";
import { Problem, invalid as refused, tooLarge } from "../../shared/errors.ts";
import { type Extra, type Request, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { parsed } from "../../shared/json.ts";
import { failure } from "../../shared/pages/failure.ts";
import { invalid, unsubscribing } from "../../shared/pages/unsubscribing.ts";
import { languageOf } from "../../shared/pages/words.ts";

const Page = z.custom<string>();
const notOurs = "The token is none of ours";
const said =
  "A page in the language that `Accept-Language` likes best of en, de, fr and es; JSON where the request says `Accept: application/json`";
const Standing = z
  .object({ email: z.string(), siteName: z.string(), state: z.enum(["subscribed", "unsubscribed", "suppressed"]) })
  .meta({ id: "UnsubscribeStanding" });
const Action = z
  .object({ action: z.enum(["unsubscribe", "resubscribe"]).default("unsubscribe") })
  .meta({ examples: [{ action: "unsubscribe" }] });
const OneClick = z.object({ "List-Unsubscribe": z.literal("One-Click").optional() });

// What is public here is limited by its token alone: mail programs of millions call from a few addresses, and must never be refused.
export const compliance = group({ name: "compliance", failurePage: failure }, [
  route("GET /compliance", "What marketing mail says of its sender by law (CAN-SPAM)", {
    returns: settings.Compliance,
    handle: ({ caller }) => settings.find(caller.orgId),
  }),
  route("PUT /compliance", "Change it; what is not given stays, and mail that was accepted before keeps what it had", {
    body: settings.ComplianceChanges,
    returns: settings.Compliance,
    handle: ({ caller, body }) => settings.change(caller, body),
  }),
  route("POST /unsubscribe", "One-click unsubscribe (RFC 8058), as mail programs do it; whatever the body says, and safe to repeat", {
    auth: "public",
    cors: true,
    raw: { "application/x-www-form-urlencoded": OneClick, "multipart/form-data": OneClick },
    query: z.object({ token: z.string().min(1).max(1000).describe("Of the link in the mail; it never expires") }),
    returns: z.object({ unsubscribed: z.literal(true) }),
    errors: { 404: notOurs },
    handle: async ({ query: { token }, request: { address } }) => {
      await unsubscribes.unsubscribe(token, address);
      return { unsubscribed: true as const };
    },
  }),
  route("GET /unsubscribe/:token", `Asks whether to unsubscribe, and changes nothing. ${said}`, {
    auth: "public",
    cors: true,
    probed: true,
    returns: Page,
    type: "text/html; charset=utf-8",
    json: Standing,
    errors: { 404: notOurs },
    handle: ({ params: { token }, request, reply }) => answered(request, reply, token, async () => {}),
  }),
  route("POST /unsubscribe/:token", `Unsubscribes, or subscribes again where the form or JSON says \`action\` \`resubscribe\`. ${said}`, {
    auth: "public",
    cors: true,
    raw: { "application/x-www-form-urlencoded": Action, "application/json": Action },
    returns: Page,
    type: "text/html; charset=utf-8",
    json: Standing,
    errors: { 400: "The action is neither `unsubscribe` nor `resubscribe`", 404: notOurs },
    handle: ({ params: { token }, request, reply }) => {
      const action = actionOf(request);
      return answered(request, reply, token, () => actions[action](token, request), action === "resubscribe");
    },
  }),
]);
export const { handler } = compliance;

const actions = {
  unsubscribe: (token: string, { address }: Request) => unsubscribes.unsubscribe(token, address),
  resubscribe: (token: string) => unsubscribes.resubscribe(token),
};

const maxBytes = 16 * 1024;

function actionOf(request: Request): keyof typeof actions {
  if (request.rawBody.length > maxBytes) throw tooLarge("The body is larger than 16 kB");
  const { success, data } = Action.safeParse(fieldsOf(request));
  if (success) return data.action;
  const message = "must be unsubscribe or resubscribe";
  throw refused(`action ${message}`, { details: [{ path: "action", message }] });
}

function fieldsOf({ rawBody, headers }: Request): unknown {
  const text = rawBody.toString("utf8");
  if (!isJson(headers["content-type"])) return Object.fromEntries(new URLSearchParams(text));
  const fields = text ? parsed(text) : {};
  if (fields === undefined) throw refused("The body is not valid JSON", { code: "invalid_json" });
  return fields;
}

const isJson = (type = ""): boolean => /\bapplication\/json\b/i.test(type);

/** Does it, and says how it then stands: to a person by a page, to a program by JSON. */
async function answered(request: Request, reply: Extra, token: string, act: () => Promise<void>, back = false): Promise<string> {
  const { headers } = request;
  const language = languageOf(headers["accept-language"]);
  try {
    await act();
    const standing = await unsubscribes.find(token);
    if (isJson(headers.accept) || isJson(headers["content-type"])) return asJson(reply, standing);
    return asPage(reply, language, unsubscribing(language, standing, { back }));
  } catch (error) {
    if (isJson(headers.accept) || isJson(headers["content-type"]) || !(error instanceof Problem && error.kind === "missing")) throw error;
    reply.status = 404;
    return asPage(reply, language, invalid(language));
  }
}

function asJson(reply: Extra, standing: unsubscribes.Standing): string {
  reply.headers["content-type"] = "application/json; charset=utf-8";
  return JSON.stringify({ data: standing });
}

function asPage(reply: Extra, language: string, page: string): string {
  Object.assign(reply.headers, { "content-language": language, vary: "Accept-Language, Accept" });
  return page;
}
