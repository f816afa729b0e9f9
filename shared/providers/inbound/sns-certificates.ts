// Fetches the signing certificates of SNS, and confirms subscriptions. Callers check the URL first.
// The setting SNS_URL replaces its origin.

import * as client from "../../adapters/http/client.ts";
import { config } from "../../config.ts";

const cache = new Map<string, string>();

/**
 * Returns the certificate as PEM, fetched once per process and URL. Throws if it is not available.
 */
export async function fetchCertificate(url: string): Promise<string> {
  const cached = cache.get(url);
  if (cached) return cached;
  const { status, text } = await client.request({
    url: withConfiguredOrigin(url),
    timeoutSeconds: 5,
    maxBytes: 20_000,
  });
  if (status !== 200)
    throw new Error(`The signing certificate could not be fetched: status ${status}`);
  if (cache.size > 100) cache.clear();
  cache.set(url, text);
  return text;
}

/** Replaces the origin of the URL with the setting SNS_URL, if there is one. */
function withConfiguredOrigin(url: string): string {
  const { snsUrl } = config;
  if (!snsUrl) return url;
  const { pathname, search } = new URL(url);
  return new URL(pathname + search, snsUrl).href;
}

/** Confirms the subscription of a topic of SNS. The host was checked. */
export async function confirmSubscription(url: string): Promise<void> {
  const { status } = await client.request({
    url: withConfiguredOrigin(url),
    timeoutSeconds: 10,
    maxBytes: 100_000,
  });
  if (status >= 300) throw new Error(`The subscription could not be confirmed: status ${status}`);
}
