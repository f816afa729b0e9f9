// The branding footer. While it is on, mails beyond the plan are cheaper.
import * as z from "zod";
import { get, update, updateReturning } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { config } from "../../config.ts";
import { renderBrandingHtml, renderBrandingText } from "../../email/branding-footer.ts";
import { Count } from "../../kernel/record-fields.ts";
import { keys } from "../../keys.ts";
import { brandingDiscountPercent, mailPriceInMillicents } from "../../plans.ts";
import { millicentsPerCent } from "./credits.ts";
import type { BillingAccount } from "./quota.ts";

export const Branding = z
  .object({
    enabled: z
      .boolean()
      .describe(
        "Whether emails accepted from now on end with the footer, transactional ones included.",
      ),
    discountPercent: Count.describe(
      "Discount in per cent on emails beyond the plan, while the footer is on.",
    ),
    centsPerMail: z.number().describe("Current price of an email beyond the plan, in US cents."),
    footer: z
      .object({
        html: z.string().describe("End of the HTML part."),
        text: z.string().describe("End of the plain text part."),
      })
      .describe("Footer in English. Emails in another language get it in theirs."),
  })
  .meta({ id: "Branding" });
export type Branding = z.output<typeof Branding>;

export const BrandingChange = z
  .object({
    enabled: z
      .boolean()
      .describe("`true` turns the footer on, `false` off, for emails accepted from now on."),
  })
  .meta({ examples: [{ enabled: true }] });

export const getBranding = async (orgId: number): Promise<Branding> =>
  toApi(await get<BillingAccount>(keys.account(orgId)));

export async function change(
  { orgId }: Pick<Caller, "orgId">,
  { enabled }: z.output<typeof BrandingChange>,
): Promise<Branding> {
  const account = await updateReturning<BillingAccount>(
    update(keys.account(orgId), { set: { branded: enabled } }),
  );
  return toApi(account);
}

function toApi({ branded = false }: BillingAccount = {}): Branding {
  const footer = {
    html: renderBrandingHtml(config.brandingUrl, "en"),
    text: renderBrandingText(config.brandingUrl, "en"),
  };
  return {
    enabled: branded,
    discountPercent: brandingDiscountPercent,
    centsPerMail: mailPriceInMillicents(branded) / millicentsPerCent,
    footer,
  };
}
