// Sender domains. An organization verifies a domain by publishing a DNS record. Then its sending
// configs of that domain may be used for all addresses of the domain, and no other organization can
// verify it.
import { domainToASCII } from "node:url";
import * as z from "zod";
import { equals, exists } from "../../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  put,
  remove as removeItem,
  transact,
  update,
  type Write,
  write,
} from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { addSeconds, now } from "../../../clock.ts";
import { conflict, invalid, missing } from "../../../errors.ts";
import { randomBase62 } from "../../../ids.ts";
import type { PageRequest } from "../../../kernel/paging.ts";
import { CreatedAt, RecordId, Timestamp, UpdatedAt } from "../../../kernel/record-fields.ts";
import * as records from "../../../kernel/records.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../../keys.ts";
import { getDomainHolder } from "../../identity/domain-holders.ts";
import { registeredDomain } from "../public-suffixes.ts";
import {
  checkDomain,
  type DomainRecord,
  listProviders,
  releaseDomainWrite,
} from "./check-domain.ts";
import * as domainsByName from "./domains-by-name.ts";
import { enqueueCheck } from "./enqueue-check.ts";
import { expectedRecords, recordPurposes } from "./expected-records.ts";
import { completeSpf, recordKey, recordStates } from "./look-up-records.ts";
import { getReportAddress } from "./report-address.ts";
import { domainStatuses, graceDays, isHeld, pendingDays } from "./verification-state.ts";

const DnsRecord = z
  .object({
    purpose: z.enum(recordPurposes).describe("What the record is for."),
    provider: z
      .string()
      .nullable()
      .describe("Provider that needs the record. `null`: needed for every provider."),
    type: z.enum(["TXT", "CNAME", "MX"]).describe("Type of the DNS record."),
    name: z
      .string()
      .nullable()
      .describe("Name of the record. `null`: shown in your account at the provider."),
    value: z
      .string()
      .nullable()
      .describe(
        "Value of the record. `null`: shown in your account at the provider, or nothing to " +
          "publish; see `note`.",
      ),
    required: z
      .boolean()
      .describe("Whether the record is needed to verify the domain. The others improve delivery."),
    state: z
      .enum(recordStates)
      .describe(
        "`pending`: not found yet. `found`: correct. `wrong`: DNS has another value, see `found`.",
      ),
    found: z.array(z.string()).describe("Values that DNS has."),
    note: z
      .string()
      .nullable()
      .describe(
        "Further explanation, such as what the record looks like if only your account at the " +
          "provider shows it.",
      ),
    link: z
      .string()
      .nullable()
      .describe("Page of the provider that shows name and value, or `null`."),
  })
  .meta({ id: "DnsRecord" });

const tracking = (what: string) =>
  z
    .boolean()
    .nullable()
    .describe(
      `Whether ${what} are tracked in email from this domain that does not say. \`null\`: ` +
        "the setting of the provider account.",
    );

const Selector = z
  .string()
  .max(63)
  .regex(
    /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i,
    "must be a DKIM selector such as s1",
  );
const dkimSelectors = z
  .array(Selector)
  .max(10)
  .describe(
    "Selectors of your DKIM keys, for providers that use a different selector for each " +
      "account. At most 10.",
  );

export const Domain = z
  .object({
    id: RecordId.describe("Id of the domain, for GET /domains/:id."),
    name: z.string().describe("Domain name, such as `shop.example`."),
    status: z
      .enum(domainStatuses)
      .describe(
        `\`pending\`: the ownership record has not been found yet. \`verified\`: it is ` +
          `there; checked daily. \`lost\`: it disappeared; the domain still counts as verified ` +
          `for ${graceDays} days. \`failed\`: it did not appear within ${pendingDays} days, or ` +
          `was gone for ${graceDays}; POST /domains starts again.`,
      ),
    statusReason: z.string().nullable().describe("Explanation of `lost` and `failed`, or `null`."),
    clickTrackingEnabled: tracking("clicks"),
    openTrackingEnabled: tracking("opens"),
    dkimSelectors,
    verifiedAt: Timestamp.nullable().describe(
      "When the ownership record was found. `null`: not yet.",
    ),
    lastCheckedAt: Timestamp.nullable().describe("When DNS was last checked. `null`: not yet."),
    nextCheckAt: Timestamp.nullable().describe(
      "When DNS is checked next. `null`: DNS is no longer checked.",
    ),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "Domain" });
