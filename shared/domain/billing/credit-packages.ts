// Credit packages. One credit costs 0.1 US cent in every package.
import * as z from "zod";

export const CreditPackage = z
  .object({
    id: z.string(),
    credits: z.int(),
    priceCents: z.int().describe("Price in US cents."),
    mails: z.int().describe("Emails beyond the plan that the package pays for."),
  })
  .meta({ id: "CreditPackage" });
export type CreditPackage = z.output<typeof CreditPackage>;

const creditsPerCent = 10;

export const creditPackages: CreditPackage[] = [10_000, 50_000, 200_000, 1_000_000].map(
  (credits) => ({
    id: `credits_${credits}`,
    credits,
    priceCents: credits / creditsPerCent,
    mails: credits,
  }),
);

export const creditPackageIds = creditPackages.map(({ id }) => id) as [string, ...string[]];
