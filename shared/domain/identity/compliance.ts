// Settings that laws such as CAN-SPAM require for marketing mail: the sender's postal address and a
// way to unsubscribe.
import * as z from "zod";
import { get, update, updateReturning } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { now } from "../../clock.ts";
import { maxUrlLength } from "../../kernel/public-urls.ts";
import { Timestamp } from "../../kernel/record-fields.ts";
import { keys } from "../../keys.ts";

const Url = z
  .string()
  .max(maxUrlLength)
  .refine((url) => URL.parse(url)?.protocol === "https:", "must begin with https://");

const fields = {
  physicalAddress: z
    .string()
    .trim()
    .max(500)
    .nullable()
    .describe(
      "Postal address in the footer of marketing email, with line breaks. `physicalAddress` " +
        "of a site takes precedence.",
    ),
  unsubscribeUrl: Url.nullable().describe(
    "Your own unsubscribe page, used in the footer instead of the built-in one. It gets a " +
      "`token`: pass it to POST /unsubscribe?token= when the recipient confirms.",
  ),
  enabled: z
    .boolean()
    .describe(
      "Whether marketing email without a physical address is refused. The footer is added in " +
        "any case, without what the email shows itself: `{{ unsubscribeUrl }}` and " +
        "`{{ postalAddress }}`.",
    ),
};

export const Compliance = z
  .object({
    ...fields,
    updatedAt: Timestamp.nullable().describe("When the settings last changed. `null`: never."),
  })
  .meta({ id: "Compliance" });
export type Compliance = z.output<typeof Compliance>;

export const ComplianceChanges = z
  .object(fields)
  .partial()
  .meta({ examples: [{ physicalAddress: "My shop Ltd\n1 High Street\nLondon", enabled: true }] });
export type ComplianceChanges = z.output<typeof ComplianceChanges>;

const defaults: Compliance = {
  physicalAddress: null,
  unsubscribeUrl: null,
  enabled: false,
  updatedAt: null,
};

export async function getCompliance(orgId: number): Promise<Compliance> {
  return { ...defaults, ...(await get<Compliance>(keys.compliance(orgId))) };
}

export async function change(
  { orgId }: Pick<Caller, "orgId">,
  { physicalAddress, ...changes }: ComplianceChanges,
): Promise<Compliance> {
  const address = physicalAddress === undefined ? {} : { physicalAddress: physicalAddress || null };
  const set = { ...changes, ...address, updatedAt: now().toISOString() };
  return {
    ...defaults,
    ...(await updateReturning<Compliance>(update(keys.compliance(orgId), { set }))),
  };
}
