// Billing periods: the months of a subscription, or calendar months in UTC.

/** ISO 8601. `end` is the start of the next period. */
export interface BillingPeriod {
  start: string;
  end: string;
}

/**
 * The month that contains `at`, counted from `anchor` (ISO 8601). As at Stripe, a month without the
 * anchor's day starts on its last day.
 */
export function billingPeriodAt(anchor: string | undefined, at: Date): BillingPeriod {
  const first = anchor
    ? new Date(anchor)
    : new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1));
  const months =
    (at.getUTCFullYear() - first.getUTCFullYear()) * 12 + at.getUTCMonth() - first.getUTCMonth();
  const elapsedMonths = addMonths(first, months) <= at ? months : months - 1;
  return {
    start: addMonths(first, elapsedMonths).toISOString(),
    end: addMonths(first, elapsedMonths + 1).toISOString(),
  };
}

function addMonths(first: Date, months: number): Date {
  const lastDay = new Date(
    Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + months + 1, 0),
  ).getUTCDate();
  const at = new Date(first);
  at.setUTCMonth(first.getUTCMonth() + months, Math.min(first.getUTCDate(), lastDay));
  return at;
}
