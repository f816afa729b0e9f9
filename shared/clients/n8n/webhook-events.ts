/** An event that a webhook endpoint can get. */
export interface EventChoice {
  name: string;
  description: string;
}

/** In the package, all webhooks of the OpenAPI document. */
export const webhookEvents: EventChoice[] = [];