export const DomainDetail = Domain.extend({
  dnsRecords: z.array(DnsRecord).describe("DNS records to publish, with what DNS has now."),
}).meta({
  id: "DomainDetail",
});
export type DomainDetail = z.output<typeof DomainDetail>;

export const NewDomain = z
  .object({
    name: z
      .string()
      .min(1)
      .max(253)
      .describe(
        "The part of your email addresses after the @, such as `shop.example`. A subdomain " +
          "is a domain of its own.",
      ),
    clickTrackingEnabled: Domain.shape.clickTrackingEnabled.optional(),
    openTrackingEnabled: Domain.shape.openTrackingEnabled.optional(),
    dkimSelectors: dkimSelectors.optional(),
  })
  .meta({ examples: [{ name: "shop.example" }] });
export type NewDomain = z.output<typeof NewDomain>;

export const DomainChanges = z
  .object({
    clickTrackingEnabled: Domain.shape.clickTrackingEnabled,
    openTrackingEnabled: Domain.shape.openTrackingEnabled,
    dkimSelectors,
  })
  .partial()
  .meta({ examples: [{ clickTrackingEnabled: false }] });
export type DomainChanges = z.output<typeof DomainChanges>;

/**
 * Adds a domain and starts its verification. An existing domain is checked again; one that failed
 * restarts. 409 `domain_taken` while another organization holds the domain.
 */
export async function add(caller: CallerScope, input: NewDomain): Promise<DomainDetail> {
  const name = parseDomainName(input.name);
  const [existing, holder] = await Promise.all([
    domainsByName.getByName(caller.orgId, name),
    getDomainHolder(name),
  ]);
  if (existing) return checkAgain(caller, existing.domainId);
  if (holder !== undefined && holder !== caller.orgId) throw domainTaken(name);
  const domain = await insert(caller, name, input);
  await enqueueCheck(caller.orgId, domain.id);
  return toDetail(domain);
}

/** Returns the domain, which it adds if the organization does not have it. */
export async function findOrAdd(caller: CallerScope, name: string): Promise<DomainDetail> {
  const existing = await domainsByName.getByName(caller.orgId, parseDomainName(name));
  return existing ? findDetail(caller, existing.domainId) : add(caller, NewDomain.parse({ name }));
}

/** Looks the records up before it returns them. */
export async function checkNow(caller: CallerScope, id: number): Promise<DomainDetail> {
  await checkDomain(caller.orgId, id);
  return findDetail(caller, id);
}

const domainTaken = (name: string) =>
  conflict(`Another organization has already verified ${name}`, { code: "domain_taken" });

