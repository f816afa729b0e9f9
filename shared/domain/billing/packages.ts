// Credits to buy. One credit is 0.1 US cent, however many are bought.
import * as z from "zod";

export const CreditPackage = z
  .object({
    id: z.string(),
    credits: z.int(),
    priceCents: z.int().describe("US cents"),
    mails: z.int().describe("Mails beyond the plan that they pay for"),
  })
  .meta({ id: "CreditPackage" });
export type CreditPackage = z.output<typeof CreditPackage>;

const creditsPerCent = 10;

export const packages: CreditPackage[] = [10_000, 50_000, 200_000, 1_000_000].map((credits) => ({
  id: `credits_${credits}`,
  credits,
  priceCents: credits / creditsPerCent,
  mails: credits,
}));

export const packageIds = packages.map(({ id }) => id) as [string, ...string[]];
