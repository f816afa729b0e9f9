/** The five plans, as one table of data. Rates are requests per minute and organization; prices US cents a month. */
export const plans = {
  free: { name: "Free", priceCents: 0, mailsPerMonth: 3_000, generalPerMinute: 100, sendPerMinute: 20 },
  starter: { name: "Starter", priceCents: 1_500, mailsPerMonth: 25_000, generalPerMinute: 500, sendPerMinute: 100 },
  growth: { name: "Growth", priceCents: 4_900, mailsPerMonth: 100_000, generalPerMinute: 2_000, sendPerMinute: 500 },
  business: { name: "Business", priceCents: 14_900, mailsPerMonth: 500_000, generalPerMinute: 5_000, sendPerMinute: 1_000 },
  enterprise: { name: "Enterprise", priceCents: 49_900, mailsPerMonth: 2_500_000, generalPerMinute: 10_000, sendPerMinute: 2_000 },
};

export type PlanKey = keyof typeof plans;
export const planKeys = Object.keys(plans) as [PlanKey, ...PlanKey[]];

/** A mail beyond those of the plan, in thousandths of a US cent. */
const mailPrice = 100;
export const brandingDiscountPercent = 15;

/** Thousandths of a US cent; less for a mail that carries the branding footer. */
export const priceOfMail = (branded: boolean): number => (branded ? (mailPrice * (100 - brandingDiscountPercent)) / 100 : mailPrice);
