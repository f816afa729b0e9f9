import "../../shared/domain/reactions.ts";
import * as sequenceWebhook from "../../shared/domain/automation/sequence-webhook.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { route } from "../../shared/http/route.ts";

export const sequenceWebhooks = routeGroup("sequence-webhooks", [
  route("POST /wh/sq/:secret", "Enroll or cancel a contact by webhook", {
    operationId: "triggerSequenceWebhook",
    description:
      "Takes an email address. An address that is not a contact of the site yet becomes one. " +
      "The secret in the path is the only credential.",
    auth: "public",
    rateLimit: "address",
    body: sequenceWebhook.SequenceWebhookCall,
    returns: sequenceWebhook.SequenceWebhookResult,
    errors: {
      404: "The URL does not belong to a sequence, or was replaced.",
      409: "The sequence is archived (`sequence_archived`).",
    },
    handle: ({ params, body }) => sequenceWebhook.handleWebhook(params.secret, body),
  }),
]);
export const { handler } = sequenceWebhooks;
