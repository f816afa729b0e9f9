/** The five plans, as one table of data. Rates are requests per minute and organization. */
export const plans = {
  free: { name: "Free", generalPerMinute: 100, sendPerMinute: 20 },
  starter: { name: "Starter", generalPerMinute: 500, sendPerMinute: 100 },
  growth: { name: "Growth", generalPerMinute: 2_000, sendPerMinute: 500 },
  business: { name: "Business", generalPerMinute: 5_000, sendPerMinute: 1_000 },
  enterprise: { name: "Enterprise", generalPerMinute: 10_000, sendPerMinute: 2_000 },
};

export type PlanKey = keyof typeof plans;
export const planKeys = Object.keys(plans) as [PlanKey, ...PlanKey[]];
