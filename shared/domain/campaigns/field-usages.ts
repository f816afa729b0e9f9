// Finds the records that use a custom field of contacts, so that a user knows them before the field
// is changed or deleted. Rules of lead scoring and topics ask for no fields.
import * as z from "zod";
import { type Condition, equals, greaterThan, not } from "../../adapters/dynamodb/conditions.ts";
import { get } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { addSeconds } from "../../clock.ts";
import * as liquid from "../../email/liquid.ts";
import { inGroups } from "../../kernel/parallel.ts";
import { RecordId } from "../../kernel/record-fields.ts";
import { keys, type RecordKind } from "../../keys.ts";
import type { ImportProgress, ImportRecord } from "../audience/imports/import-record.ts";
import {
  isRules,
  type SegmentCondition,
  type SegmentRules,
} from "../audience/segments/segment-rules.ts";
import type { Segment } from "../audience/segments/segments.ts";
import { goalRulesOf, rulesOf } from "../automation/sequence-references.ts";
import type { SequenceItem } from "../automation/sequence-schema.ts";
import type { ActionConfig } from "../automation/step-actions/action-config.ts";
import * as stepGraphStore from "../automation/step-graph-store.ts";
import type { TemplateMeta } from "../content/template-schema.ts";
import type { FormItem } from "../forms/form-schema.ts";
import * as forms from "../forms/forms.ts";
import * as sites from "../identity/sites.ts";
import type { StoredCampaign } from "./stored-campaign.ts";
import { recordsOf, stillToSend } from "./usage-search.ts";
import * as variantHtml from "./variant-html.ts";

const useKinds = ["segment", "sequence", "template", "campaign", "form", "import"] as const;

const FieldUse = z
  .object({
    kind: z.enum(useKinds).describe("Kind of the record."),
    id: RecordId.describe("Id of the record."),
    name: z.string().describe("Name of the record."),
    message: z.string().describe("How it uses the field."),
  })
  .meta({ id: "FieldUse" });
export type FieldUse = z.output<typeof FieldUse>;

const maxUses = 100;

export const FieldUses = z.object({
  uses: z.array(FieldUse).max(maxUses).describe("The records that use the field."),
  complete: z
    .boolean()
    .describe(`Whether these are all. \`false\`: there are more than ${maxUses}.`),
});

interface Field {
  orgId: number;
  siteId: number;
  /** Without `customFields.`, in lower case. */
  name: string;
}

/**
 * Letter case does not count. Reads the segments, templates, forms, sequences that are not
 * archived, campaigns that are still to be sent, and running imports of the site.
 */
export async function listUses(
  caller: CallerScope,
  name: string,
  givenSiteId: number | undefined,
): Promise<z.output<typeof FieldUses>> {
  const siteId = await sites.resolveSiteId(caller, givenSiteId);
  const uses: FieldUse[] = [];
  for await (const use of usesOf({ orgId: caller.orgId, siteId, name: name.toLowerCase() })) {
    if (uses.length === maxUses) return { uses, complete: false };
    uses.push(use);
  }
  return { uses, complete: true };
}

const isRunning = ({ status }: ImportProgress): boolean =>
  status === "queued" || status === "running";

