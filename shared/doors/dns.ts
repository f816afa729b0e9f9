// The only file that asks DNS.
import { Resolver } from "node:dns/promises";
import { config } from "../config.ts";

// One resolver for each choice of servers, as the setting says. It asks by itself: the system's own way would let a slow name
// server keep every other lookup of the process waiting.
const resolvers = new Map<string, Resolver>();

function resolver(): Resolver {
  const servers = config.dnsServers;
  const name = servers.join();
  const known = resolvers.get(name);
  if (known) return known;
  const made = new Resolver({ timeout: 2000, tries: 2 });
  if (servers.length) made.setServers(servers);
  resolvers.set(name, made);
  return made;
}

const asking = new Map<string, Promise<string[]>>();

/** Addresses of a host, IPv4 first; none when it has none. Those who ask at the same time share one answer; nothing is kept. */
export function addresses(host: string): Promise<string[]> {
  const answer = asking.get(host) ?? ask(host).finally(() => asking.delete(host));
  asking.set(host, answer);
  return answer;
}

async function ask(host: string): Promise<string[]> {
  const answers = await Promise.allSettled([resolver().resolve4(host), resolver().resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
}
