// Figures and wording of a report mail, for its HTML and its plain text.
import { formatPercent } from "../../kernel/rates.ts";
import type { ReportFrequency } from "./report-dates.ts";
import type { ReportDigest } from "./report-digest.ts";

export interface ScheduleReference {
  id: number;
  /** The URL of the schedule in the API. */
  url: string;
}

export const frequencyWording: Record<
  ReportFrequency,
  { title: string; past: string; when: string }
> = {
  daily: { title: "Daily report", past: "the day before", when: "every day" },
  weekly: { title: "Weekly report", past: "the week before", when: "every Monday" },
  monthly: {
    title: "Monthly report",
    past: "the month before",
    when: "on the first of every month",
  },
};

export const formatCount = (n: number): string => n.toLocaleString("en");

export const dateFormat = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });
export const noonUtc = (date: string): Date => new Date(`${date}T12:00:00Z`);

export const formatSpan: Record<ReportFrequency, (span: ReportDigest["range"]) => string> = {
  daily: ({ from }) =>
    dateFormat({ weekday: "long", day: "numeric", month: "long", year: "numeric" }).format(
      noonUtc(from),
    ),
  weekly: ({ from, to }) =>
    dateFormat({ day: "numeric", month: "long", year: "numeric" }).formatRange(
      noonUtc(from),
      noonUtc(to),
    ),
  monthly: ({ from }) => dateFormat({ month: "long", year: "numeric" }).format(noonUtc(from)),
};

export interface ReportFigure {
  name: string;
  value: string;
  /** For example `98 % of those sent`. */
  share?: string;
  change: string;
  /** Whether the change is an improvement. Undefined: neither better nor worse. */
  good?: boolean | undefined;
}

export function reportFigures({
  metrics,
  change,
  contacts,
  frequency,
}: ReportDigest): ReportFigure[] {
  const { past } = frequencyWording[frequency];
  const more = (by: number | null): string => {
    if (by === null) return `none ${past}`;
    if (Math.abs(by) < 0.0005) return `the same as ${past}`;
    return `${formatPercent(Math.abs(by))} ${by > 0 ? "more" : "fewer"}`;
  };
  const points = (by: number | null): string => {
    if (by === null) return "";
    if (Math.abs(by) < 0.00005) return `the same as ${past}`;
    return `${Number((Math.abs(by) * 100).toFixed(2))} points ${by > 0 ? "up" : "down"}`;
  };
  const better = (by: number | null, up = true): boolean | undefined =>
    by === null || Math.abs(by) < 0.00005 ? undefined : by > 0 === up;
  return [
    {
      name: "Sent",
      value: formatCount(metrics.sent),
      change: metrics.sent || change.sent !== null ? more(change.sent) : "nothing sent yet",
    },
    {
      name: "Delivered",
      value: formatCount(metrics.delivered),
      share: `${formatPercent(metrics.deliveryRate)} of those sent`,
      change: points(change.deliveryRate),
      good: better(change.deliveryRate),
    },
    {
      name: "Opened by people",
      value: formatCount(metrics.opened),
      share: `${formatPercent(metrics.openRate)} of those delivered`,
      change: points(change.openRate),
      good: better(change.openRate),
    },
    {
      name: "Clicked",
      value: formatCount(metrics.clicked),
      share: `${formatPercent(metrics.clickRate)} of those delivered`,
      change: points(change.clickRate),
      good: better(change.clickRate),
    },
    {
      name: "Bounced",
      value: formatCount(metrics.bounced),
      share: `${formatPercent(metrics.bounceRate)} of those sent`,
      change: points(change.bounceRate),
      good: better(change.bounceRate, false),
    },
    {
      name: "Reported as spam",
      value: formatCount(metrics.complained),
      share: `${formatPercent(metrics.complaintRate)} of those delivered`,
      change: points(change.complaintRate),
      good: better(change.complaintRate, false),
    },
    {
      name: "Unsubscribed",
      value: formatCount(metrics.unsubscribed),
      change: more(change.unsubscribed),
    },
    {
      name: "Contacts now",
      value: formatCount(contacts.total),
      change: contacts.change === null ? "" : more(contacts.change),
    },
  ];
}

export const recipientNote = ({ siteName, frequency }: ReportDigest): string =>
  "Events count on the day they were reported. You get this report " +
  `${frequencyWording[frequency].when} because someone scheduled it for this address. To ` +
  `change or stop it, ask the person who manages email for ${siteName}.`;

/** For the person who manages email. */
export const adminNote = ({ id }: ScheduleReference): string =>
  `For that person: change report schedule ${id} with PUT, or delete it with DELETE, at`;
