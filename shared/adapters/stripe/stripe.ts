// Stripe, with its official package.
import type Stripe from "stripe";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import { conflict, invalid, Problem, unavailable, upstream } from "../../errors.ts";
import { sha256 } from "../../keys.ts";
import { getSecret } from "../kms/encryption.ts";
import { createClient, verifyWebhook } from "./stripe-client.ts";

export type { Stripe };

interface StripeSecrets {
  secretKey?: string | undefined;
  webhookSecret?: string | undefined;
}
let cachedSecrets: StripeSecrets | undefined;

async function secrets(): Promise<StripeSecrets> {
  const { stripeSecret, stripeSecretKey: secretKey, stripeWebhookSecret: webhookSecret } = config;
  if (stripeSecret === undefined) return { secretKey, webhookSecret };
  cachedSecrets ??= JSON.parse(await getSecret(stripeSecret)) as StripeSecrets;
  return cachedSecrets;
}

const notConfigured = (setting: string) =>
  unavailable(`Billing is not configured: set ${setting}`, {
    code: "not_configured",
  });

const clients = new Map<string, Stripe>();

async function stripe(): Promise<Stripe> {
  const { secretKey } = await secrets();
  if (!secretKey) throw notConfigured("STRIPE_SECRET_KEY");
  const cacheKey = `${secretKey} ${config.stripeUrl}`;
  const client = clients.get(cacheKey) ?? createClient(secretKey, config.stripeUrl);
  clients.set(cacheKey, client);
  return client;
}

/**
 * Calls Stripe. Throws 503 if a setting is missing, 502 if Stripe is down, 402 if a card is
 * declined, 400 if Stripe rejects the request.
 */
export async function callStripe<T>(work: (stripe: Stripe) => Promise<T>): Promise<T> {
  const client = await stripe();
  const result = await work(client).catch((error: unknown) => {
    throw toProblem(error);
  });
  if (!isStripeObject(result)) throw upstream("Stripe returned an unexpected response: try again");
  return result;
}

/** Every object of the Stripe API has its type in `object`, and a list has `data`. */
function isStripeObject(result: unknown): boolean {
  const { object, data } = (result ?? {}) as { object?: unknown; data?: unknown };
  return typeof object === "string" && (object !== "list" || Array.isArray(data));
}

/** Throws 503 with the name of a missing setting. */
export async function requireConfigured(): Promise<void> {
  await stripe();
}

/**
 * Idempotency keys include the installation, because several installations may share a Stripe
 * account.
 */
export const idempotencyKey = (name: string): string =>
  `${sha256(config.publicUrl).slice(0, 12)}-${name}`;

/** Throws 400 if the signature is not valid. */
export async function parseWebhook(
  body: Buffer,
  signature: string | undefined,
): Promise<Stripe.Event> {
  const { webhookSecret } = await secrets();
  if (!webhookSecret) throw notConfigured("STRIPE_WEBHOOK_SECRET");
  const client = await stripe();
  try {
    return verifyWebhook(client, {
      body,
      signature: signature ?? "",
      secret: webhookSecret,
      time: now(),
    });
  } catch {
    throw invalid("The Stripe-Signature header does not match the request", {
      code: "signature_invalid",
    });
  }
}

function toProblem(error: unknown): unknown {
  const { type = "", message = "" } = error as Partial<Stripe.errors.StripeError>;
  return (problemByErrorType[type] ?? down)(message.slice(0, 300), error);
}

const down = (_: string, cause: unknown) =>
  upstream("Stripe is not available: try again later", { cause });
const badKey = () =>
  unavailable(
    "Stripe rejected the key in the setting STRIPE_SECRET_KEY: check the key and its permissions",
    {
      code: "not_configured",
    },
  );
const problemByErrorType: Record<string, (message: string, cause: unknown) => Problem> = {
  StripeCardError: (message) =>
    new Problem("unpaid", `The payment failed: ${message}`, { code: "payment_failed" }),
  StripeInvalidRequestError: (message) =>
    invalid(`Stripe rejected the request: ${message}`, { code: "provider_refused" }),
  StripeIdempotencyError: (message) => conflict(`Stripe rejected the request: ${message}`),
  StripeAuthenticationError: badKey,
  StripePermissionError: badKey,
  StripeRateLimitError: down,
  StripeAPIError: down,
  StripeConnectionError: down,
};
