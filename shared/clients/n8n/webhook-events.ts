/** An event that a webhook endpoint can get. */
export interface WebhookEvent {
  name: string;
  description: string;
}

/** In the package, all webhooks of the OpenAPI document. */
export const webhookEvents: WebhookEvent[] = [];
