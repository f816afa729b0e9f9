// SendGrid: event webhooks, their signature, domain authentication, credits.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { ok, parseBody, refuse } from "../request-reader.ts";
import { queryOf } from "../search.ts";
import type { SandboxAccount, SandboxCall, SandboxProvider, SandboxResponse } from "../types.ts";
import { hasRecords } from "./domains.ts";

const flags = [
  "delivered",
  "open",
  "click",
  "bounce",
  "dropped",
  "deferred",
  "processed",
  "spam_report",
  "unsubscribe",
  "group_unsubscribe",
  "group_resubscribe",
];
const flagFields = Object.fromEntries(flags.map((name) => [name, z.boolean().optional()]));
const WebhookBody = z.strictObject({
  url: z.url(),
  enabled: z.boolean(),
  friendly_name: z.string().optional(),
  ...flagFields,
});
interface Webhook {
  id: string;
  url: string;
  public_key: string;
}
const maxWebhooks = 5;

const refusal = (status: number, message: string): SandboxResponse => ({
  status,
  body: { errors: [{ message, field: null }] },
});
const badRequest = (path: string, message: string) => refusal(400, `${path}: ${message}`);

/** `publicKey` is the key that verifies the events of the account. */
export const sendgridAccountRoutes = (
  publicKey: (account: SandboxAccount) => string,
): SandboxProvider["routes"] => ({
  "GET /v3/user/credits": ok({ remain: 99, total: 100, overage: 0, used: 1 }),
  "GET /v3/user/webhooks/event/settings/all": ({ resources }) =>
    ok({ max_allowed: maxWebhooks, webhooks: resources.list<Webhook>("webhook") }),
  "POST /v3/user/webhooks/event/settings"(call) {
    if (call.resources.list("webhook").length >= maxWebhooks)
      return refusal(400, `maximum of ${maxWebhooks} webhooks reached`);
    return saveWebhook(call, randomUUID(), "", 201);
  },
  "PATCH /v3/user/webhooks/event/settings/:id"(call) {
    const stored = findWebhook(call);
    return saveWebhook(call, stored.id, stored.public_key, 200);
  },
  "DELETE /v3/user/webhooks/event/settings/:id"(call) {
    const { id, url } = findWebhook(call);
    call.resources.remove("webhook", id);
    call.unwatch(url);
    return { status: 204 };
  },
  "PATCH /v3/user/webhooks/event/settings/signed/:id"(call) {
    const { enabled } = parseBody(
      z.strictObject({ enabled: z.boolean() }),
      call.json(),
      badRequest,
    );
    const webhook = findWebhook(call);
    const public_key = enabled ? publicKey(call.account) : "";
    call.resources.put("webhook", webhook.id, { ...webhook, public_key });
    return ok({ id: webhook.id, public_key });
  },
  "GET /v3/whitelabel/domains": (call) => {
    const name = queryOf(call).get("domain") ?? "";
    return ok(call.resources.list<Domain>("domain").filter(({ domain }) => domain.includes(name)));
  },
  "POST /v3/whitelabel/domains"(call) {
    const body = parseBody(DomainBody, call.json(), badRequest);
    const domain = newDomain(call, body.domain);
    call.resources.put("domain", domain.id, domain);
    return { status: 201, body: domain };
  },
  "POST /v3/whitelabel/domains/:id/validate"({ resources, params: [id = ""] }) {
    const domain = resources.get<Domain>("domain", id);
    if (!domain) return refusal(404, "Domain not found");
    const valid = hasRecords(domain.domain);
    resources.put("domain", id, { ...domain, valid });
    return ok({ id: domain.id, valid, validation_results: {} });
  },
});

function saveWebhook(
  call: SandboxCall,
  id: string,
  ...[public_key, status]: [public_key: string, status: number]
): SandboxResponse {
  const body = parseBody(WebhookBody, call.json(), badRequest);
  const webhook = { ...body, id, public_key };
  call.resources.put("webhook", id, webhook);
  call.watch(body.url);
  return { status, body: webhook };
}

const findWebhook = ({ resources, params: [id = ""] }: SandboxCall): Webhook =>
  resources.get<Webhook>("webhook", id) ?? refuse(refusal(404, "webhook not found"));

const DomainBody = z.object({ domain: z.string().min(3), automatic_security: z.literal(true) });
interface Domain {
  id: number;
  domain: string;
}

function newDomain({ account, resources }: SandboxCall, domain: string) {
  const id = resources.nextId();
  const user = `u${Number.parseInt(account.deriveHex("sendgrid user", 6), 16)}.wl001.sendgrid.net`;
  const cname = (host: string, data: string) => ({ valid: false, type: "cname", host, data });
  return {
    ...{ id, domain, subdomain: `em${id}`, valid: false, automatic_security: true },
    dns: {
      mail_cname: cname(`em${id}.${domain}`, user),
      dkim1: cname(`s1._domainkey.${domain}`, `s1.domainkey.${user}`),
      dkim2: cname(`s2._domainkey.${domain}`, `s2.domainkey.${user}`),
    },
  };
}
