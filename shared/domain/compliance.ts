// What the law wants of marketing mail (CAN-SPAM, and its like elsewhere): who sends it, from where, and a way out.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { now } from "../clock.ts";
import { get, updateReturning, update as updating } from "../doors/table.ts";
import { keys } from "../keys.ts";
import { maxUrlLength } from "../public-urls.ts";

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
    .describe("Postal address in the footer of marketing mail, lines and all; a site's own physicalAddress comes first"),
  unsubscribeUrl: Url.nullable().describe(
    "A page of your own for the link in the footer, instead of ours. It gets `token`, to be sent on to POST /unsubscribe?token= when the person confirms",
  ),
  enabled: z.boolean().describe("true: marketing mail is refused as long as no physical address is known. The footer is there in any case"),
};

export const Compliance = z.object({ ...fields, updatedAt: z.string().nullable() }).meta({ id: "Compliance" });
export type Compliance = z.output<typeof Compliance>;

export const ComplianceChanges = z
  .object(fields)
  .partial()
  .meta({ examples: [{ physicalAddress: "My shop Ltd\n1 High Street\nLondon", enabled: true }] });
export type ComplianceChanges = z.output<typeof ComplianceChanges>;

const unset: Compliance = { physicalAddress: null, unsubscribeUrl: null, enabled: false, updatedAt: null };

export async function find(orgId: number): Promise<Compliance> {
  return { ...unset, ...(await get<Compliance>(keys.compliance(orgId))) };
}

/** Fields that are not given stay as they are. */
export async function change({ orgId }: Pick<Caller, "orgId">, { physicalAddress, ...changes }: ComplianceChanges): Promise<Compliance> {
  const address = physicalAddress === undefined ? {} : { physicalAddress: physicalAddress || null };
  const set = { ...changes, ...address, updatedAt: now().toISOString() };
  return { ...unset, ...(await updateReturning<Compliance>(updating(keys.compliance(orgId), { set }))) };
}
