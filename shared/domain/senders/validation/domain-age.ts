// Finds out by RDAP (RFC 9082, RFC 9083) when a domain was registered. rdap.org redirects to the
// registry of the suffix.
import * as z from "zod";
import { NoResponse } from "../../../adapters/http/no-response.ts";
import { requestPublicUrl } from "../../../adapters/http/public-client.ts";
import { now } from "../../../clock.ts";
import { config } from "../../../config.ts";
import { isLoopbackIp } from "../../../kernel/ip-addresses.ts";
import { parseJson } from "../../../kernel/json.ts";
import { createLruCache } from "../../../kernel/lru-cache.ts";
import { registeredDomain } from "../public-suffixes.ts";
import { type Check, fail, inconclusive, pass, warn } from "./check.ts";

export interface DomainAgeCheck {
  check: Check;
  registeredAt: string | null;
  ageDays: number | null;
}

const Registration = z
  .object({
    events: z.array(z.object({ eventAction: z.string(), eventDate: z.string() }).partial()),
  })
  .partial();

const newDays = 30;
const youngDays = 180;

const cache = createLruCache<{ registeredAt: string | undefined; until: number }>(10_000);
const cacheMs = 24 * 3600 * 1000;

/** `domain` is in ASCII. */
export async function checkDomainAge(
  domain: string,
  signal?: AbortSignal,
): Promise<DomainAgeCheck> {
  const registered = registeredDomain(domain);
  if (!registered)
    return unknownAge(`${domain} is not under a public suffix, so it has no registration date`);
  try {
    return evaluateAge(registered, await getRegistrationDate(registered, signal));
  } catch (error) {
    if (error instanceof NoResponse || error instanceof NoRegistrationDate)
      return unknownAge(`The registry did not report when ${registered} was registered`);
    throw error;
  }
}

class NoRegistrationDate extends Error {}

const unknownAge = (message: string): DomainAgeCheck => ({
  check: inconclusive(message),
  registeredAt: null,
  ageDays: null,
});

function evaluateAge(domain: string, registeredAt: string | undefined): DomainAgeCheck {
  if (registeredAt === undefined)
    return unknownAge(`The registry did not report when ${domain} was registered`);
  const ageDays = Math.max(
    0,
    Math.floor((now().getTime() - Date.parse(registeredAt)) / 86_400_000),
  );
  const message = `${domain} was registered ${ageDays === 1 ? "1 day" : `${ageDays} days`} ago`;
  return { check: ageCheck(ageDays, message), registeredAt, ageDays };
}

function ageCheck(ageDays: number, message: string): Check {
  if (ageDays < newDays) return fail(message);
  return ageDays < youngDays ? warn(message) : pass(message);
}

async function getRegistrationDate(
  domain: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const cached = cache.get(domain);
  if (cached && cached.until > now().getTime()) return cached.registeredAt;
  const registeredAt = await fetchRegistration(`${config.rdapUrl}/domain/${domain}`, signal);
  cache.set(domain, { registeredAt, until: now().getTime() + cacheMs }, 1);
  return registeredAt;
}

const maxRedirects = 4;
const timeoutSeconds = 5;

/**
 * Follows redirects to the registry. Each host must be public, unless the operator has set a local
 * RDAP service.
 */
async function fetchRegistration(
  startUrl: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const allowLoopback = isLocal(startUrl);
  const until = performance.now() + timeoutSeconds * 1000;
  let url = startUrl;
  for (let hop = 0; hop <= maxRedirects; hop++) {
    if (signal?.aborted || performance.now() >= until) throw new NoRegistrationDate();
    const leftSeconds = (until - performance.now()) / 1000;
    const { status, headers, text } = await requestPublicUrl({
      url,
      headers: { accept: "application/rdap+json, application/json" },
      timeoutSeconds: leftSeconds,
      maxBytes: 300_000,
      allowLoopback,
      signal,
    });
    if (status === 200) return parseRegistration(text);
    const { location } = headers;
    const next =
      location !== undefined && status >= 300 && status < 400
        ? URL.parse(location, url)?.href
        : undefined;
    if (next === undefined) throw new NoRegistrationDate();
    url = next;
  }
  throw new NoRegistrationDate();
}

function isLocal(url: string): boolean {
  const host = URL.parse(url)?.hostname.replace(/^\[(.*)\]$/, "$1") ?? "";
  return host === "localhost" || isLoopbackIp(host);
}

/** Returns the registration time as ISO 8601 in UTC. */
function parseRegistration(text: string): string | undefined {
  const { data } = Registration.safeParse(parseJson(text));
  const event = data?.events?.find(
    ({ eventAction }) => eventAction?.toLowerCase() === "registration",
  );
  const time = Date.parse(event?.eventDate ?? "");
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
