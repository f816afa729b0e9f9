import { ActionIcon, Button } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconChevronLeft, IconChevronRight, IconRefresh, IconSparkles } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { addDays, addMonths, dayOfWeek, listDates } from "../../../kernel/calendar-dates.ts";
import { type CalendarEntry, calendarQuery } from "../../data/campaign-calendar.ts";
import { useMe } from "../../data/session.ts";
import { formatDayOfWeek, formatLongDay, formatMonth, localTimeOf } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { StatusMark, toneOf } from "../../parts/status-mark.tsx";
import { statusName } from "../../parts/status-names.ts";

/** The campaigns of a month, by the day on which they start. A phone shows them as a list. */
export function CampaignCalendar({ siteId }: { siteId: number }) {
  const { timezone } = useMe().organization;
  const { month } = useSearch({ from: "/shell/campaigns" });
  const isPhone = useMediaQuery("(max-width: 720px)", undefined, {
    getInitialValueInEffect: false,
  });
  const today = localTimeOf(new Date().toISOString(), timezone).slice(0, 10);
  const first = `${month ?? today.slice(0, 7)}-01`;
  const weeks = weeksOf(first);
  const range = { from: weeks[0]![0]!, to: weeks.at(-1)!.at(-1)! };
  const { data, error, isPlaceholderData } = useQuery(calendarQuery(siteId, range, timezone));
  const entries = Map.groupBy(data?.entries ?? [], ({ date }) => date);
  const isLoading = data === undefined || isPlaceholderData;
  return (
    <section className="calendar" aria-busy={isLoading}>
      <MonthBar first={first} today={today} />
      <ErrorNote error={error} />
      {isPhone ? (
        <MonthList {...{ first, today, entries, isLoading }} />
      ) : (
        <MonthTable {...{ first, today, entries, weeks }} />
      )}
      <p className="hints">
        {t("Times are those of {timezone}.", { timezone })}{" "}
        {data?.isCut && t("Only 500 campaigns are shown.")}
      </p>
    </section>
  );
}

/** Whole weeks from Monday on. */
function weeksOf(first: string): string[][] {
  const start = addDays(first, -((dayOfWeek(first) + 6) % 7));
  const days = listDates({ from: start, to: addDays(addMonths(first, 1), -1) });
  const weeks = Math.ceil(days.length / 7);
  return Array.from({ length: weeks }, (_, week) =>
    Array.from({ length: 7 }, (_, day) => addDays(start, 7 * week + day)),
  );
}

function MonthBar({ first, today }: { first: string; today: string }) {
  const navigate = useNavigate({ from: "/campaigns" });
  const show = (date: string) => {
    const month = date.slice(0, 7);
    const isCurrent = month === today.slice(0, 7);
    navigate({ search: (old) => ({ ...old, month: isCurrent ? undefined : month }) });
  };
  return (
    <div className="month-bar">
      <h2 aria-live="polite">{formatMonth(first)}</h2>
      <Button variant="default" size="xs" onClick={() => show(today)}>
        {t("Today")}
      </Button>
      <ActionIcon
        variant="default"
        size={30}
        aria-label={t("Previous month")}
        onClick={() => show(addMonths(first, -1))}
      >
        <IconChevronLeft size={16} />
      </ActionIcon>
      <ActionIcon
        variant="default"
        size={30}
        aria-label={t("Next month")}
        onClick={() => show(addMonths(first, 1))}
      >
        <IconChevronRight size={16} />
      </ActionIcon>
    </div>
  );
}

interface MonthProps {
  /** The first day of the month. */
  first: string;
  today: string;
  /** By day. */
  entries: ReadonlyMap<string, CalendarEntry[]>;
}

