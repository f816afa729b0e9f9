// Protects the ports of this machine from web pages in a browser on it: /_local/*, which shows all
// mail and moves the clock, and the ports that only programs call.
import { isIP } from "node:net";
import type { GatewayRequest } from "./gateway.ts";

/**
 * Reports whether a page of another site could have sent the request: its Origin differs, or its
 * Host is a public DNS name that resolves to this machine (DNS rebinding).
 */
export function isForeignRequest(
  { headers: { host = "", origin } }: Pick<GatewayRequest, "headers">,
  publicUrl: string,
): boolean {
  const requestUrl = URL.parse(`http://${host}`);
  if (!requestUrl || !isTrustedHost(requestUrl.hostname, publicUrl)) return true;
  return origin !== undefined && URL.parse(origin)?.host !== requestUrl.host;
}

/**
 * Why a port that only programs call refuses the request, or undefined. `ownHost` is the host and
 * port that it listens on, so DNS rebinding is refused. Browsers send Origin; programs do not.
 */
export function findBrowserRefusal(
  { host, origin }: { host?: unknown; origin?: unknown },
  ownHost: string,
): string | undefined {
  if (host !== ownHost) return `The header Host must be ${ownHost}`;
  return origin === undefined ? undefined : "Web pages cannot call this port";
}

/**
 * IP addresses, names without a dot, and the host of PUBLIC_URL. Other sites cannot point these at
 * this machine.
 */
function isTrustedHost(hostname: string, publicUrl: string): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  return (
    isIP(address) > 0 ||
    !hostname.includes(".") ||
    hostname.endsWith(".localhost") ||
    hostname === URL.parse(publicUrl)?.hostname
  );
}
