// Checks URLs that customers give us before we call them: only public addresses, never our own or
// another private network.
import { isIP } from "node:net";
import { isLoopbackIp, isPublicIp } from "./ip-addresses.ts";

const allowedPorts = new Set(["", "8443"]);
const internalHostNames = /(^|\.)(localhost|local|internal|home\.arpa)$/;
export const maxUrlLength = 2048;

/** The host without the brackets of IPv6. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");

/**
 * Why this URL must not be called, such as "must begin with https://", or undefined. Does not query
 * DNS. `allowLoopback` also allows http URLs of this machine and any port.
 */
export function findUrlFault(text: string, allowLoopback: boolean): string | undefined {
  const url = text.length <= maxUrlLength ? URL.parse(text) : null;
  if (!url) return `must be an absolute URL of at most ${maxUrlLength} characters`;
  // The parser removes line breaks and trims blanks, but the text is stored and shown unchanged.
  if (/[\s\p{Cc}]/u.test(text)) return "must not contain blanks or line breaks";
  if (url.username || url.password) return "must not contain a user name or password";
  // The parser has normalized every spelling of an IP address: decimal, octal, hexadecimal,
  // full-width.
  const host = hostOf(url);
  const isLocal = allowLoopback && (host === "localhost" || isLoopbackIp(host));
  if (url.protocol !== "https:" && !(isLocal && url.protocol === "http:"))
    return "must begin with https://";
  if (!allowedPorts.has(url.port) && !allowLoopback) return "must use port 443 or 8443";
  return isLocal ? undefined : findHostFault(host);
}

function findHostFault(host: string): string | undefined {
  if (isIP(host)) return isPublicIp(host) ? undefined : "must name a public address";
  return !host.includes(".") || host.endsWith(".") || internalHostNames.test(host)
    ? "must name a public host"
    : undefined;
}
