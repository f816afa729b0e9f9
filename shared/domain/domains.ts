// Domains that mail comes from. Whoever publishes the record that we name has shown that a domain is theirs: their sending configs of
// that domain may then be used for all its addresses, and no other organization may verify it.
import { domainToASCII } from "node:url";
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { after, now } from "../clock.ts";
import { equals, exists } from "../conditions.ts";
import { claim, get, put, remove as removeItem, Unmet, update, type Write, write } from "../doors/table.ts";
import { conflict, invalid, missing } from "../errors.ts";
import { randomText } from "../ids.ts";
import { dueShard, keys, on, shelves } from "../keys.ts";
import type { PageRequest } from "../paging.ts";
import { registeredDomain } from "../public-suffixes.ts";
import { providersOf, releasing, type Stored } from "./domains/checks.ts";
import { purposes, wanted } from "./domains/dns.ts";
import { checkSoon } from "./domains/due.ts";
import * as names from "./domains/names.ts";
import { keyOf, states } from "./domains/seen.ts";
import { graceDays, holds, patienceDays, statuses } from "./domains/states.ts";
import * as records from "./records.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

const DnsRecord = z
  .object({
    purpose: z.enum(purposes),
    provider: z.string().nullable().describe("Who asks for it; null: everybody"),
    type: z.enum(["TXT", "CNAME", "MX"]),
    name: z.string().nullable().describe("null: as your account at the provider shows"),
    value: z.string().nullable().describe("null: as your account at the provider shows"),
    required: z.boolean().describe("The domain is verified by these; the others make its mail arrive"),
    state: z.enum(states).describe("pending: not seen yet. wrong: something else stands there, see `found`"),
    found: z.array(z.string()).describe("What DNS has there"),
    note: z.string().nullable(),
  })
  .meta({ id: "DnsRecord" });

const tracking = (what: string) =>
  z
    .boolean()
    .nullable()
    .describe(`Whether ${what} of its mail are tracked, where a mail does not say; null: as the provider's account is set`);

const Selector = z
  .string()
  .max(63)
  .regex(/^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i, "must be a selector such as s1");
const dkimSelectors = z.array(Selector).max(10).describe("Selectors of your DKIM keys, where a provider names them for your account only");

export const Domain = z
  .object({
    id: z.int(),
    name: z.string(),
    status: z
      .enum(statuses)
      .describe(
        `verified: the ownership record is there, looked at daily. lost: it was, and counts for ${graceDays} days more. failed: it did not appear within ${patienceDays} days, or was gone for ${graceDays}; POST /domains begins anew`,
      ),
    statusReason: z.string().nullable(),
    clickTrackingEnabled: tracking("clicks"),
    openTrackingEnabled: tracking("opens"),
    dkimSelectors,
    verifiedAt: z.string().nullable(),
    lastCheckedAt: z.string().nullable(),
    nextCheckAt: z.string().nullable().describe("null: DNS is not looked at any more"),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "Domain" });
export const DomainDetail = Domain.extend({ dnsRecords: z.array(DnsRecord).describe("What to publish, and what is there") }).meta({
  id: "DomainDetail",
});
export type DomainDetail = z.output<typeof DomainDetail>;

export const NewDomain = z
  .object({
    name: z
      .string()
      .min(1)
      .max(253)
      .describe("The part behind the @ of its addresses, such as shop.example; others below it are domains of their own"),
    clickTrackingEnabled: Domain.shape.clickTrackingEnabled.optional(),
    openTrackingEnabled: Domain.shape.openTrackingEnabled.optional(),
    dkimSelectors: dkimSelectors.optional(),
  })
  .meta({ examples: [{ name: "shop.example" }] });
export type NewDomain = z.output<typeof NewDomain>;

export const DomainChanges = z
  .object({ clickTrackingEnabled: Domain.shape.clickTrackingEnabled, openTrackingEnabled: Domain.shape.openTrackingEnabled, dkimSelectors })
  .partial()
  .meta({ examples: [{ clickTrackingEnabled: false }] });
export type DomainChanges = z.output<typeof DomainChanges>;

type Item = Stored & z.output<typeof Domain>;

/**
 * Begins to look for its records. A domain that is there already is looked at again, and one that failed begins anew. 409
 * `domain_taken` while another organization holds it.
 */
export async function add(who: Who, given: NewDomain): Promise<DomainDetail> {
  const name = nameOf(given.name);
  const [known, holder] = await Promise.all([names.find(who.orgId, name), get<{ orgId: number }>(keys.domainHolder(name))]);
  if (known) return again(who, known.domainId);
  if (holder && holder.orgId !== who.orgId) throw taken(name);
  const domain = await insert(who, name, given);
  await checkSoon(who.orgId, domain.id);
  return detailed(domain, await providersOf(who.orgId));
}

