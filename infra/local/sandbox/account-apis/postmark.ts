// Postmark: webhooks of the message stream. The real service calls a new webhook once for each
// trigger and saves it only if it answers with 200; this one does not.
import * as z from "zod";
import { ok, parseBody, refuse } from "../request-reader.ts";
import { queryOf } from "../search.ts";
import type { SandboxCall, SandboxProvider, SandboxResponse } from "../types.ts";

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
};

function saveWebhook(call: SandboxCall, webhook: Webhook): SandboxResponse {
  call.resources.put("webhook", webhook.ID, webhook);
  call.watch(webhook.Url);
  return ok(webhook);
}

const findWebhook = ({ resources, params: [id = ""] }: SandboxCall): Webhook =>
  resources.get<Webhook>("webhook", id) ??
  refuse(refusal(404, 1350, "The webhook does not exist."));
