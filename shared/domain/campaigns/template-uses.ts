// What uses a template: sequences, and campaigns and holidays that are still to be sent.
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { RecordId } from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import type { StoredTemplate } from "../content/templates.ts";
import { type UsedBy, usersOf } from "./usage-search.ts";

const kinds = {
  sequences: "sequence",
  campaigns: "campaign",
  recurringCampaigns: "recurring_campaign",
  holidays: "holiday",
} as const;
type Kind = (typeof kinds)[keyof typeof kinds];

export const TemplateUse = z
  .object({
    kind: z.enum(Object.values(kinds) as [Kind, ...Kind[]]).describe("What uses the template."),
    id: RecordId.describe("Its id."),
    name: z.string().describe("Its name."),
    status: z.string().describe("Its status, such as `active` or `draft`."),
  })
  .meta({ id: "TemplateUse" });
type TemplateUse = z.output<typeof TemplateUse>;

const maxShown = 100;

/** The first 100. */
export async function listUses(caller: CallerScope, id: number): Promise<TemplateUse[]> {
  const { siteId, name } = await records.find<StoredTemplate>("TEMPLATE", caller, id);
  const uses: TemplateUse[] = [];
  for await (const { usedBy } of usersOf({
    orgId: caller.orgId,
    kind: "TEMPLATE",
    ...{ id, siteId, name },
  })) {
    if (usedBy && isKind(usedBy.collection)) uses.push(toUse(usedBy, kinds[usedBy.collection]));
    if (uses.length >= maxShown) break;
  }
  return uses;
}

const isKind = (collection: string): collection is keyof typeof kinds => collection in kinds;

const toUse = ({ id, name, status = "" }: UsedBy, kind: Kind): TemplateUse => ({
  kind,
  id,
  name,
  status,
});
