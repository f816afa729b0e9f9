// Brevo: transactional webhooks and domains.
import * as z from "zod";
import { ok, parseBody, refuse } from "../request-reader.ts";
import { queryOf } from "../search.ts";
import type { SandboxAccount, SandboxCall, SandboxProvider, SandboxResponse } from "../types.ts";
import { dkimKey, hasRecords } from "./domains.ts";

const eventNames = [
  "sent",
  "request",
  "delivered",
  "hardBounce",
  "softBounce",
  "blocked",
  "spam",
  "invalid",
  "deferred",
  "click",
  "opened",
  "uniqueOpened",
  "unsubscribed",
];
const changes = {
  url: z.url(),
  description: z.string().optional(),
  events: z.array(z.enum(eventNames)).min(1),
};
const NewWebhook = z.strictObject({ ...changes, type: z.literal("transactional") });
interface Webhook {
  id: number;
  url: string;
}
interface Domain {
  name: string;
  authenticated: boolean;
}

const refusal = (status: number, code: string, message: string): SandboxResponse => ({
  status,
  body: { code, message },
});
const badRequest = (path: string, message: string) =>
  refusal(400, "invalid_parameter", `${path}: ${message}`);
const notFound = (what: string) => refusal(404, "document_not_found", `${what} not found`);

export const brevoAccountRoutes: SandboxProvider["routes"] = {
  "GET /v3/webhooks"(call) {
    if (queryOf(call).get("type") !== "transactional") return badRequest("type", "is required");
    const webhooks = call.resources.list<Webhook>("webhook");
    return webhooks.length ? ok({ webhooks }) : notFound("Webhook");
  },
  "POST /v3/webhooks"(call) {
    const body = parseBody(NewWebhook, call.json(), badRequest);
    const id = call.resources.nextId();
    saveWebhook(call, { id, ...body });
    return { status: 201, body: { id } };
  },
  "PUT /v3/webhooks/:id"(call) {
    const body = parseBody(z.strictObject(changes), call.json(), badRequest);
    saveWebhook(call, { ...findWebhook(call), ...body });
    return { status: 204 };
  },
  "DELETE /v3/webhooks/:id"(call) {
    const { id, url } = findWebhook(call);
    call.resources.remove("webhook", id);
    call.unwatch(url);
    return { status: 204 };
  },
  "POST /v3/senders/domains"(call) {
    const { name } = parseBody(z.object({ name: z.string().min(3) }), call.json(), badRequest);
    if (call.resources.get("domain", name))
      return refusal(400, "duplicate_parameter", "Domain already exists");
    call.resources.put("domain", name, { name, authenticated: false });
    return ok({
      ...{ id: String(call.resources.nextId()), domain_name: name, message: "Domain added" },
      dns_records: recordsOf(call.account),
    });
  },
  "GET /v3/senders/domains/:domain"(call) {
    const { name: domain, authenticated } = findDomain(call);
    const dns_records = recordsOf(call.account);
    return ok({ domain, verified: authenticated, authenticated, dns_records });
  },
  "PUT /v3/senders/domains/:domain/authenticate"(call) {
    const { name } = findDomain(call);
    if (!hasRecords(name)) return badRequest("domain", "DNS records are missing");
    call.resources.put("domain", name, { name, authenticated: true });
    return ok({ domain_name: name, message: "Domain authenticated" });
  },
};

const recordsOf = (account: SandboxAccount) => ({
  dkim_record: {
    type: "TXT",
    value: `k=rsa;p=${dkimKey(account)}`,
    host_name: "mail._domainkey.",
    status: false,
  },
  brevo_code: {
    type: "TXT",
    value: `brevo-code:${account.deriveHex("brevo code", 32)}`,
    host_name: "@",
    status: false,
  },
  dmarc_record: {
    type: "TXT",
    value: "v=DMARC1; p=none; rua=mailto:rua@dmarc.brevo.com",
    host_name: "_dmarc",
    status: false,
  },
});

function saveWebhook(call: SandboxCall, webhook: Webhook): void {
  call.resources.put("webhook", webhook.id, webhook);
  call.watch(webhook.url);
}

const findWebhook = ({ resources, params: [id = ""] }: SandboxCall): Webhook =>
  resources.get<Webhook>("webhook", id) ?? refuse(notFound("Webhook"));
const findDomain = ({ resources, params: [name = ""] }: SandboxCall): Domain =>
  resources.get<Domain>("domain", name) ?? refuse(notFound("Domain"));
