// Connects to a mail server that a customer names: only to public IP addresses, and to those that
// the operator allows.
import { connect, isIP, isIPv4, type LookupFunction, type Socket } from "node:net";
import { config } from "../../config.ts";
import { isInIpRanges, isPublicIp } from "../../kernel/ip-addresses.ts";
import * as hostAddresses from "../dns/host-addresses.ts";
import { timeoutError } from "../http/client.ts";

/** The host has an address to which the service does not connect. */
export class NotPublicHost extends Error {}

/**
 * Resolves the host once, requires that every address is allowed, and connects to one of these
 * addresses. `isOwn`: the operator set the address.
 */
export async function openSocket(
  { host, port }: { host: string; port: number },
  { timeoutMs, isOwn }: { timeoutMs: number; isOwn: boolean },
): Promise<Socket> {
  if (!isOwn && isIP(host)) requireAllowed([host]);
  const lookup = isOwn ? {} : { lookup: allowedLookup };
  const socket = connect({ host, port, autoSelectFamily: true, ...lookup });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => socket.destroy(timeoutError()), timeoutMs);
  socket.once("error", reject).once("connect", resolve);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
  }
  return socket.off("error", reject);
}

const allowedLookup: LookupFunction = (host, { all }, done) => {
  resolveAllowed(host).then(
    (addresses) => {
      const entries = addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
      if (all) done(null, entries);
      else done(null, entries[0]!.address, entries[0]!.family);
    },
    (error: Error) => done(error, ""),
  );
};

async function resolveAllowed(host: string): Promise<string[]> {
  const addresses = await hostAddresses.resolveHost(host);
  if (!addresses.length) throw new Error("The host name does not resolve to an address");
  requireAllowed(addresses);
  return addresses;
}

function requireAllowed(addresses: string[]): void {
  const ranges = config.smtpPrivateNetworks;
  if (!addresses.every((address) => isPublicIp(address) || isInIpRanges(address, ranges)))
    throw new NotPublicHost("The host has an address that is not public");
}
