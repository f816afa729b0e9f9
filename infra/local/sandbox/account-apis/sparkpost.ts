// SparkPost: webhooks with basic authentication, sending domains.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { ok, parseBody, refuse } from "../request-reader.ts";
import type { SandboxAccount, SandboxCall, SandboxProvider, SandboxResponse } from "../types.ts";
import { dkimKey, hasRecords } from "./domains.ts";

const WebhookBody = z.strictObject({
  name: z.string().min(1).max(24),
  target: z.url(),
  events: z.array(z.string()).min(1),
  active: z.boolean().default(true),
  auth_type: z.literal("basic"),
  auth_credentials: z.object({ username: z.string().min(1), password: z.string().min(1) }),
});
interface Webhook {
  id: string;
  target: string;
}
interface Domain {
  domain: string;
  isVerified: boolean;
}

const refusal = (status: number, message: string): SandboxResponse => ({
  status,
  body: { errors: [{ message }] },
});
const badRequest = (path: string, message: string) => refusal(422, `${path}: ${message}`);

export const sparkpostAccountRoutes: SandboxProvider["routes"] = {
  "GET /api/v1/webhooks": ({ resources }) => ok({ results: resources.list<Webhook>("webhook") }),
  "POST /api/v1/webhooks": (call) => saveWebhook(call, randomUUID()),
  "PUT /api/v1/webhooks/:id": (call) => saveWebhook(call, findWebhook(call).id),
  "DELETE /api/v1/webhooks/:id"(call) {
    const { id, target } = findWebhook(call);
    call.resources.remove("webhook", id);
    call.unwatch(target);
    return { status: 204 };
  },
  "GET /api/v1/sending-domains/:domain"({ account, resources, params: [domain = ""] }) {
    const stored = resources.get<Domain>("domain", domain) ?? firstDomain(domain);
    if (!stored) return refusal(404, "resource not found");
    const { isVerified } = stored;
    const dkim_status = isVerified ? "valid" : "unverified";
    const status = { ownership_verified: isVerified, dkim_status, compliance_status: "valid" };
    return ok({ results: { domain, dkim: dkimOf(account), status } });
  },
  "POST /api/v1/sending-domains"({ account, resources, ...call }) {
    const Body = z.object({ domain: z.string().min(3) });
    const { domain } = parseBody(Body, call.json(), badRequest);
    if (resources.get("domain", domain)) return refusal(409, "resource conflict");
    resources.put("domain", domain, { domain, isVerified: false });
    return ok({ results: { message: "Domain added", domain, dkim: dkimOf(account) } });
  },
  "POST /api/v1/sending-domains/:domain/verify"({ resources, params: [domain = ""] }) {
    const isVerified = hasRecords(domain);
    if (!resources.get("domain", domain)) return refusal(404, "resource not found");
    resources.put("domain", domain, { domain, isVerified });
    const dkim_status = isVerified ? "valid" : "unverified";
    return ok({ results: { ownership_verified: isVerified, dkim_status } });
  },
};

const firstDomain = (domain: string): Domain | undefined =>
  domain === "pennymail.test" ? { domain, isVerified: true } : undefined;

const dkimOf = (account: SandboxAccount) => ({
  selector: "scph1126",
  public: dkimKey(account),
  headers: "from:to:subject:date",
});

/** The password is never shown. */
function saveWebhook(call: SandboxCall, id: string): SandboxResponse {
  const body = parseBody(WebhookBody, call.json(), badRequest);
  const { auth_credentials, ...shown } = body;
  call.resources.put("webhook", id, { id, ...shown });
  call.watch(body.target, { password: auth_credentials.password });
  return ok({ results: { id, links: [] } });
}

const findWebhook = ({ resources, params: [id = ""] }: SandboxCall): Webhook =>
  resources.get<Webhook>("webhook", id) ?? refuse(refusal(404, "resource not found"));
