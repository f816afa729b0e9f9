// Resend: webhooks and domains.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { ok, parseBody, refuse } from "../request-reader.ts";
import type { SandboxAccount, SandboxCall, SandboxProvider, SandboxResponse } from "../types.ts";
import { dkimKey, hasRecords } from "./domains.ts";

const WebhookBody = z.strictObject({
  endpoint: z.url(),
  events: z.array(z.string().regex(/^(email|contact|domain)\.\w+$/)).min(1),
  status: z.enum(["enabled", "disabled"]).default("enabled"),
});
interface Webhook extends z.output<typeof WebhookBody> {
  id: string;
}
interface Domain {
  id: string;
  name: string;
  status: string;
}

const refusal = (status: number, name: string, message: string): SandboxResponse => ({
  status,
  body: { statusCode: status, name, message },
});
const badRequest = (path: string, message: string) =>
  refusal(422, "validation_error", `${path}: ${message}`);
const notFound = (what: string) => refusal(404, "not_found", `${what} not found`);

/** `signingSecret` signs all events of the account; the real service has one for each webhook. */
export const resendAccountRoutes = (
  signingSecret: (account: SandboxAccount) => string,
): SandboxProvider["routes"] => ({
  "GET /webhooks": ({ resources }) =>
    ok({ object: "list", has_more: false, data: resources.list<Webhook>("webhook") }),
  "POST /webhooks"(call) {
    const body = parseBody(WebhookBody, call.json(), badRequest);
    const id = randomUUID();
    saveWebhook(call, { id, ...body });
    const signing_secret = signingSecret(call.account);
    return { status: 201, body: { object: "webhook", id, signing_secret } };
  },
  "GET /webhooks/:id": (call) =>
    ok({
      object: "webhook",
      ...findWebhook(call),
      signing_secret: signingSecret(call.account),
    }),
  "PATCH /webhooks/:id"(call) {
    const body = parseBody(WebhookBody, call.json(), badRequest);
    const { id } = findWebhook(call);
    saveWebhook(call, { id, ...body });
    return ok({ object: "webhook", id });
  },
  "DELETE /webhooks/:id"(call) {
    const { id, endpoint } = findWebhook(call);
    call.resources.remove("webhook", id);
    call.unwatch(endpoint);
    return ok({ object: "webhook", id, deleted: true });
  },
  "GET /domains": ({ resources }) =>
    ok({
      object: "list",
      has_more: false,
      data: [testDomain, ...resources.list<Domain>("domain")],
    }),
  "POST /domains"(call) {
    const { name } = parseBody(z.object({ name: z.string().min(3) }), call.json(), badRequest);
    const exists = call.resources.list<Domain>("domain").some((domain) => domain.name === name);
    if (exists) return refusal(403, "validation_error", "The domain has been registered already.");
    const domain = { id: randomUUID(), name, status: "not_started" };
    call.resources.put("domain", domain.id, domain);
    return { status: 201, body: { ...domain, records: recordsOf(call.account, name) } };
  },
  "GET /domains/:id"(call) {
    const domain = findDomain(call);
    return ok({ object: "domain", ...domain, records: recordsOf(call.account, domain.name) });
  },
  "POST /domains/:id/verify"(call) {
    const domain = findDomain(call);
    const status = hasRecords(domain.name) ? "verified" : "pending";
    if (domain.id !== testDomain.id) call.resources.put("domain", domain.id, { ...domain, status });
    return ok({ object: "domain", id: domain.id });
  },
});

const testDomain = {
  id: "d91cd9bd-1176-453e-8fc1-35364d380206",
  name: "pennymail.test",
  status: "verified",
  region: "us-east-1",
  open_tracking: true,
  click_tracking: true,
};

/** The names are relative to the zone. */
function recordsOf(account: SandboxAccount, domain: string) {
  const sub = domain.split(".").slice(0, -2);
  const nameOf = (label: string) => [label, ...sub].join(".");
  const status = "not_started";
  return [
    {
      ...{ record: "SPF", name: nameOf("send"), type: "MX", ttl: "Auto", status, priority: 10 },
      value: "feedback-smtp.us-east-1.amazonses.com",
    },
    {
      ...{ record: "SPF", name: nameOf("send"), type: "TXT", ttl: "Auto", status },
      value: "v=spf1 include:amazonses.com ~all",
    },
    {
      ...{ record: "DKIM", name: nameOf("resend._domainkey"), type: "TXT", ttl: "Auto", status },
      value: `p=${dkimKey(account)}`,
    },
  ];
}

function saveWebhook(call: SandboxCall, webhook: Webhook): void {
  call.resources.put("webhook", webhook.id, webhook);
  call.watch(webhook.endpoint);
}

const findWebhook = ({ resources, params: [id = ""] }: SandboxCall): Webhook =>
  resources.get<Webhook>("webhook", id) ?? refuse(notFound("Webhook"));

function findDomain({ resources, params: [id = ""] }: SandboxCall): Domain {
  if (id === testDomain.id) return testDomain;
  return resources.get<Domain>("domain", id) ?? refuse(notFound("Domain"));
}
