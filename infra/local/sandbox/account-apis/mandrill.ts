// Mandrill: webhooks with their key, sender domains.
import * as z from "zod";
import { ok, parseBody, refuse } from "../request-reader.ts";
import type { SandboxAccount, SandboxCall, SandboxProvider, SandboxResponse } from "../types.ts";
import { hasRecords } from "./domains.ts";

const eventNames = [
  "send",
  "delivered",
  "deferral",
  "hard_bounce",
  "soft_bounce",
  "open",
  "click",
  "spam",
  "unsub",
  "reject",
];
const fields = {
  key: z.string(),
  url: z.url(),
  description: z.string().optional(),
  events: z.array(z.enum(eventNames)).min(1),
};
const ById = z.object({ id: z.int() });
const ByDomain = z.object({ domain: z.string().min(3) });
interface Webhook {
  id: number;
  url: string;
}
interface Domain {
  domain: string;
  verified_at: string | null;
  valid_signing: boolean;
}

const refusal = (name: string, message: string): SandboxResponse => ({
  status: 500,
  body: { status: "error", code: -1, name, message },
});
const badRequest = (path: string, message: string) =>
  refusal("ValidationError", `${path}: ${message}`);

/** `authKey` signs all events of the account; the real service has one for each webhook. */
export const mandrillAccountRoutes = (
  authKey: (account: SandboxAccount) => string,
): SandboxProvider["routes"] => ({
  "POST /api/:version/webhooks/list": ({ account, resources }) =>
    ok(resources.list<Webhook>("webhook").map((one) => ({ ...one, auth_key: authKey(account) }))),
  "POST /api/:version/webhooks/add"(call) {
    const { key: _, ...body } = parseBody(z.strictObject(fields), call.json(), badRequest);
    return saveWebhook(call, { id: call.resources.nextId(), ...body }, authKey);
  },
  "POST /api/:version/webhooks/update"(call) {
    const Body = z.strictObject({ ...fields, id: z.int() });
    const { key: _, ...body } = parseBody(Body, call.json(), badRequest);
    findWebhook(call, body.id);
    return saveWebhook(call, body, authKey);
  },
  "POST /api/:version/webhooks/delete"(call) {
    const { id } = parseBody(ById, call.json(), badRequest);
    const webhook = findWebhook(call, id);
    call.resources.remove("webhook", id);
    call.unwatch(webhook.url);
    return ok(webhook);
  },
  "POST /api/:version/senders/domains": ({ resources }) => ok(resources.list<Domain>("domain")),
  "POST /api/:version/senders/add-domain"(call) {
    const { domain } = parseBody(ByDomain, call.json(), badRequest);
    const verify_txt_key = call.account.deriveHex(`mandrill ${domain}`, 22);
    const stored = { domain, verified_at: null, valid_signing: false, verify_txt_key };
    call.resources.put("domain", domain, stored);
    return ok(stored);
  },
  "POST /api/:version/senders/check-domain"(call) {
    const { domain } = parseBody(ByDomain, call.json(), badRequest);
    const stored = call.resources.get<Domain>("domain", domain);
    if (!stored) return refusal("ValidationError", "Unknown domain");
    const verified_at = hasRecords(domain) ? "2026-12-01 09:00:00" : null;
    const checked = { ...stored, verified_at, valid_signing: hasRecords(domain) };
    call.resources.put("domain", domain, checked);
    return ok(checked);
  },
});

function saveWebhook(
  call: SandboxCall,
  webhook: Webhook,
  authKey: (account: SandboxAccount) => string,
): SandboxResponse {
  call.resources.put("webhook", webhook.id, webhook);
  call.watch(webhook.url);
  return ok({ ...webhook, auth_key: authKey(call.account) });
}

const findWebhook = ({ resources }: SandboxCall, id: number): Webhook =>
  resources.get<Webhook>("webhook", id) ??
  refuse(refusal("Unknown_Webhook", `Unknown webhook ${id}`));
