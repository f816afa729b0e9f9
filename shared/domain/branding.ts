// Whether mails end with a line that says what they were sent with, which makes those beyond the plan cheaper.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { config } from "../config.ts";
import { get, updateReturning, update as updating } from "../doors/table.ts";
import { keys } from "../keys.ts";
import { brandingDiscountPercent, priceOfMail } from "../plans.ts";
import type { Account } from "./allowance.ts";
import { amountPerCent } from "./credits.ts";
import { htmlFooter, textFooter } from "./sending/branding.ts";

export const Branding = z
  .object({
    enabled: z.boolean().describe("Mails accepted from now on end with the footer, transactional ones too"),
    discountPercent: z.int().describe("Off the price of a mail beyond the plan, while enabled"),
    centsPerMail: z.number().describe("What such a mail costs now, in US cents"),
    footer: z
      .object({ html: z.string(), text: z.string() })
      .describe("In English; the mail's own language is taken where it is German, French or Spanish"),
  })
  .meta({ id: "Branding" });
export type Branding = z.output<typeof Branding>;

export const BrandingChange = z.object({ enabled: z.boolean() }).meta({ examples: [{ enabled: true }] });

export const find = async (orgId: number): Promise<Branding> => shown(await get<Account>(keys.account(orgId)));

export const change = async ({ orgId }: Pick<Caller, "orgId">, { enabled }: z.output<typeof BrandingChange>): Promise<Branding> =>
  shown(await updateReturning<Account>(updating(keys.account(orgId), { set: { branded: enabled } })));

function shown({ branded = false }: Account = {}): Branding {
  const footer = { html: htmlFooter(config.brandingUrl, "en"), text: textFooter(config.brandingUrl, "en") };
  return { enabled: branded, discountPercent: brandingDiscountPercent, centsPerMail: priceOfMail(branded) / amountPerCent, footer };
}
