/**
 * Who a client address stands for when calls are counted: an IPv4 address itself, of IPv6 the /64, which is what one customer gets and
 * within which they may change address with every call.
 */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%");
  const [, embedded] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain) ?? [];
  if (embedded || !plain.includes(":")) return embedded ?? plain;
  const [left = [], right = []] = plain.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = new Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0");
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