function MonthTable({ first, today, entries, weeks }: MonthProps & { weeks: string[][] }) {
  return (
    <table className="month" aria-label={formatMonth(first)}>
      <thead>
        <tr>
          {weeks[0]!.map((day) => (
            <th key={day} scope="col">
              {formatDayOfWeek(day)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((week) => (
          <tr key={week[0]}>
            {week.map((day) => (
              <td
                key={day}
                className={day.slice(0, 7) === first.slice(0, 7) ? "" : "other-month"}
                {...(day === today && { "aria-current": "date" })}
              >
                <DayNumber day={day} />
                <DayEntries entries={entries.get(day) ?? []} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const DayNumber = ({ day }: { day: string }) => (
  <span className="day-number">
    <span aria-hidden>{Number(day.slice(-2))}</span>
    <span className="visually-hidden">{formatLongDay(day)}</span>
  </span>
);

/** More would make the days of a week very high. */
const maxShown = 3;

function DayEntries({ entries }: { entries: CalendarEntry[] }) {
  const [isOpen, setOpen] = useState(false);
  if (entries.length === 0) return null;
  const isCut = entries.length > maxShown + 1 && !isOpen;
  const shown = isCut ? entries.slice(0, maxShown) : entries;
  return (
    <ul className="day-entries">
      {shown.map((entry) => (
        <li key={`${entry.kind}${entry.id}`}>
          <EntryLink entry={entry} className={`entry status ${toneOf(entry.status)}`}>
            <span className="entry-time">{entry.time}</span>
            <span className="entry-name">{entry.name}</span>
            <KindIcon kind={entry.kind} />
            <span className="visually-hidden">{stateOf(entry)}</span>
          </EntryLink>
        </li>
      ))}
      {isCut && (
        <li>
          <button type="button" className="link-button" onClick={() => setOpen(true)}>
            {t("{count} more", { count: entries.length - maxShown })}
          </button>
        </li>
      )}
    </ul>
  );
}

function MonthList({ first, today, entries, isLoading }: MonthProps & { isLoading: boolean }) {
  const days = [...entries.keys()].filter((day) => day.slice(0, 7) === first.slice(0, 7));
  if (days.length === 0)
    return isLoading ? null : (
      <p className="quiet">{t("Nothing is planned in {month}.", { month: formatMonth(first) })}</p>
    );
  return (
    <ol className="month-list">
      {days.map((day) => (
        <li key={day} {...(day === today && { "aria-current": "date" as const })}>
          <h3>{formatLongDay(day)}</h3>
          <ul>
            {entries.get(day)!.map((entry) => (
              <li key={`${entry.kind}${entry.id}`}>
                <EntryLink entry={entry} className="list-entry">
                  <span className="entry-time">{entry.time}</span>
                  <span className="entry-name">{entry.name}</span>
                  <KindIcon kind={entry.kind} />
                  <StatusMark status={entry.status} />
                </EntryLink>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}

const kindNames = {
  campaign: "",
  series: t("Recurring"),
  holiday: t("Holiday email"),
} satisfies Record<CalendarEntry["kind"], string>;

const stateOf = ({ kind, status }: CalendarEntry): string =>
  [statusName(status), kindNames[kind]].filter(Boolean).join(", ");

function KindIcon({ kind }: Pick<CalendarEntry, "kind">) {
  if (kind === "campaign") return null;
  const Icon = kind === "series" ? IconRefresh : IconSparkles;
  return <Icon size={13} className="entry-kind" aria-hidden />;
}

interface EntryLinkProps {
  entry: CalendarEntry;
  className: string;
  children: ReactNode;
}

function EntryLink({ entry, className, children }: EntryLinkProps) {
  const { kind, id, name, time } = entry;
  const shared = { className, title: `${time} ${name}, ${stateOf(entry)}` };
  if (kind === "holiday")
    return (
      <Link to="/sequences/holidays" {...shared}>
        {children}
      </Link>
    );
  return (
    <Link to={kind === "series" ? "/recurring/$id" : "/campaigns/$id"} params={{ id }} {...shared}>
      {children}
    </Link>
  );
}
