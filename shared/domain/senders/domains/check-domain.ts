// The worker that checks the DNS records of a domain and stores the result.

import { any, equals, isNew } from "../../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  get,
  put,
  queryAll,
  remove,
  transact,
  update,
  type Write,
  write,
} from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { domainOf } from "../../../kernel/email-fields.ts";
import {
  dueShardOf,
  indexAttributeNames,
  indexAttributes,
  indexes,
  keys,
  ranges,
} from "../../../keys.ts";
import { prepareEvents } from "../../webhooks/record-events.ts";
import type { SendingConfig } from "../sending-config-schema.ts";
import { type DomainIdentity, expectedRecords } from "./expected-records.ts";
import { lookUpRecords, type RecordResult } from "./look-up-records.ts";
import { getReportAddress } from "./report-address.ts";
import { checkStandards, type DomainStandards } from "./standards.ts";
import { isHeld, nextState, type VerificationState } from "./verification-state.ts";

/** A domain as it is stored. */
export interface DomainRecord extends DomainIdentity, VerificationState {
  id: number;
  orgId: number;
  lastCheckedAt: string | null;
  clickTrackingEnabled: boolean | null;
  openTrackingEnabled: boolean | null;
  createdAt: string;
  updatedAt: string;
  /** The latest result of each expected record, by `recordKey`. */
  seen: Record<string, RecordResult>;
  /** Absent before the first check. */
  standards?: DomainStandards;
  /**
   * Grows with every change of the verification state. A write needs the revision it was based on.
   */
  revision: number;
}

/**
 * Checks a domain. Does nothing if the domain was deleted, or if another worker stored a result
 * first.
 */
export async function checkDomain(orgId: number, domainId: number): Promise<void> {
  const domain = await get<DomainRecord>(keys.record(orgId, "DOMAIN", domainId));
  if (!domain) return;
  const [providers, reportAddress] = await Promise.all([
    listProviders(domain),
    getReportAddress(orgId),
  ]);
  const expected = expectedRecords(domain, providers, reportAddress);
  const [{ seen, ownership }, standards] = await Promise.all([
    lookUpRecords(domain.name, expected, domain.seen),
    checkStandards(domain.name),
  ]);
  const state = nextState(domain, ownership, now());
  const isNewlyVerified = isHeld(state) && !isHeld(domain);
  const data = { domainId, name: domain.name };
  const events = await prepareEvents(orgId, () =>
    isNewlyVerified ? [{ event: "domain.verified", details: { data } }] : [],
  );
  try {
    await write(...resultWrites(domain, state, { seen, standards }), ...events.writes);
    await events.afterCommit();
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    if (error.index !== holderWriteIndex) return;
    await transact(...resultWrites(domain, verifiedByOther(domain), { seen, standards }));
  }
}

/**
 * The distinct providers that send from the domain: those of configs with an address at it or with
 * none, and of the configs that take their email. Without such a config, each config can send from
 * a verified domain.
 */
export async function listProviders({
  orgId,
  name,
}: Pick<DomainRecord, "orgId" | "name">): Promise<string[]> {
  const configs = await queryAll<SendingConfig>(ranges.records(orgId, "CONFIG"));
  const own = configs.filter(({ fromEmail }) => fromEmail === null || domainOf(fromEmail) === name);
  const otherIds = own.flatMap(({ fallbackConfigId, share }) => [
    fallbackConfigId,
    share?.sendingConfigId,
  ]);
  const used = configs.filter((config) => own.includes(config) || otherIds.includes(config.id));
  return [...new Set((own.length ? used : configs).map(({ provider }) => provider))];
}

/** The state of a domain that another organization has verified before. */
const verifiedByOther = (domain: DomainRecord): VerificationState => ({
  ...nextState(domain, { state: "pending", found: [] }, now()),
  statusReason:
    "Another organization has verified this domain: it must remove its ownership record first",
});

/** Index of the write that only one organization can make. */
const holderWriteIndex = 2;

function resultWrites(
  domain: DomainRecord,
  state: VerificationState,
  results: Pick<DomainRecord, "seen" | "standards">,
): Write[] {
  const { orgId, id, name, revision } = domain;
  const at = now().toISOString();
  const due = state.nextCheckAt
    ? indexAttributes(indexes.due("DOMAIN", dueShardOf(id)), state.nextCheckAt)
    : {};
  const set = {
    ...state,
    ...results,
    lastCheckedAt: at,
    updatedAt: at,
    revision: revision + 1,
    ...due,
  };
  return [
    update(
      keys.record(orgId, "DOMAIN", id),
      { set, remove: state.nextCheckAt ? [] : indexAttributeNames("due") },
      { if: equals("revision", revision) },
    ),
    update(
      keys.domainName(orgId, name),
      { set: { verified: isHeld(state) } },
      { if: equals("domainId", id) },
    ),
    ...ownerWrites(domain, state),
  ];
}

function ownerWrites(domain: DomainRecord, state: VerificationState): Write[] {
  if (isHeld(state)) return [holdDomainWrite(domain)];
  return isHeld(domain) ? [releaseDomainWrite(domain)] : [];
}

const holdDomainWrite = ({ orgId, id, name }: DomainRecord): Write =>
  put(keys.domainOwner(name), { orgId, domainId: id }, { if: any(isNew, equals("domainId", id)) });

/** Releases the domain if this record holds it. */
export const releaseDomainWrite = ({ id, name }: Pick<DomainRecord, "id" | "name">): Write =>
  remove(keys.domainOwner(name), { if: any(isNew, equals("domainId", id)) });
