// Stripe's package, loaded when it is first needed. Knows nothing of ours: it stands in a file of its own beside the bundles.
import Stripe from "stripe";

/** `origin` replaces that of Stripe's API. */
export function client(secretKey: string, origin: string | undefined): Stripe {
  const url = origin === undefined ? undefined : new URL(origin);
  const protocol = url?.protocol === "http:" ? ("http" as const) : ("https" as const);
  const redirected = url && { host: url.hostname, port: url.port || (protocol === "http" ? 80 : 443), protocol };
  return new Stripe(secretKey, { ...redirected, maxNetworkRetries: 1, timeout: 10_000, telemetry: false });
}

/** Throws when the signature is not of this secret, or older than five minutes. */
export function verified(stripe: Stripe, body: Buffer, signature: string, secret: string, at: Date): Stripe.Event {
  return stripe.webhooks.constructEvent(body, signature, secret, 300, undefined, at.getTime());
}
