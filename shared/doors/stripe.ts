// The only file that speaks to Stripe, by its official package.
import type Stripe from "stripe";
import { now } from "../clock.ts";
import { config } from "../config.ts";
import { conflict, invalid, Problem, unavailable, upstream } from "../errors.ts";
import { sha256 } from "../keys.ts";
import { client, verified } from "./stripe-client.ts";
import { secret } from "./vault.ts";

export type { Stripe };

interface Secrets {
  secretKey?: string | undefined;
  webhookSecret?: string | undefined;
}
let kept: Secrets | undefined;

async function secrets(): Promise<Secrets> {
  const { stripeSecret, stripeSecretKey: secretKey, stripeWebhookSecret: webhookSecret } = config;
  if (stripeSecret === undefined) return { secretKey, webhookSecret };
  kept ??= JSON.parse(await secret(stripeSecret)) as Secrets;
  return kept;
}

const missing = (setting: string) =>
  unavailable(`Nothing can be paid for here: the setting ${setting} is missing`, { code: "not_configured" });

const clients = new Map<string, Stripe>();

async function stripe(): Promise<Stripe> {
  const { secretKey } = await secrets();
  if (!secretKey) throw missing("STRIPE_SECRET_KEY");
  const name = `${secretKey} ${config.stripeUrl}`;
  const made = clients.get(name) ?? client(secretKey, config.stripeUrl);
  clients.set(name, made);
  return made;
}

/** Asks Stripe. Throws 503 naming the setting that is missing, 502 when it is down, 402 when a card is refused, 400 when we are. */
export async function asked<T>(question: (stripe: Stripe) => Promise<T>): Promise<T> {
  const to = await stripe();
  return question(to).catch((error: unknown) => {
    throw problemOf(error);
  });
}

/** Throws 503 naming the setting that is missing. */
export async function configured(): Promise<void> {
  await stripe();
}

/** Of an idempotency key: installations that share an account of Stripe's must not meet. */
export const ours = (name: string): string => `${sha256(config.publicUrl).slice(0, 12)}-${name}`;

/** What Stripe tells, when it is Stripe. Throws 400. */
export async function told(body: Buffer, signature: string | undefined): Promise<Stripe.Event> {
  const { webhookSecret } = await secrets();
  if (!webhookSecret) throw missing("STRIPE_WEBHOOK_SECRET");
  const to = await stripe();
  try {
    return verified(to, body, signature ?? "", webhookSecret, now());
  } catch {
    throw invalid("The signature in the header Stripe-Signature is not right", { code: "signature_invalid" });
  }
}

function problemOf(error: unknown): unknown {
  const { type = "", message = "" } = error as Partial<Stripe.errors.StripeError>;
  return problems[type]?.(message.slice(0, 300), error) ?? error;
}

const down = (_: string, cause: unknown) => upstream("Stripe is down or did not answer: try again", { cause });
const refusing = () => unavailable("Stripe refuses the key in the setting STRIPE_SECRET_KEY", { code: "not_configured" });
const problems: Record<string, (message: string, cause: unknown) => Problem> = {
  StripeCardError: (message) => new Problem("unpaid", `The payment failed: ${message}`, { code: "payment_failed" }),
  StripeInvalidRequestError: (message) => invalid(`Stripe refused: ${message}`, { code: "provider_refused" }),
  StripeIdempotencyError: (message) => conflict(`Stripe refused: ${message}`),
  StripeAuthenticationError: refusing,
  StripePermissionError: refusing,
  StripeRateLimitError: down,
  StripeAPIError: down,
  StripeConnectionError: down,
};
