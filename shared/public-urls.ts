// Which URLs that customers give us may be called: none that lead into our own network, or into anybody's private one.
import { BlockList, isIP, isIPv4 } from "node:net";

function listOf(ranges: string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    list.addSubnet(address, Number(bits), isIPv4(address) ? "ipv4" : "ipv6");
  }
  return list;
}

const blocked = listOf([
  "0.0.0.0/8", // this network
  "10.0.0.0/8",
  "100.64.0.0/10", // carrier-grade NAT, where some clouds keep their metadata
  "127.0.0.0/8",
  "168.63.129.16/32", // what Azure answers its own machines with
  "169.254.0.0/16", // link-local: metadata of most clouds
  "172.16.0.0/12",
  "192.0.0.0/24", // protocol assignments, metadata of Oracle
  "192.0.2.0/24", // documentation
  "192.52.193.0/24", // multicast tunnels
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16",
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
  "2001::/23", // protocol assignments, among them Teredo, which carries an IPv4 address
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4, which carries an IPv4 address
  "3fff::/20", // documentation
]);

// All of IPv6 that is routed in public. Outside lie loopback, link-local, unique local, multicast, IPv4-mapped and -compatible, NAT64.
const global = listOf(["2000::/3"]);

const loopback = listOf(["127.0.0.0/8", "::1/128"]);

/** `address` is IPv4 or IPv6 as the system writes it, without brackets; anything else is not public. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0 || address.includes("%")) return false;
  return isIPv4(address) ? !blocked.check(address, "ipv4") : global.check(address, "ipv6") && !blocked.check(address, "ipv6");
}

export const isLoopback = (address: string): boolean => isIP(address) !== 0 && loopback.check(address, isIPv4(address) ? "ipv4" : "ipv6");

const ports = new Set(["", "8443"]);
const innerNames = /(^|\.)(localhost|local|internal|home\.arpa)$/;
export const maxUrlLength = 2048;

/** Host of a URL, without the brackets of IPv6. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");

/** Whether an address may be connected to; with `allowLoopback` this machine too. */
export const allowed = (address: string, allowLoopback: boolean): boolean => isPublic(address) || (allowLoopback && isLoopback(address));

/**
 * What speaks against calling this URL, as far as it can be told without asking DNS: what "url" must be, undefined when nothing
 * does. With `allowLoopback`, http to this machine and any port are fine too.
 */
export function objection(text: string, allowLoopback: boolean): string | undefined {
  const url = text.length <= maxUrlLength ? URL.parse(text) : null;
  if (!url) return `must be an absolute URL of at most ${maxUrlLength} characters`;
  if (url.username || url.password) return "must not carry a user or password";
  // The parser has made one of every spelling by now: decimal, octal, hexadecimal, full-width.
  const host = hostOf(url);
  const here = allowLoopback && (host === "localhost" || isLoopback(host));
  if (url.protocol !== "https:" && !(here && url.protocol === "http:")) return "must begin with https://";
  if (!ports.has(url.port) && !allowLoopback) return "must use port 443 or 8443";
  return here ? undefined : hostObjection(host);
}

function hostObjection(host: string): string | undefined {
  if (isIP(host)) return isPublic(host) ? undefined : "must name a public address";
  return !host.includes(".") || host.endsWith(".") || innerNames.test(host) ? "must name a public host" : undefined;
}
