// SMTP2GO: webhooks, sender domains, quota.
import * as z from "zod";
import { parseBody, refuse } from "../request-reader.ts";
import type { SandboxCall, SandboxProvider, SandboxResponse } from "../types.ts";
import { hasRecords } from "./domains.ts";

const eventNames = [
  "processed",
  "delivered",
  "open",
  "click",
  "bounce",
  "spam",
  "unsubscribe",
  "reject",
];
const fields = {
  url: z.url(),
  events: z.array(z.enum(eventNames)).min(1),
  headers: z.array(z.string()),
  output_format: z.enum(["form", "json"]),
};
const ById = z.object({ id: z.int() });
const ByDomain = z.object({ domain: z.string().min(3) });
interface Webhook {
  id: number;
  url: string;
}
interface Domain {
  name: string;
  id: number;
  isVerified: boolean;
}

const refusal = (status: number, error_code: string, error: string): SandboxResponse => ({
  status,
  body: { request_id: "sandbox", data: { error, error_code } },
});
const badRequest = (path: string, message: string) =>
  refusal(400, "E_ApiResponseCodes.NON_VALIDATING_IN_PAYLOAD", `${path}: ${message}`);

/** `respond` puts the data into the envelope of the service. */
export const smtp2goAccountRoutes = (
  respond: (data: unknown) => SandboxResponse,
): SandboxProvider["routes"] => ({
  "POST /v3/stats/email_cycle": () =>
    respond({ cycle_used: 1, cycle_remaining: 999, cycle_max: 1000 }),
  "POST /v3/webhook/view": ({ resources }) => respond(resources.list<Webhook>("webhook")),
  "POST /v3/webhook/add"(call) {
    const body = parseBody(z.strictObject(fields), call.json(), badRequest);
    return respond(saveWebhook(call, { id: call.resources.nextId(), ...body }));
  },
  "POST /v3/webhook/edit"(call) {
    const Body = z.strictObject({ ...fields, id: z.int() });
    const body = parseBody(Body, call.json(), badRequest);
    findWebhook(call, body.id);
    return respond(saveWebhook(call, body));
  },
  "POST /v3/webhook/remove"(call) {
    const { id } = parseBody(ById, call.json(), badRequest);
    const { url } = findWebhook(call, id);
    call.resources.remove("webhook", id);
    call.unwatch(url);
    return respond({});
  },
  "POST /v3/domain/view": ({ resources }) =>
    respond({ domains: resources.list<Domain>("domain").map(describe) }),
  "POST /v3/domain/add"(call) {
    const { domain: name } = parseBody(ByDomain, call.json(), badRequest);
    if (call.resources.get("domain", name)) return badRequest("domain", "exists already");
    call.resources.put("domain", name, {
      ...{ name, id: 600_000 + call.resources.nextId(), isVerified: false },
    });
    return respond({ domains: call.resources.list<Domain>("domain").map(describe) });
  },
  "POST /v3/domain/verify"(call) {
    const { domain: name } = parseBody(ByDomain, call.json(), badRequest);
    const stored = call.resources.get<Domain>("domain", name);
    if (!stored) return badRequest("domain", "is not known");
    call.resources.put("domain", name, { ...stored, isVerified: hasRecords(name) });
    return respond({ domains: call.resources.list<Domain>("domain").map(describe) });
  },
});

const describe = ({ name, id, isVerified }: Domain) => ({
  domain: {
    fulldomain: name,
    dkim_selector: `s${id}`,
    dkim_verified: isVerified,
    dkim_value: "dkim.smtp2go.net",
    rpath_selector: `em${id}`,
    rpath_verified: isVerified,
    rpath_value: "return.smtp2go.net",
  },
  trackers: [
    { fulldomain: `link.${name}`, cname_verified: isVerified, cname_value: "track.smtp2go.net" },
  ],
});

function saveWebhook(call: SandboxCall, webhook: Webhook): Webhook {
  call.resources.put("webhook", webhook.id, webhook);
  call.watch(webhook.url);
  return webhook;
}

const findWebhook = ({ resources }: SandboxCall, id: number): Webhook =>
  resources.get<Webhook>("webhook", id) ?? refuse(badRequest("id", "is not known"));
