// What may be wrong with a complete campaign: variables that no contact of the site can have or
// that some contacts have no value for, no postal address, an unverified sender. With `strict`,
// such variables prevent the sending.
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { isBrandPath } from "../../email/brand/brand.ts";
import * as liquid from "../../email/liquid.ts";
import { invalid } from "../../errors.ts";
import { createNameTest } from "../audience/contacts/field-names.ts";
import { loadSnippets } from "../content/mail-snippets.ts";
import * as templates from "../content/templates.ts";
import * as sites from "../identity/sites.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import { nameOfContact, toContactVariables } from "../sending/contact-variables.ts";
import { requireMarketingSender } from "../sending/rendering/marketing-mail.ts";
import { buildCampaignPlan } from "./campaign-plan.ts";
import type { CampaignSchedule } from "./campaign-schema.ts";
import * as campaigns from "./campaigns.ts";
import { assignPart, type BroadcastPart, type BroadcastPlan } from "./engine/broadcast-plan.ts";
import { getLocalTimeSpan } from "./engine/local-time.ts";
import { buildRecipientQuery, describeSampleGaps, readSampleContacts } from "./sample-contacts.ts";
import type { StoredCampaign } from "./stored-campaign.ts";
import { findVariantHtml } from "./variant-html.ts";

/** None once it has started. Throws 400 that names what the campaign is missing. */
export async function listWarnings(who: CallerScope, id: number): Promise<string[]> {
  const campaign = await campaigns.findStored(who, id);
  if (!campaigns.startableStatuses.includes(campaign.status)) return [];
  return listSendWarnings(campaign, await buildCampaignPlan(campaign));
}

/** The warnings of the preview, without its rendering. */
export async function listSendWarnings(
  campaign: StoredCampaign,
  plan: BroadcastPlan,
): Promise<string[]> {
  const [gaps, warnings] = await Promise.all([
    findSampleGaps(campaign, plan),
    listPlanWarnings(campaign, plan),
  ]);
  const described = describeSampleGaps(gaps);
  return [...(described === undefined ? [] : [described]), ...warnings];
}

export async function listPlanWarnings(
  { orgId, siteId, ...campaign }: StoredCampaign,
  plan: BroadcastPlan,
): Promise<string[]> {
  const [unknown, { physicalAddress }, { verified }] = await Promise.all([
    listUnknownVariables(orgId, plan),
    sites.find({ orgId }, siteId).then((site) => requireMarketingSender(orgId, site)),
    sendingConfigs.find({ orgId }, plan.configId),
  ]);
  return [
    ...(unknown.length ? [describeUnknown(unknown)] : []),
    ...(plan.isNotice ? [noticeWarning] : []),
    ...listTranslationWarnings(campaign, plan),
    ...(physicalAddress ? [] : [missingAddressWarning]),
    ...(verified ? [] : [sendingConfigs.unverifiedWarning(plan.configId)]),
  ];
}

/** Names the time zones in which it is already later than the local time of a schedule. */
export function listLocalTimeWarnings({ localTime }: CampaignSchedule): string[] {
  if (localTime === undefined || getLocalTimeSpan(localTime).first > now()) return [];
  const aheadMinutes = Math.floor((Date.parse(`${localTime}Z`) - now().getTime()) / 60_000);
  return [
    `It is already past ${localTime} in time zones ahead of ${formatOffset(aheadMinutes)}: ` +
      "contacts there get the email at once",
  ];
}

function formatOffset(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const padded = [hours, rest].map((n) => String(n).padStart(2, "0")).join(":");
  return `UTC${minutes < 0 ? "-" : "+"}${padded}`;
}

/** Texts of the campaign are in one language. */
function listTranslationWarnings(
  { subject, previewText }: Pick<StoredCampaign, "subject" | "previewText">,
  { parts }: BroadcastPlan,
): string[] {
  const locales = new Set(
    parts.flatMap(({ template, ...part }) =>
      part.subject || part.previewText ? Object.keys(template?.subjects ?? {}) : [],
    ),
  );
  if (!locales.size) return [];
  const fields = [...(subject ? ["subject"] : []), ...(previewText ? ["previewText"] : [])];
  const given = fields.join(" and ") || "subject or previewText in its variants";
  return [
    `The campaign has one ${given} for all languages, also for ` +
      `${[...locales].join(", ")}: leave them out to use those of the template`,
  ];
}

const noticeWarning =
  "A notice also goes to contacts who unsubscribed: use it only for what you must tell them";

const missingAddressWarning =
  "Marketing mail must show a postal address in many countries: set physicalAddress on the " +
  "site or with PUT /compliance";

const describeUnknown = (names: string[]): string =>
  `No contact of the site has a field for these variables: ${names.slice(0, 20).join(", ")}`;

