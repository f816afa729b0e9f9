import { config } from "./config.ts";

/** Rates are requests per minute and organization; prices are US cents per month. */
export const plans = {
  free: {
    name: "Free",
    priceCents: 0,
    mailsPerMonth: 3_000,
    generalPerMinute: 100,
    sendPerMinute: 20,
  },
  starter: {
    name: "Starter",
    priceCents: 1_500,
    mailsPerMonth: 25_000,
    generalPerMinute: 500,
    sendPerMinute: 100,
  },
  growth: {
    name: "Growth",
    priceCents: 4_900,
    mailsPerMonth: 100_000,
    generalPerMinute: 2_000,
    sendPerMinute: 500,
  },
  business: {
    name: "Business",
    priceCents: 14_900,
    mailsPerMonth: 500_000,
    generalPerMinute: 5_000,
    sendPerMinute: 1_000,
  },
  enterprise: {
    name: "Enterprise",
    priceCents: 49_900,
    mailsPerMonth: 2_500_000,
    generalPerMinute: 10_000,
    sendPerMinute: 2_000,
  },
  /** For operators. Not for sale: only the setting DEFAULT_PLAN and `npm run plan` grant it. */
  unlimited: {
    name: "Unlimited",
    priceCents: 0,
    mailsPerMonth: Number.MAX_SAFE_INTEGER,
    generalPerMinute: 10_000,
    sendPerMinute: 2_000,
  },
};

export type PlanKey = keyof typeof plans;
export const planKeys = Object.keys(plans) as [PlanKey, ...PlanKey[]];

/**
 * The plan of an organization without a subscription. Undefined if the setting DEFAULT_PLAN names
 * none.
 */
export const defaultPlan = (): PlanKey | undefined =>
  planKeys.find((key) => key === config.defaultPlan);

export type OfferedPlanKey = Exclude<PlanKey, "unlimited">;
/** Plans that callers can buy. */
export const offeredPlanKeys = planKeys.filter((key) => key !== "unlimited") as [
  OfferedPlanKey,
  ...OfferedPlanKey[],
];

/** The plan's monthly allowance as the API shows it: null when there is no limit. */
export const shownAllowance = (mails: number): number | null =>
  mails === plans.unlimited.mailsPerMonth ? null : mails;

const mailPriceMillicents = 100;
export const brandingDiscountPercent = 15;

/** Price of a mail beyond the plan. Mails with the branding footer get a discount. */
export const mailPriceInMillicents = (branded: boolean): number =>
  branded ? (mailPriceMillicents * (100 - brandingDiscountPercent)) / 100 : mailPriceMillicents;