const taken = (name: string) => conflict(`Another organization has verified ${name}`, { code: "domain_taken" });

function nameOf(given: string): string {
  // The parser of URLs would drop what follows these.
  const name = /[\s/?#@:\\%]/.test(given.trim()) ? "" : domainToASCII(given.trim()).toLowerCase();
  const wellFormed = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/.test(name);
  if (wellFormed && name.length <= 220 && registeredDomain(name)) return name;
  const message = "name must be a domain that can be owned, such as shop.example";
  throw invalid(message, { details: [{ path: "name", message }] });
}

async function insert(who: Who, name: string, given: NewDomain): Promise<Item> {
  const { clickTrackingEnabled = null, openTrackingEnabled = null, dkimSelectors = [] } = given;
  const stamped = await records.stamp("DOMAIN");
  const domain: Item = {
    ...stamped,
    orgId: who.orgId,
    name,
    token: randomText(32),
    dkimSelectors,
    clickTrackingEnabled,
    openTrackingEnabled,
    ...anew(),
    verifiedAt: null,
    lostAt: null,
    lastCheckedAt: null,
    seen: {},
    revision: 1,
  };
  const byName = { domainId: domain.id, verified: false, clickTrackingEnabled, openTrackingEnabled };
  try {
    return await records.insert(
      "DOMAIN",
      who,
      { ...domain, ...shelved(domain) },
      put(keys.domainName(who.orgId, name), byName, { new: true }),
    );
  } catch (error) {
    // Somebody else of the organization was quicker.
    const other = error instanceof Unmet ? await names.find(who.orgId, name) : undefined;
    if (!other) throw error;
    return find(who, other.domainId);
  }
}

const anew = () => ({
  status: "pending" as const,
  statusReason: null,
  pendingSince: now().toISOString(),
  nextCheckAt: after(60).toISOString(),
});
const shelved = ({ id, nextCheckAt }: Pick<Item, "id" | "nextCheckAt">) => on(shelves.due("DOMAIN", dueShard(id)), nextCheckAt!);

const find = (who: Who, id: number): Promise<Item> => records.find<Item>("DOMAIN", who, id);

/** Looked at at once; whoever dies before that has it looked at within a minute or so. */
async function again(who: Who, id: number): Promise<DomainDetail> {
  const domain = await find(who, id);
  if (domain.status === "failed") await claim(restarting(domain));
  await checkSoon(who.orgId, id);
  return detail(who, id);
}

function restarting({ orgId, id, revision }: Item): Write {
  const fresh = { ...anew(), lostAt: null, revision: revision + 1 };
  const set = { ...fresh, ...shelved({ id, nextCheckAt: fresh.nextCheckAt }) };
  return update(keys.record(orgId, "DOMAIN", id), { set }, { if: equals("revision", revision) });
}

export async function detail(who: Who, id: number): Promise<DomainDetail> {
  const [domain, providers] = await Promise.all([find(who, id), providersOf(who.orgId)]);
  return detailed(domain, providers);
}

function detailed(domain: Item, providers: string[]): DomainDetail {
  const dnsRecords = wanted(domain, providers).map(({ also: _, ...record }) => ({
    ...record,
    ...(domain.seen[keyOf(record)] ?? { state: "pending" as const, found: [] }),
  }));
  return { ...domain, dnsRecords };
}

/** Newest first. */
export const list = (who: Who, request: PageRequest) => records.list<Item>("DOMAIN", who, request);

/** Mail that is accepted a minute later heeds it. */
export async function change(who: Who, id: number, changes: DomainChanges): Promise<DomainDetail> {
  const { name } = await find(who, id);
  const { dkimSelectors: _, ...tracked } = changes;
  const byName = Object.keys(tracked).length
    ? [update(keys.domainName(who.orgId, name), { set: tracked }, { if: exists, otherwise: missing("There is no such domain") })]
    : [];
  await write(records.changing("DOMAIN", who, id, changes), ...byName);
  if (changes.dkimSelectors) await checkSoon(who.orgId, id);
  return detail(who, id);
}

const mostAttempts = 8;

/** Its sending configs stay. */
export async function remove(who: Who, id: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const domain = await find(who, id);
    const { revision, name } = domain;
    try {
      return await write(
        ...records.removing("DOMAIN", who, id, { if: equals("revision", revision) }),
        removeItem(keys.domainName(who.orgId, name)),
        ...(holds(domain) ? [releasing(domain)] : []),
      );
    } catch (error) {
      if (!(error instanceof Unmet) || attempt >= mostAttempts) throw error;
    }
  }
}