function parseDomainName(input: string): string {
  // `domainToASCII` parses URLs and would drop the text after these characters.
  const name = /[\s/?#@:\\%]/.test(input.trim()) ? "" : domainToASCII(input.trim()).toLowerCase();
  const isWellFormed = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/.test(
    name,
  );
  if (isWellFormed && name.length <= 220 && registeredDomain(name)) return name;
  const message = "name must be a domain name under a public suffix, such as shop.example";
  throw invalid(message, { details: [{ path: "name", message }] });
}

async function insert(caller: CallerScope, name: string, input: NewDomain): Promise<DomainRecord> {
  const { clickTrackingEnabled = null, openTrackingEnabled = null, dkimSelectors = [] } = input;
  const stamped = await records.newRecordFields("DOMAIN");
  const domain: DomainRecord = {
    ...stamped,
    orgId: caller.orgId,
    name,
    token: randomBase62(32),
    dkimSelectors,
    clickTrackingEnabled,
    openTrackingEnabled,
    ...initialState(),
    verifiedAt: null,
    lostAt: null,
    lastCheckedAt: null,
    seen: {},
    revision: 1,
  };
  const byName = {
    domainId: domain.id,
    verified: false,
    clickTrackingEnabled,
    openTrackingEnabled,
  };
  try {
    return await records.insert("DOMAIN", caller, {
      record: { ...domain, ...dueAttributes(domain) },
      extraWrites: [put(keys.domainName(caller.orgId, name), byName, { ifAbsent: true })],
    });
  } catch (error) {
    // Another request of the organization added the domain first.
    const other =
      error instanceof ConditionFailed
        ? await domainsByName.getByName(caller.orgId, name)
        : undefined;
    if (!other) throw error;
    return find(caller, other.domainId);
  }
}

const initialState = () => ({
  status: "pending" as const,
  statusReason: null,
  pendingSince: now().toISOString(),
  nextCheckAt: addSeconds(60).toISOString(),
});
const dueAttributes = ({ id, nextCheckAt }: Pick<DomainRecord, "id" | "nextCheckAt">) =>
  indexAttributes(indexes.due("DOMAIN", dueShardOf(id)), nextCheckAt!);

const find = (caller: CallerScope, id: number): Promise<DomainRecord> =>
  records.find<DomainRecord>("DOMAIN", caller, id);

/**
 * Checks the domain now. If the message is not queued after a crash, the due index starts the
 * check.
 */
async function checkAgain(caller: CallerScope, id: number): Promise<DomainDetail> {
  const domain = await find(caller, id);
  if (domain.status === "failed") await transact(restartWrite(domain));
  await enqueueCheck(caller.orgId, id);
  return findDetail(caller, id);
}

function restartWrite({ orgId, id, revision }: DomainRecord): Write {
  const state = { ...initialState(), lostAt: null, revision: revision + 1 };
  const set = { ...state, ...dueAttributes({ id, nextCheckAt: state.nextCheckAt }) };
  return update(keys.record(orgId, "DOMAIN", id), { set }, { if: equals("revision", revision) });
}

export async function findDetail(caller: CallerScope, id: number): Promise<DomainDetail> {
  return toDetail(await find(caller, id));
}

async function toDetail(domain: DomainRecord): Promise<DomainDetail> {
  const [providers, reportAddress] = await Promise.all([
    listProviders(domain),
    getReportAddress(domain.orgId),
  ]);
  const dnsRecords = expectedRecords(domain, providers, reportAddress).flatMap((expected) => {
    const result = domain.seen[recordKey(expected)] ?? { state: "pending" as const, found: [] };
    const record = expected.purpose === "spf" ? completeSpf(expected, result) : expected;
    if (!record) return [];
    const { alsoAccepted: _, link = null, ...shown } = record;
    return { ...shown, link, ...result };
  });
  return { ...domain, dnsRecords };
}

export const list = (caller: CallerScope, request: PageRequest) =>
  records.list<DomainRecord>("DOMAIN", caller, request);

/** Updates the given fields. Mail that is accepted a minute later uses them. */
export async function change(
  caller: CallerScope,
  id: number,
  changes: DomainChanges,
): Promise<DomainDetail> {
  const { name } = await find(caller, id);
  const { dkimSelectors: _, ...trackingChanges } = changes;
  const byName = Object.keys(trackingChanges).length
    ? [
        update(
          keys.domainName(caller.orgId, name),
          { set: trackingChanges },
          { if: exists, orThrow: missing("Domain not found") },
        ),
      ]
    : [];
  await write(records.updateWrite("DOMAIN", caller, { id, set: changes }), ...byName);
  if (changes.dkimSelectors) await enqueueCheck(caller.orgId, id);
  return findDetail(caller, id);
}

/** Deletes a domain. Its sending configs stay. */
export const remove = (caller: CallerScope, id: number): Promise<void> =>
  retryOnConflict("The domain", async () => {
    const domain = await find(caller, id);
    const { revision, name } = domain;
    await write(
      ...records.removeWrites("DOMAIN", caller, {
        id,
        condition: { if: equals("revision", revision) },
      }),
      removeItem(keys.domainName(caller.orgId, name)),
      ...(isHeld(domain) ? [releaseDomainWrite(domain)] : []),
    );
  });
