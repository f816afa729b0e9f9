import { BlockList, isIP, isIPv4 } from "node:net";

function toBlockList(ranges: string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    const wholeBits = isIPv4(address) ? 32 : 128;
    list.addSubnet(address, Number(bits ?? wholeBits), isIPv4(address) ? "ipv4" : "ipv6");
  }
  return list;
}

const nonPublicRanges = toBlockList([
  "0.0.0.0/8", // this network
  "10.0.0.0/8",
  "100.64.0.0/10", // carrier-grade NAT; metadata services of some clouds
  "127.0.0.0/8",
  "168.63.129.16/32", // platform services of Azure
  "169.254.0.0/16", // link-local; metadata services of most clouds
  "172.16.0.0/12",
  "192.0.0.0/24", // protocol assignments; metadata service of Oracle
  "192.0.2.0/24", // documentation
  "192.52.193.0/24", // multicast tunnels
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16",
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
  "2001::/23", // protocol assignments; Teredo embeds an IPv4 address
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4; embeds an IPv4 address
  "3fff::/20", // documentation
]);

// All publicly routed IPv6. It excludes loopback, link-local, unique local, multicast, IPv4-mapped,
// IPv4-compatible and NAT64.
const publicIpv6Ranges = toBlockList(["2000::/3"]);

const loopback = toBlockList(["127.0.0.0/8", "::1/128"]);

/** Expects an IPv4 or IPv6 address without brackets. Anything else is not public. */
export function isPublicIp(address: string): boolean {
  if (isIP(address) === 0 || address.includes("%")) return false;
  return isIPv4(address)
    ? !nonPublicRanges.check(address, "ipv4")
    : publicIpv6Ranges.check(address, "ipv6") && !nonPublicRanges.check(address, "ipv6");
}

export const isLoopbackIp = (address: string): boolean =>
  isIP(address) !== 0 && loopback.check(address, isIPv4(address) ? "ipv4" : "ipv6");

/** True for public addresses and, with `allowLoopback`, for this machine. */
export const isConnectableIp = (address: string, allowLoopback: boolean): boolean =>
  isPublicIp(address) || (allowLoopback && isLoopbackIp(address));

/** Whether the text is an IP address, or a range such as `10.0.0.0/8`. */
export function isIpRange(text: string): boolean {
  const [, address = "", bits = "0"] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  return isIP(address) !== 0 && Number(bits) <= (isIPv4(address) ? 32 : 128);
}

/** Whether the address is in one of the ranges, for each of which `isIpRange` is true. */
export const isInIpRanges = (address: string, ranges: string[]): boolean =>
  isIP(address) !== 0 && toBlockList(ranges).check(address, isIPv4(address) ? "ipv4" : "ipv6");

/**
 * The network by which calls of a client are counted: an IPv4 address itself, or the /64 of an IPv6
 * address. A customer of a network operator gets a whole /64 and can change the address within it
 * with every call.
 */
export function networkOf(ip: string): string {
  const [plain = ""] = ip.split("%");
  const [, embedded] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain) ?? [];
  if (embedded || !plain.includes(":")) return embedded ?? plain;
  const [left = [], right = []] = plain.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = new Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0");
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
