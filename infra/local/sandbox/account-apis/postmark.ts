// Postmark: webhooks of the message stream, and domains of the account. The real service calls a
// new webhook once for each trigger and saves it only if it answers with 200; this one does not.
import * as z from "zod";
import { ok, parseBody, refuse } from "../request-reader.ts";
import { queryOf } from "../search.ts";
import type { SandboxAccount, SandboxCall, SandboxProvider, SandboxResponse } from "../types.ts";
import { dkimKey, hasRecords } from "./domains.ts";

const Trigger = z.object({ Enabled: z.boolean() });
const Triggers = z.strictObject({
  Open: Trigger.optional(),
  Click: Trigger.optional(),
  Delivery: Trigger.optional(),
  Bounce: Trigger.optional(),
  SpamComplaint: Trigger.optional(),
  SubscriptionChange: Trigger.optional(),
});
const WebhookBody = z.strictObject({
  Url: z.url(),
  MessageStream: z.literal("outbound"),
  Triggers,
});
interface Webhook {
  ID: number;
  Url: string;
}
const NewDomain = z.strictObject({ Name: z.string().min(3), ReturnPathDomain: z.string() });
interface Domain extends z.output<typeof NewDomain> {
  ID: number;
  DKIMVerified: boolean;
  ReturnPathDomainVerified: boolean;
}

const refusal = (status: number, code: number, message: string): SandboxResponse => ({
  status,
  body: { ErrorCode: code, Message: message },
});
const badRequest = (path: string, message: string) => refusal(422, 300, `${path}: ${message}`);

export const postmarkAccountRoutes: SandboxProvider["routes"] = {
  "GET /webhooks": (call) =>
    queryOf(call).get("MessageStream") === "outbound"
      ? ok({ Webhooks: call.resources.list<Webhook>("webhook") })
      : refusal(422, 1226, "The message stream does not exist."),
  "POST /webhooks"(call) {
    const body = parseBody(WebhookBody, call.json(), badRequest);
    return saveWebhook(call, { ID: call.resources.nextId(), ...body });
  },
  "PUT /webhooks/:id"(call) {
    const body = parseBody(WebhookBody.omit({ MessageStream: true }), call.json(), badRequest);
    return saveWebhook(call, { ...findWebhook(call), ...body });
  },
  "DELETE /webhooks/:id"(call) {
    const { ID, Url } = findWebhook(call);
    call.resources.remove("webhook", ID);
    call.unwatch(Url);
    return ok({ ErrorCode: 0, Message: `Webhook ${ID} removed.` });
  },
  "GET /domains"(call) {
    requireAccountToken(call);
    const domains = call.resources.list<Domain>("domain");
    const query = queryOf(call);
    const [offset, count] = [Number(query.get("offset")), Number(query.get("count"))];
    if (count < 1 || count > 500) return badRequest("count", "must be 1 to 500");
    return ok({
      TotalCount: domains.length,
      Domains: domains.slice(offset, offset + count).map(({ ID, Name }) => ({ ID, Name })),
    });
  },
  "POST /domains"(call) {
    requireAccountToken(call);
    const body = parseBody(NewDomain, call.json(), badRequest);
    if (call.resources.list<Domain>("domain").some(({ Name }) => Name === body.Name))
      return refusal(422, 511, "This domain already exists.");
    const ID = call.resources.nextId();
    const isNotYet = { DKIMVerified: false, ReturnPathDomainVerified: false };
    return saveDomain(call, { ID, ...body, ...isNotYet });
  },
  "GET /domains/:id": (call) => ok(toDomain(call.account, findDomain(call))),
  "PUT /domains/:id/verifyDkim"(call) {
    const domain = findDomain(call);
    return saveDomain(call, { ...domain, DKIMVerified: hasRecords(domain.Name) });
  },
  "PUT /domains/:id/verifyReturnPath"(call) {
    const domain = findDomain(call);
    return saveDomain(call, { ...domain, ReturnPathDomainVerified: hasRecords(domain.Name) });
  },
};

/** The token of the account, which its domains need. */
export const accountToken = (account: SandboxAccount): string =>
  account.deriveHex("postmark account", 32);

function requireAccountToken({ account, request }: SandboxCall): void {
  if (request.headers["x-postmark-account-token"] !== accountToken(account))
    refuse(refusal(401, 10, "Request does not contain a valid Account token."));
}

function saveDomain(call: SandboxCall, domain: Domain): SandboxResponse {
  call.resources.put("domain", domain.ID, domain);
  return ok(toDomain(call.account, domain));
}

function findDomain(call: SandboxCall): Domain {
  requireAccountToken(call);
  const [id = ""] = call.params;
  return (
    call.resources.get<Domain>("domain", id) ??
    refuse(refusal(422, 510, "This domain does not exist."))
  );
}

function toDomain(account: SandboxAccount, domain: Domain): object {
  const host = `20261201090000pm._domainkey.${domain.Name}`;
  const text = `k=rsa;p=${dkimKey(account)}`;
  const isPending = !domain.DKIMVerified;
  return {
    ...domain,
    ...{ DKIMHost: isPending ? "" : host, DKIMTextValue: isPending ? "" : text },
    ...{ DKIMPendingHost: isPending ? host : "", DKIMPendingTextValue: isPending ? text : "" },
    ReturnPathDomainCNAMEValue: "pm.mtasv.net",
  };
}

function saveWebhook(call: SandboxCall, webhook: Webhook): SandboxResponse {
  call.resources.put("webhook", webhook.ID, webhook);
  call.watch(webhook.Url);
  return ok(webhook);
}

const findWebhook = ({ resources, params: [id = ""] }: SandboxCall): Webhook =>
  resources.get<Webhook>("webhook", id) ??
  refuse(refusal(404, 1350, "The webhook does not exist."));
