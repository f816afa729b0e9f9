// Counts an event of a contact for the campaigns that have it as their conversion, in the
// transaction that records the event. So each event counts once, whatever crashes or is repeated.
// What the contact did before is read from its send, which costs nothing until such an event comes.
import { absent, all, exists } from "../../../adapters/dynamodb/conditions.ts";
import { checkCondition, getMany, update, type Write } from "../../../adapters/dynamodb/table.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { type Key, keys, zeroPad } from "../../../keys.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import { readProperty } from "../../audience/segments/rule-tests.ts";
import {
  type ConvertingEvent,
  maxConversionWrites,
} from "../../audience/tracking/converting-events.ts";
import { isAutomated, type SendEvent } from "../../delivery-events/send-outcome.ts";
import * as mailSources from "../../sending/mail-sources.ts";
import * as readSends from "../../sending/read-sends.ts";
import type { SendItem } from "../../sending/send-schema.ts";
import { findDecision } from "../engine/find-decision.ts";
import { type CampaignGoal, listGoals, rereadGoals } from "./campaign-goals.ts";
import {
  amountUnits,
  type CampaignConversion,
  type ComparedGroupName,
  groupPrefix,
  isCurrency,
  valueCounter,
} from "./conversion-schema.ts";

const writesPerCampaign = 3;
/** How many campaigns are looked at for one event. */
const maxCampaignsPerEvent = maxConversionWrites / writesPerCampaign;

/** Names of the events that count for campaigns of a site. */
export const listConvertingNames = async (orgId: number, siteId: number): Promise<Set<string>> =>
  new Set((await listGoals({ orgId, siteId })).map(({ goal }) => goal.eventName));

/** Writes for the transaction that records the event: at most `maxWrites`. */
export async function conversionWrites(
  contact: ContactItem,
  event: ConvertingEvent,
  maxWrites: number,
): Promise<Write[]> {
  const goals = await listGoals(contact);
  const candidates = goals
    .filter((goal) => mayTouch(goal, contact, event) || isCompared(goal, event))
    .slice(0, Math.min(maxCampaignsPerEvent, Math.floor(maxWrites / writesPerCampaign)));
  if (!candidates.length) return [];
  const facts = await inParallel(4, await rereadGoals(candidates), (goal) =>
    findFacts(contact, goal, event),
  );
  const [latest] = facts
    .filter(({ touchedAt }) => touchedAt !== undefined)
    .toSorted((a, b) => (a.touchedAt! > b.touchedAt! ? -1 : 1));
  const writes = await inParallel(4, facts, (fact) =>
    countWrites(contact, event, { ...fact, isAttributed: fact === latest }),
  );
  return writes.flat();
}

/** Decides by what the process knows, so that most events read nothing. */
function mayTouch(
  { campaignId, goal, startedAt }: CampaignGoal,
  { clickedCampaigns, openedCampaigns }: ContactItem,
  { name, at }: ConvertingEvent,
): boolean {
  if (goal.eventName !== name || at < startedAt) return false;
  if (goal.after === "delivery") return true;
  const hasClicked = clickedCampaigns?.has(campaignId) ?? false;
  if (goal.after === "click") return hasClicked;
  return hasClicked || (openedCampaigns?.has(campaignId) ?? false);
}

/** Whether the event counts for the comparison with a hold-out group. */
const isCompared = (
  { goal: { eventName, windowDays }, startedAt, holdsOut }: CampaignGoal,
  { name, at }: ConvertingEvent,
): boolean =>
  holdsOut === true &&
  eventName === name &&
  at >= startedAt &&
  Date.parse(at) <= Date.parse(startedAt) + windowDays * dayMs;

/** What a campaign did with the contact, and what the contact did before the event. */
interface ContactFacts {
  goal: CampaignGoal & Key;
  group?: ComparedGroupName | undefined;
  touchedAt?: string | undefined;
  variantId?: number | undefined;
}

async function findFacts(
  contact: ContactItem,
  goal: CampaignGoal & Key,
  event: ConvertingEvent,
): Promise<ContactFacts> {
  const { orgId } = contact;
  const inGroup = (group: ComparedGroupName) => (isCompared(goal, event) ? group : undefined);
  const decision = await findDecision({ orgId, id: goal.campaignId }, contact);
  if (decision?.reason === "heldOut") return { goal, group: inGroup("heldOut") };
  if (decision?.sendId === undefined) return { goal };
  const [send] = await readSends.getSends(orgId, [decision.sendId], { rendersSubject: false });
  // Left out at the hand-over, or no longer stored.
  if (!send || mailSources.exclusionReasons.some((reason) => reason === send.error))
    return { goal };
  return {
    goal,
    group: inGroup("mailed"),
    touchedAt: latestTouch(send, goal.goal, event.at),
    variantId: send.variantId ?? undefined,
  };
}

