// Whether a provider has reported anything about emails that were sent.

interface SentEmails {
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
  unsubscribed: number;
}

/** False while emails were sent and nothing is known about them. */
export const isReported = (counts: SentEmails): boolean => {
  const { sent, delivered, opened, clicked, bounced, complained, unsubscribed } = counts;
  return sent === 0 || delivered + opened + clicked + bounced + complained + unsubscribed > 0;
};

interface ReportedDay {
  date: string;
  sent: number;
  delivered: number;
  bounced: number;
}

/** The days from the first report of a provider. `since` is undefined if all days are. */
export function daysOfReports<Day extends ReportedDay>(
  days: readonly Day[],
  firstReports: readonly (string | null)[],
  timeZone: string,
): { days: Day[]; since: string | undefined } {
  const first = firstReports.filter((at) => at !== null).toSorted()[0];
  // "2026-11-24", as days are named.
  const since = first && new Date(first).toLocaleDateString("en-CA", { timeZone });
  const known = since === undefined ? [...days] : days.filter(({ date }) => date >= since);
  return { days: known, since: known.length < days.length ? since : undefined };
}
