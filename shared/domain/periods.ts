// Months in which mails are counted: those of a subscription, or the calendar's in UTC.

/** ISO 8601; the end is the next one's start. */
export interface Period {
  start: string;
  end: string;
}

/** The month around `at`, counted from `anchor` (ISO 8601). A month without the anchor's day begins on its last one, as Stripe has it. */
export function periodOf(anchor: string | undefined, at: Date): Period {
  const first = anchor ? new Date(anchor) : new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1));
  const months = (at.getUTCFullYear() - first.getUTCFullYear()) * 12 + at.getUTCMonth() - first.getUTCMonth();
  const begun = monthsAfter(first, months) <= at ? months : months - 1;
  return { start: monthsAfter(first, begun).toISOString(), end: monthsAfter(first, begun + 1).toISOString() };
}

function monthsAfter(first: Date, months: number): Date {
  const lastDay = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + months + 1, 0)).getUTCDate();
  const at = new Date(first);
  at.setUTCMonth(first.getUTCMonth() + months, Math.min(first.getUTCDate(), lastDay));
  return at;
}
