// The client of the API of Pennymail.
import type { Api, EmailsMethods, WebhookEvent } from "./api.ts";
import { Client, type ClientOptions } from "./client.ts";
import { operations } from "./operation-table.ts";
import { verifyWebhook, type WebhookHeaders, type WebhookSecret } from "./webhooks.ts";

export type * from "./api.ts";
export type { CallOptions, ClientOptions } from "./client.ts";
export * from "./errors.ts";
export { PagedList } from "./paged-list.ts";
export type { Hooks, IncomingResponse, OutgoingRequest, RequestBody } from "./send-request.ts";
export type { WebhookHeaders, WebhookSecret };

/** The methods of `emails` are also methods of the client: `pennymail.send(...)`. */
export type Pennymail = Api & EmailsMethods;

interface PennymailClass {
  new (options?: ClientOptions): Pennymail;
  readonly webhooks: {
    /**
     * Returns the event of a webhook request. `payload` is the body as it arrived: parsing and
     * printing it again changes its bytes. Throws WebhookSignatureError if the request is not
     * signed with the secret, or too old.
     */
    verify(
      payload: string | Uint8Array | ArrayBuffer,
      headers: WebhookHeaders,
      secret: WebhookSecret,
    ): Promise<WebhookEvent>;
  };
}

class PennymailClient extends Client {
  static readonly webhooks = { verify: verifyWebhook };

  constructor(options: ClientOptions = {}) {
    super(operations, options);
    Object.assign(this, (this as unknown as Api).emails);
  }
}

/** The methods come from the table of operations, which the compiler does not see. */
export const Pennymail = PennymailClient as unknown as PennymailClass;