/** Throws 400 that names the variables, if the campaign is strict. */
export async function requireVariables(
  campaign: StoredCampaign,
  plan: BroadcastPlan,
): Promise<void> {
  if (!campaign.strict) return;
  const unknown = await listUnknownVariables(campaign.orgId, plan);
  if (unknown.length) throw variablesMissing(describeUnknown(unknown), unknown);
  const gaps = await findSampleGaps(campaign, plan);
  const described = describeSampleGaps(gaps);
  if (described !== undefined) throw variablesMissing(described, [...new Set(gaps.flat())]);
}

/** Throws 400 if two variants have the same content: a test of them has no meaning. */
export function requireDifferentVariants({ variants, ...campaign }: StoredCampaign): void {
  const names = new Map<string, string>();
  for (const { name, htmlVersion, ...variant } of variants) {
    if (htmlVersion !== undefined) continue;
    const content = JSON.stringify([
      variant.subject ?? campaign.subject,
      variant.templateId ?? campaign.templateId,
      variant.previewText ?? campaign.previewText,
    ]);
    const other = names.get(content);
    if (other !== undefined)
      throw invalid(
        `Variants ${other} and ${name} are equal: give them different subjects or templates`,
        { details: [{ path: "variants", message: "must differ from each other" }] },
      );
    names.set(content, name);
  }
}

const variablesMissing = (message: string, names: string[]) =>
  invalid(message, {
    code: "variables_missing",
    details: names.slice(0, 20).map((name) => ({ path: name, message: "has no value" })),
  });

/**
 * For each sample of the audience, the required variables that it has no value for. They are not
 * rendered, because rendering would make the bundle of the campaigns too large.
 */
async function findSampleGaps(campaign: StoredCampaign, plan: BroadcastPlan): Promise<string[][]> {
  const required = await Promise.all(
    plan.parts.map((part) => listRequiredVariables(campaign.orgId, part)),
  );
  if (!required.flat().length) return [];
  const query = await buildRecipientQuery(campaign.orgId, plan);
  const contacts = await readSampleContacts(query);
  return contacts.map((contact) => {
    const part = assignPart(campaign, plan, contact.id) ?? plan.parts[0]!;
    const variables = {
      ...{ email: contact.email, name: nameOfContact(contact) },
      ...plan.variables,
      ...toContactVariables(contact),
    };
    const names = required[plan.parts.indexOf(part)]!;
    return [...new Set(names)].filter(
      (path) =>
        !linkVariables.has(path) &&
        !isBrandPath(path) &&
        !((plan.feedUrl || plan.feed) && isFeed(path)) &&
        !liquid.hasVariable(variables, path),
    );
  });
}

/** Whether it has a value is known when it is fetched. */
const isFeed = (path: string): boolean => /^feed\b/.test(path);

/** Set for every email. */
const linkVariables = new Set([
  ...["unsubscribeUrl", "preferencesUrl", "browserUrl", "contactToken", "postalAddress"],
]);

/** Set for every contact, or fields that every contact can have. In lower case. */
const builtInNames = new Set(
  (
    "email name firstname lastname phone company timezone locale " +
    "unsubscribeurl preferencesurl browserurl contacttoken postaladdress"
  ).split(" "),
);

/** The required variables that are no fields of contacts. */
async function listUnknownVariables(
  orgId: number,
  { siteId, parts, variables = {}, feedUrl, feed }: BroadcastPlan,
): Promise<string[]> {
  const [isCustomField, ...required] = await Promise.all([
    createNameTest(orgId, siteId),
    ...parts.map((part) => listRequiredVariables(orgId, part)),
  ]);
  const isKnown = (path: string): boolean => {
    if (isBrandPath(path)) return true;
    const [first = ""] = path.split(/[.[]/);
    const field = ownFieldIn(path);
    if (first.toLowerCase() === "customfields") return !field || isCustomField(field);
    if ((feedUrl || feed) && isFeed(path)) return true;
    return builtInNames.has(first.toLowerCase()) || first in variables || isCustomField(first);
  };
  return [...new Set(required.flat())].filter((path) => !isKnown(path));
}

/** The field in `customFields.city` or `customFields["Last purchase"]`. */
function ownFieldIn(path: string): string | undefined {
  const [, word, , quoted] = /^\w+\s*(?:\.\s*([^.[]+)|\[\s*(["'])(.*?)\2\s*\])/.exec(path) ?? [];
  return word ?? quoted;
}

async function listRequiredVariables(
  orgId: number,
  { id, template, htmlVersion, snippets: pinned, subject, previewText }: BroadcastPart,
): Promise<string[]> {
  const snippets = pinned && (await loadSnippets(orgId, pinned));
  const html = htmlVersion && (await findVariantHtml(orgId, id!, htmlVersion));
  const written = Object.entries({ subject, previewText, html }).flatMap(([field, source]) =>
    source
      ? liquid.requiredVariables(
          liquid.compile(source, {
            ...{ escape: true, field },
            snippets: field === "html" ? (snippets ?? {}) : undefined,
          }),
        )
      : [],
  );
  if (!template) return written;
  const { variables, optional = [] } = await templates.findMeta({ orgId }, template.id);
  return [...written, ...variables.filter((name) => !optional.includes(name))];
}