async function* usesOf(field: Field): AsyncGenerator<FieldUse> {
  yield* usersOf<Segment>(field, "SEGMENT", {
    kind: "segment",
    describe: async ({ rules }) => asksFor(rules, field) && "Its rules ask for it.",
  });
  yield* usersOf<SequenceItem>(field, "SEQUENCE", {
    kind: "sequence",
    condition: not(equals("status", "archived")),
    describe: async (sequence) => {
      const { filter, field: watched } = sequence.triggerConfig ?? {};
      if (watched && isVariableOf(watched, field)) return "Its trigger watches it.";
      if (filter && asksFor(filter, field)) return "The filter of its trigger asks for it.";
      if (goalRulesOf(sequence).some(({ rules }) => asksFor(rules, field)))
        return "A goal or an exit asks for it.";
      const { steps } = await stepGraphStore.getGraph(field.orgId, sequence);
      if (steps.some((step) => rulesOf(step).some(({ rules }) => asksFor(rules, field))))
        return "A condition asks for it.";
      if (steps.some(({ waitConfig }) => isVariableOf(waitConfig?.field ?? "", field)))
        return "A step waits for its date.";
      if (steps.some(({ actionConfig }) => changes(actionConfig, field)))
        return "An action changes it.";
      return steps.some(({ previewText }) => reads(previewText, field)) && inPreviewText;
    },
  });
  yield* usersOf<TemplateMeta>(field, "TEMPLATE", {
    kind: "template",
    describe: async ({ variables }) =>
      variables.some((variable) => isVariableOf(variable, field)) && "Its text has it.",
  });
  yield* usersOf<StoredCampaign>(field, "CAMPAIGN", {
    kind: "campaign",
    condition: stillToSend,
    describe: (campaign) => describeCampaign(campaign, field),
  });
  yield* usersOf<FormItem>(field, "FORM", {
    kind: "form",
    describe: async (form) => {
      const { fields } = await forms.readDesign(form);
      return fields.some(({ name }) => name.toLowerCase() === field.name) && "It asks for it.";
    },
  });
  yield* usersOf<ImportRecord>(field, "IMPORT", {
    kind: "import",
    // An import reads its file, which is kept for a week.
    condition: greaterThan("createdAt", addSeconds(-8 * 24 * 3600).toISOString()),
    describe: async ({ id, wish, columns = [] }) => {
      const targets = [...Object.values(wish.mapping), ...columns.map(({ field: to }) => to)];
      if (!targets.some((target) => isVariableOf(target, field))) return false;
      const run = await get<ImportProgress>(keys.importRun(field.orgId, id));
      return run !== undefined && isRunning(run) && "It is running, and a column fills it.";
    },
  });
}

/** Imports have the name of their file. */
interface NamedItem {
  id: number;
  name?: string;
  filename?: string | null;
}

interface Users<T> {
  kind: FieldUse["kind"];
  condition?: Condition;
  /** How the record uses the field; false if it does not. */
  describe(record: T): Promise<string | false>;
}

const recordsAtOnce = 16;

async function* usersOf<T extends NamedItem>(
  field: Field,
  recordKind: RecordKind,
  { kind, condition, describe }: Users<T>,
): AsyncGenerator<FieldUse> {
  const records = recordsOf<T>(field, recordKind, condition);
  for await (const group of inGroups(records, recordsAtOnce)) {
    const messages = await Promise.all(group.map(describe));
    for (const [i, message] of messages.entries())
      if (message) yield { kind, id: group[i]!.id, name: nameOf(group[i]!), message };
  }
}

const nameOf = ({ name, filename }: NamedItem): string => name ?? filename ?? "";

const inPreviewText = "A preview text has it.";

async function describeCampaign(
  { orgId, subject, previewText, variants }: StoredCampaign,
  field: Field,
): Promise<string | false> {
  if ([subject, ...variants.map((variant) => variant.subject)].some((text) => reads(text, field)))
    return "A subject has it.";
  const previewTexts = [previewText, ...variants.map((variant) => variant.previewText)];
  if (previewTexts.some((text) => reads(text, field))) return inPreviewText;
  for (const { id, htmlVersion } of variants) {
    if (!htmlVersion) continue;
    const html = await variantHtml.findVariantHtml(orgId, id, htmlVersion);
    if (reads(html, field)) return "The text of a variant has it.";
  }
  return false;
}

const changes = (config: ActionConfig | null, field: Field): boolean =>
  [config?.field, ...(config?.saveResponse ?? []).map((saved) => saved.field)].some(
    (name) => name !== undefined && isVariableOf(name, field),
  );

/** Whether rules ask for the field. */
function asksFor(node: SegmentRules | SegmentCondition, field: Field): boolean {
  if (isRules(node)) return node.conditions.some((one) => asksFor(one, field));
  return isVariableOf(node.field, field);
}

/** Whether a text with Liquid has the field. */
function reads(text: string | null | undefined, field: Field): boolean {
  if (!text?.includes("{")) return false;
  const names = liquid.variableNames(liquid.compile(text, { escape: false, field: "text" }));
  return names.some((name) => isVariableOf(name, field));
}

/** Templates name a field `plan`, `customFields.plan` or `customFields["plan"]`. */
function isVariableOf(variable: string, { name }: Field): boolean {
  const path = variable.toLowerCase().replace(/^customfields(?:\.|\[")/, "");
  return path === name || ['"]', ".", "["].some((end) => path.startsWith(name + end));
}