const dayMs = 24 * 3_600_000;

/** The time (ISO 8601) of what must come before the event, if it is within the window. */
export function latestTouch(
  send: SendItem & { events?: SendEvent[] },
  { after, windowDays }: CampaignConversion,
  eventAt: string,
): string | undefined {
  const from = new Date(Date.parse(eventAt) - windowDays * dayMs).toISOString();
  return listTouches(send, after)
    .filter((at) => at >= from && at <= eventAt)
    .sort()
    .at(-1);
}

function listTouches(
  { events = [], sentAt, deliveredAt, status }: SendItem & { events?: SendEvent[] },
  after: CampaignConversion["after"],
): string[] {
  if (after === "delivery") {
    const at = sentAt ?? deliveredAt;
    return at && status !== "failed" ? [at] : [];
  }
  return events
    .filter(({ type }) => type === "click" || (after === "open" && type === "open"))
    .filter((one) => !isAutomated(one, events))
    .map(({ at }) => new Date(at).toISOString());
}

/** The log entry of a contact says for which campaigns it was counted. */
const logPrefix = "GOAL|";
interface ConversionLogItem {
  campaignId: number;
  /** Since when it counts as a conversion of the campaign (ISO 8601). */
  attributedAt?: string;
  /** Since when it counts in its group, for the comparison with the hold-out group. */
  comparedAt?: string;
}

async function countWrites(
  { orgId, id: contactId }: ContactItem,
  event: ConvertingEvent,
  { goal: stored, group, variantId, isAttributed }: ContactFacts & { isAttributed: boolean },
): Promise<Write[]> {
  if (!isAttributed && !group) return [];
  const { pk, sk, campaignId, goal } = stored;
  const key = keys.contactLog(orgId, contactId, `${logPrefix}${zeroPad(campaignId)}`);
  const [logged] = await getMany<ConversionLogItem>([key], { consistent: true });
  const names = [
    ...(isAttributed ? (["attributedAt"] as const) : []),
    ...(group ? (["comparedAt"] as const) : []),
  ];
  const first = names.filter((name) => logged?.[name] === undefined);
  const amount = toValueCount(goal, event.properties);
  const source = { kind: "campaign" as const, id: campaignId };
  const count = (isFirst: boolean) => ({ events: 1, ...(isFirst && { contacts: 1 }), ...amount });
  const changes = [
    ...(isAttributed
      ? [
          {
            source: { ...source, part: variantId },
            counts: {},
            conversions: count(first.includes("attributedAt")),
          },
        ]
      : []),
    ...(group
      ? [
          {
            source,
            counts: {},
            conversions: withPrefix(groupPrefix(group), count(first.includes("comparedAt"))),
          },
        ]
      : []),
  ];
  return [
    // The counters of a deleted campaign must not come back.
    checkCondition({ pk, sk }, exists),
    ...(first.length
      ? [
          update(
            key,
            { set: { campaignId, ...Object.fromEntries(first.map((name) => [name, event.at])) } },
            { if: all(...first.map((name) => absent(name))) },
          ),
        ]
      : []),
    ...mailSources.addSourceCountWrites(orgId, event.id, changes),
  ];
}

const withPrefix = (prefix: string, counts: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).map(([name, n]) => [prefix + name, n]));

const maxAmount = 1_000_000_000_000;

/** The counter of the currency with the amount of the event. Empty without an amount. */
export function toValueCount(
  { valueProperty, currency, currencyProperty }: CampaignConversion,
  properties: string | undefined,
): Record<string, number> {
  if (valueProperty === undefined || properties === undefined) return {};
  const given: unknown = JSON.parse(properties);
  const value = readProperty(given, valueProperty);
  const amount = typeof value === "string" && value.trim() ? Number(value) : value;
  if (typeof amount !== "number" || !(Math.abs(amount) <= maxAmount)) return {};
  const own = currencyProperty === undefined ? undefined : readProperty(given, currencyProperty);
  const code = own === undefined || own === null ? currency : toCode(own);
  return code ? { [valueCounter(code)]: Math.round(amount * amountUnits) } : {};
}

function toCode(given: unknown): string | undefined {
  const code = typeof given === "string" ? given.trim().toUpperCase() : "";
  return isCurrency(code) ? code : undefined;
}
