// Scoring rules: what is worth how many points. They belong to a site, and hold for what happens from then on.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { equals, where } from "../conditions.ts";
import { queryAll, updateReturning, write } from "../doors/table.ts";
import { oneLine } from "../email.ts";
import { conflict, invalid, missing } from "../errors.ts";
import { ranges } from "../keys.ts";
import type { PageRequest } from "../paging.ts";
import * as records from "./records.ts";
import * as sites from "./sites.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

export const triggers = [
  "email_open",
  "email_click",
  "form_submit",
  "page_view",
  "custom_event",
  "tag_add",
  "unsubscribe",
  "bounce",
] as const;
export type Trigger = (typeof triggers)[number];

const id = z.int().positive();
export const Match = z
  .strictObject({
    eventName: oneLine(100).min(1).describe("custom_event: the event"),
    url: z.string().min(1).max(500).describe("email_click, page_view: a part of the address, whatever its case"),
    formId: id.describe("form_submit: the form"),
    tagId: id.describe("tag_add: the tag"),
    tagName: oneLine(100).min(1).describe("tag_add: the name of the tag, whatever its case"),
    campaignId: id.describe("email_open, email_click, unsubscribe, bounce: the campaign of the mail"),
  })
  .partial();
export type Match = z.output<typeof Match>;

const matchable: Record<Trigger, (keyof Match)[]> = {
  email_open: ["campaignId"],
  email_click: ["campaignId", "url"],
  form_submit: ["formId"],
  page_view: ["url"],
  custom_event: ["eventName"],
  tag_add: ["tagId", "tagName"],
  unsubscribe: ["campaignId"],
  bounce: ["campaignId"],
};

const fields = {
  name: oneLine(100).trim().min(1),
  trigger: z.enum(triggers),
  match: Match.nullable().describe("What it is narrowed down to; null for whatever happens"),
  points: z.int().min(-1000).max(1000),
  active: z.boolean(),
};

export const ScoringRule = z
  .object({ id: z.int(), siteId: z.int(), ...fields, createdAt: z.string(), updatedAt: z.string() })
  .meta({ id: "ScoringRule" });
export type ScoringRule = z.output<typeof ScoringRule>;
export const NewScoringRule = z
  .object({ siteId: id.optional(), ...fields, match: fields.match.default(null), active: fields.active.default(true) })
  .meta({ examples: [{ name: "Looked at prices", trigger: "page_view", match: { url: "/pricing" }, points: 5 }] });
export type NewScoringRule = z.output<typeof NewScoringRule>;
export const ScoringRuleChanges = z
  .object(fields)
  .partial()
  .meta({ examples: [{ points: 10 }] });
export type ScoringRuleChanges = z.output<typeof ScoringRuleChanges>;

/** All that one event meets is written in one transaction, which takes 100 items. */
export const maxRules = 80;

/** 409 `too_many_rules` past 80 of a site. */
export async function create(who: Who, { siteId: given, ...rule }: NewScoringRule): Promise<ScoringRule> {
  refuseStray(rule);
  const siteId = await sites.resolve(who, given);
  if ((await ofSite(who.orgId, siteId)).length >= maxRules)
    throw conflict(`A site may have at most ${maxRules} scoring rules`, { code: "too_many_rules" });
  await refuseForeign(who, siteId, rule.match);
  return records.insert("RULE", who, { ...(await records.stamp("RULE")), siteId, ...rule });
}

export const find = (who: Who, ruleId: number): Promise<ScoringRule> => records.find<ScoringRule>("RULE", who, ruleId);

/** Newest first. */
export async function list(who: Who, request: PageRequest, siteId: number | undefined) {
  return records.list<ScoringRule>("RULE", who, request, where({ siteId: await sites.only(who, siteId) }));
}

/** 400 when the trigger and the match as they then are do not go together. */
export async function change(who: Who, ruleId: number, changes: ScoringRuleChanges): Promise<ScoringRule> {
  const { siteId, trigger, match } = await find(who, ruleId);
  refuseStray({ trigger: changes.trigger ?? trigger, match: changes.match === undefined ? match : changes.match });
  await refuseForeign(who, siteId, changes.match ?? null);
  const changed = await updateReturning<ScoringRule>(records.changing("RULE", who, ruleId, changes));
  if (!changed) throw missing("There is no such scoring rule");
  return changed;
}

/** What it gave stays. */
export async function remove(who: Who, ruleId: number): Promise<void> {
  await find(who, ruleId);
  await write(...records.removing("RULE", who, ruleId));
}

/** Oldest first. */
export async function ofSite(orgId: number, siteId: number): Promise<ScoringRule[]> {
  return queryAll<ScoringRule>(ranges.records(orgId, "RULE"), { filter: equals("siteId", siteId) });
}

function refuseStray({ trigger, match }: Pick<ScoringRule, "trigger" | "match">): void {
  const stray = Object.keys(match ?? {}).find((field) => !matchable[trigger].includes(field as keyof Match));
  if (stray === undefined) return;
  const allowed = matchable[trigger].join(" and ");
  const message = `match.${stray}: ${trigger} can be narrowed down by ${allowed} only`;
  throw invalid(message, { details: [{ path: `match.${stray}`, message }] });
}

const referred = { formId: "FORM", tagId: "TAG", campaignId: "CAMPAIGN" } as const;

/** 404 for what is not there, 400 for what is of another site. */
async function refuseForeign(who: Who, siteId: number, match: Match | null): Promise<void> {
  for (const name of ["formId", "tagId", "campaignId"] as const)
    if (match?.[name] !== undefined) await records.ofSite(referred[name], who, match[name], siteId, `match.${name}`);
}
