// How long a domain has been registered, by RDAP (RFC 9082, RFC 9083). rdap.org knows the registry of each suffix and redirects there.
import * as z from "zod";
import { boundedCache } from "../../cache.ts";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import { NoAnswer } from "../../doors/no-answer.ts";
import { readPublic } from "../../doors/public-web.ts";
import { parsed } from "../../json.ts";
import { registeredDomain } from "../../public-suffixes.ts";
import { isLoopback } from "../../public-urls.ts";
import { type Check, fail, pass, unknown, warn } from "./check.ts";

export interface Age {
  check: Check;
  registeredAt: string | null;
  /** Whole days. */
  ageDays: number | null;
}

const Registration = z.object({ events: z.array(z.object({ eventAction: z.string(), eventDate: z.string() }).partial()) }).partial();

const newDays = 30;
const youngDays = 180;

const kept = boundedCache<{ registeredAt: string | undefined; until: number }>(10_000);
const keptMs = 24 * 3600 * 1000;

/** `domain` in ASCII. */
export async function domainAge(domain: string, signal?: AbortSignal): Promise<Age> {
  const registered = registeredDomain(domain);
  if (!registered) return untold(`${domain} lies below no suffix that anybody registers domains under`);
  try {
    return judged(registered, await registrationOf(registered, signal));
  } catch (error) {
    if (error instanceof NoAnswer || error instanceof Untold) return untold(`The registry did not tell when ${registered} was registered`);
    throw error;
  }
}

class Untold extends Error {}

const untold = (message: string): Age => ({ check: unknown(message), registeredAt: null, ageDays: null });

function judged(domain: string, registeredAt: string | undefined): Age {
  if (registeredAt === undefined) return untold(`The registry did not tell when ${domain} was registered`);
  const ageDays = Math.max(0, Math.floor((now().getTime() - Date.parse(registeredAt)) / 86_400_000));
  const message = `${domain} has been registered for ${ageDays === 1 ? "1 day" : `${ageDays} days`}`;
  const check = ageDays < newDays ? fail(message) : ageDays < youngDays ? warn(message) : pass(message);
  return { check, registeredAt, ageDays };
}

async function registrationOf(domain: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  const known = kept.get(domain);
  if (known && known.until > now().getTime()) return known.registeredAt;
  const registeredAt = await asked(`${config.rdapUrl}/domain/${domain}`, signal);
  kept.set(domain, { registeredAt, until: now().getTime() + keptMs }, 1);
  return registeredAt;
}

const mostRedirects = 4;
const timeoutSeconds = 5;

/** Registries are redirected to; each must be public, but for a service on this machine that the operator has set. */
async function asked(first: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  const allowLoopback = isLocal(first);
  const until = performance.now() + timeoutSeconds * 1000;
  let url = first;
  for (let hop = 0; hop <= mostRedirects; hop++) {
    if (signal?.aborted || performance.now() >= until) throw new Untold();
    const leftSeconds = (until - performance.now()) / 1000;
    const headers = { accept: "application/rdap+json, application/json" };
    const { status, location, text } = await readPublic({
      url,
      headers,
      timeoutSeconds: leftSeconds,
      maxBytes: 300_000,
      allowLoopback,
      signal,
    });
    if (status === 200) return registeredAtOf(text);
    const next = location !== undefined && status >= 300 && status < 400 ? URL.parse(location, url)?.href : undefined;
    if (next === undefined) throw new Untold();
    url = next;
  }
  throw new Untold();
}

function isLocal(url: string): boolean {
  const host = URL.parse(url)?.hostname.replace(/^\[(.*)\]$/, "$1") ?? "";
  return host === "localhost" || isLoopback(host);
}

/** ISO 8601 in UTC. */
function registeredAtOf(text: string): string | undefined {
  const { data } = Registration.safeParse(parsed(text));
  const event = data?.events?.find(({ eventAction }) => eventAction?.toLowerCase() === "registration");
  const time = Date.parse(event?.eventDate ?? "");
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
