// Signing certificates of SNS. Their URLs were checked before they come here; SNS_URL may then send the call elsewhere.
import { config } from "../../config.ts";
import * as web from "../../doors/web.ts";

const known = new Map<string, string>();

/** PEM text; fetched once per process and URL. Throws when it cannot be had. */
export async function fetched(url: string): Promise<string> {
  const kept = known.get(url);
  if (kept) return kept;
  const { status, text } = await web.call({ url: redirected(url), timeoutSeconds: 5, maxBytes: 20_000 });
  if (status !== 200) throw new Error(`The signing certificate could not be fetched: status ${status}`);
  if (known.size > 100) known.clear();
  known.set(url, text);
  return text;
}

/** The same path at the origin that the setting SNS_URL names, if it does. */
export function redirected(url: string): string {
  const { snsUrl } = config;
  if (!snsUrl) return url;
  const { pathname, search } = new URL(url);
  return new URL(pathname + search, snsUrl).href;
}
