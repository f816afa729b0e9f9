// Resolves host names to IP addresses.
import { Resolver } from "node:dns/promises";
import { config } from "../../config.ts";

// One resolver for each setting of DNS servers. With the resolver of the operating system, a slow
// name server would delay every other lookup of the process.
const resolvers = new Map<string, Resolver>();

function resolver(): Resolver {
  const servers = config.dnsServers;
  const key = servers.join();
  const cached = resolvers.get(key);
  if (cached) return cached;
  const created = new Resolver({ timeout: 2000, tries: 2 });
  if (servers.length) created.setServers(servers);
  resolvers.set(key, created);
  return created;
}

const pendingLookups = new Map<string, Promise<string[]>>();

/**
 * The IP addresses of a host, IPv4 first. Concurrent calls for a host share one lookup; nothing is
 * cached.
 */
export function resolveHost(host: string): Promise<string[]> {
  const lookup =
    pendingLookups.get(host) ??
    resolveBothFamilies(host).finally(() => pendingLookups.delete(host));
  pendingLookups.set(host, lookup);
  return lookup;
}

async function resolveBothFamilies(host: string): Promise<string[]> {
  const answers = await Promise.allSettled([resolver().resolve4(host), resolver().resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
}
