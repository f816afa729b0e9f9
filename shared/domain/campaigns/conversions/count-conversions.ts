// Counts an event of a contact for the campaigns that have it as their conversion, in the
// transaction that records the event. So each event counts once, whatever crashes or is repeated.
// What the contact did before is read from its send, which costs nothing until such an event comes.
import { absent, exists } from "../../../adapters/dynamodb/conditions.ts";
import { checkCondition, getMany, update, type Write } from "../../../adapters/dynamodb/table.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { type Key, keys, zeroPad } from "../../../keys.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import { type ConvertingEvent, maxConversionWrites } from "../../audience/contacts/reactions.ts";
import { readProperty } from "../../audience/segments/rule-tests.ts";
import { isAutomated, type SendEvent } from "../../delivery-events/send-outcome.ts";
import * as mailSources from "../../sending/mail-sources.ts";
import * as readSends from "../../sending/read-sends.ts";
import type { SendItem } from "../../sending/send-schema.ts";
import { findDecision } from "../engine/find-decision.ts";
import { type CampaignGoal, listGoals, rereadGoals } from "./campaign-goals.ts";
import {
  amountUnits,
  type CampaignConversion,
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
    .filter((goal) => mayCount(goal, contact, event))
    .slice(0, Math.min(maxCampaignsPerEvent, Math.floor(maxWrites / writesPerCampaign)));
  if (!candidates.length) return [];
  const current = await rereadGoals(candidates);
  const touches = await inParallel(4, current, (goal) => findTouch(contact, goal, event));
  const [latest] = touches
    .flatMap((touch) => touch ?? [])
    .toSorted((a, b) => (a.at > b.at ? -1 : 1));
  return latest ? countWrites(contact, event, latest) : [];
}

/** Decides by what the process knows, so that most events read nothing. */
function mayCount(
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

/** What the contact did last before the event. */
interface Touch {
  goal: CampaignGoal & Key;
  at: string;
  variantId: number | undefined;
}

async function findTouch(
  contact: ContactItem,
  goal: CampaignGoal & Key,
  event: ConvertingEvent,
): Promise<Touch | undefined> {
  const { orgId } = contact;
  const decision = await findDecision({ orgId, id: goal.campaignId }, contact);
  if (decision?.sendId === undefined) return undefined;
  const [send] = await readSends.getSends(orgId, [decision.sendId], { rendersSubject: false });
  const at = send && latestTouch(send, goal.goal, event.at);
  return at === undefined ? undefined : { goal, at, variantId: send?.variantId ?? undefined };
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
}

async function countWrites(
  { orgId, id: contactId }: ContactItem,
  event: ConvertingEvent,
  { goal: { pk, sk, campaignId, goal }, variantId }: Touch,
): Promise<Write[]> {
  const key = keys.contactLog(orgId, contactId, `${logPrefix}${zeroPad(campaignId)}`);
  const [logged] = await getMany<ConversionLogItem>([key], { consistent: true });
  const isFirst = logged?.attributedAt === undefined;
  const source = { kind: "campaign" as const, id: campaignId, part: variantId };
  const conversions = {
    events: 1,
    ...(isFirst && { contacts: 1 }),
    ...toValueCount(goal, event.properties),
  };
  return [
    // The counters of a deleted campaign must not come back.
    checkCondition({ pk, sk }, exists),
    ...(isFirst
      ? [
          update(
            key,
            { set: { campaignId, attributedAt: event.at } },
            { if: absent("attributedAt") },
          ),
        ]
      : []),
    ...mailSources.addSourceCountWrites(orgId, event.id, [{ source, counts: {}, conversions }]),
  ];
}

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
