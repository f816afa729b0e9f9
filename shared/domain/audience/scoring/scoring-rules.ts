// Scoring rules: points for events of the contacts of a site. A change affects later events only.
import * as z from "zod";
import { equals } from "../../../adapters/dynamodb/conditions.ts";
import { queryAll, updateReturning, write } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { conflict, invalid, missing } from "../../../errors.ts";
import { singleLineText } from "../../../kernel/email-fields.ts";
import type { PageRequest } from "../../../kernel/paging.ts";
import {
  CreatedAt,
  Missing,
  NewSiteId,
  RecordId,
  RecordSiteId,
  UpdatedAt,
} from "../../../kernel/record-fields.ts";
import * as records from "../../../kernel/records.ts";
import { ranges } from "../../../keys.ts";
import * as sites from "../../identity/sites.ts";

export const scoringTriggers = [
  "email_open",
  "email_click",
  "form_submit",
  "page_view",
  "custom_event",
  "tag_add",
  "unsubscribe",
  "bounce",
] as const;
export type ScoringTrigger = (typeof scoringTriggers)[number];

const id = z.int().positive();
export const ScoringMatch = z
  .strictObject({
    eventName: singleLineText(100).min(1).describe("For `custom_event`: name of the event."),
    url: z
      .string()
      .min(1)
      .max(500)
      .describe("For `email_click` and `page_view`: part of the URL, ignoring case."),
    formId: id.describe("For `form_submit`: id of the form."),
    tagId: id.describe("For `tag_add`: id of the tag."),
    tagName: singleLineText(100).min(1).describe("For `tag_add`: name of the tag, ignoring case."),
    campaignId: id.describe(
      "For `email_open`, `email_click`, `unsubscribe` and `bounce`: campaign of the email.",
    ),
  })
  .partial()
  .meta({ id: "ScoringMatch" });
export type ScoringMatch = z.output<typeof ScoringMatch>;

const matchFieldsByTrigger: Record<ScoringTrigger, (keyof ScoringMatch)[]> = {
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
  name: singleLineText(100).trim().min(1).describe("Name of the rule, shown in the score log."),
  trigger: z.enum(scoringTriggers).describe("Event that gives the points."),
  match: ScoringMatch.nullable().describe(
    "Which events of the trigger count. `null`: all of them.",
  ),
  points: z.int().min(-1000).max(1000).describe("Points to add. A negative number subtracts."),
  active: z.boolean().describe("Whether the rule gives points."),
};

export const ScoringRule = z
  .object({
    id: RecordId.describe("Id of the rule, for GET /scoring/rules/:id."),
    siteId: RecordSiteId,
    ...fields,
    missing: Missing,
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "ScoringRule" });
export type ScoringRule = z.output<typeof ScoringRule>;
export const NewScoringRule = z
  .object({
    siteId: NewSiteId,
    ...fields,
    match: fields.match.default(null),
    active: fields.active.default(true),
  })
  .meta({
    examples: [
      { name: "Looked at prices", trigger: "page_view", match: { url: "/pricing" }, points: 5 },
    ],
  });
export type NewScoringRule = z.output<typeof NewScoringRule>;
export const ScoringRuleChanges = z
  .object(fields)
  .partial()
  .meta({ examples: [{ points: 10 }] });
export type ScoringRuleChanges = z.output<typeof ScoringRuleChanges>;

/**
 * One transaction, which takes 100 writes, has a score log entry for each rule that an event
 * matches.
 */
export const maxRules = 80;

/** 409 `too_many_rules` when the site has 80 rules. */
export async function create(
  caller: CallerScope,
  { siteId: requestedSiteId, ...rule }: NewScoringRule,
): Promise<ScoringRule> {
  checkMatchFields(rule);
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  if ((await getSiteRules(caller.orgId, siteId)).length >= maxRules)
    throw conflict(`A site can have at most ${maxRules} scoring rules`, { code: "too_many_rules" });
  await checkMatchReferences(caller, siteId, rule.match);
  return records.insert("RULE", caller, {
    record: { ...(await records.newRecordFields("RULE")), siteId, ...rule },
  });
}

const find = (caller: CallerScope, ruleId: number): Promise<ScoringRule> =>
  records.find<ScoringRule>("RULE", caller, ruleId);

/** Like `find`, with the records that `match` names and that were deleted. */
export async function show(caller: CallerScope, ruleId: number): Promise<ScoringRule> {
  const rule = await find(caller, ruleId);
  return { ...rule, missing: await records.listMissing(caller, matchReferences(rule.match)) };
}

/** Newest first. */
export async function list(caller: CallerScope, request: PageRequest, siteId: number | undefined) {
  return records.list<ScoringRule>("RULE", caller, {
    ...request,
    siteIds: await sites.siteFilter(caller, siteId),
  });
}

/** 400 when `match` does not fit the trigger after the change. */
export async function change(
  caller: CallerScope,
  ruleId: number,
  changes: ScoringRuleChanges,
): Promise<ScoringRule> {
  const { siteId, trigger, match } = await find(caller, ruleId);
  checkMatchFields({
    trigger: changes.trigger ?? trigger,
    match: changes.match === undefined ? match : changes.match,
  });
  await checkMatchReferences(caller, siteId, changes.match ?? null);
  const changed = await updateReturning<ScoringRule>(
    records.updateWrite("RULE", caller, { id: ruleId, set: changes }),
  );
  if (!changed) throw missing("The scoring rule does not exist");
  return changed;
}

/** Points that the rule gave stay. */
export async function remove(caller: CallerScope, ruleId: number): Promise<void> {
  await write(...records.removeWrites("RULE", caller, await find(caller, ruleId)));
}

/** Oldest first. */
export async function getSiteRules(orgId: number, siteId: number): Promise<ScoringRule[]> {
  return queryAll<ScoringRule>(ranges.records(orgId, "RULE"), { filter: equals("siteId", siteId) });
}

function checkMatchFields({ trigger, match }: Pick<ScoringRule, "trigger" | "match">): void {
  const unknownField = Object.keys(match ?? {}).find(
    (field) => !matchFieldsByTrigger[trigger].includes(field as keyof ScoringMatch),
  );
  if (unknownField === undefined) return;
  const allowed = matchFieldsByTrigger[trigger].join(" and ");
  const message = `match.${unknownField}: ${trigger} allows only ${allowed}`;
  throw invalid(message, { details: [{ path: `match.${unknownField}`, message }] });
}

const referencedKinds = { formId: "FORM", tagId: "TAG", campaignId: "CAMPAIGN" } as const;

/** 404 for a form, tag or campaign that does not exist, 400 for one of another site. */
async function checkMatchReferences(
  caller: CallerScope,
  siteId: number,
  match: ScoringMatch | null,
): Promise<void> {
  for (const { kind, id, path } of matchReferences(match))
    await records.findOfSite(kind, caller, { id, siteId, path });
}

const matchReferences = (match: ScoringMatch | null): records.Reference[] =>
  (["formId", "tagId", "campaignId"] as const).flatMap((name) =>
    records.reference(`match.${name}`, referencedKinds[name], match?.[name]),
  );
