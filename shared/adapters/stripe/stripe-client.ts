// The Stripe package. A deployed function loads this module with its first call, so it must not
// import modules with state.
import Stripe from "stripe";

/** `origin` replaces the origin of the Stripe API. */
export function createClient(secretKey: string, origin: string | undefined): Stripe {
  const url = origin === undefined ? undefined : new URL(origin);
  const protocol = url?.protocol === "http:" ? ("http" as const) : ("https" as const);
  const redirected = url && {
    host: url.hostname,
    port: url.port || (protocol === "http" ? 80 : 443),
    protocol,
  };
  return new Stripe(secretKey, {
    ...redirected,
    maxNetworkRetries: 1,
    timeout: 10_000,
    telemetry: false,
  });
}

interface SignedWebhook {
  body: Buffer;
  signature: string;
  secret: string;
  /** The current time. */
  time: Date;
}

/** Throws if the signature does not match the secret or is older than five minutes. */
export function verifyWebhook(
  stripe: Stripe,
  { body, signature, secret, time }: SignedWebhook,
): Stripe.Event {
  return stripe.webhooks.constructEvent(body, signature, secret, 300, undefined, time.getTime());
}
