import { Button, Skeleton } from "@mantine/core";
import {
  IconAlertTriangle,
  IconArrowMerge,
  IconClick,
  IconEye,
  IconForms,
  IconMail,
  IconMailOpened,
  IconPointFilled,
  IconTag,
  IconUserMinus,
  IconUserPlus,
  IconWorld,
} from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { TimelineEntry } from "pennymail";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatAgo, formatTime } from "../../format.ts";
import { ofService, t } from "../../language/translate.ts";
import { ErrorNote } from "../../parts/error-note.tsx";

type EntryType = TimelineEntry["type"];

const icons: Partial<Record<EntryType, typeof IconMail>> = {
  created: IconUserPlus,
  tag_added: IconTag,
  list_joined: IconTag,
  contact_merged: IconArrowMerge,
  form_submitted: IconForms,
  form_confirmed: IconForms,
  page_view: IconWorld,
  suppressed: IconAlertTriangle,
  email_accepted: IconMail,
  email_sent: IconMail,
  email_delivered: IconMail,
  email_open: IconEye,
  email_click: IconClick,
  email_bounce: IconAlertTriangle,
  email_spam_report: IconAlertTriangle,
  email_failed: IconAlertTriangle,
  email_dropped: IconAlertTriangle,
  email_unsubscribe: IconUserMinus,
  email_replied: IconMailOpened,
  email_received: IconMailOpened,
};
const isBad = (type: EntryType): boolean => icons[type] === IconAlertTriangle;

/** Everything that is known to have happened with a contact, newest first. */
export function ContactTimeline({ contactId }: { contactId: number }) {
  const { timezone } = useMe().organization;
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    queries.timeline(contactId),
  );
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={200} mt={14} />;
  const entries = data.pages.flatMap((page) => page.entries);
  return (
    <>
      <ol className="timeline">
        {entries.map((entry, index) => (
          <Entry key={`${index} ${entry.at}`} entry={entry} timezone={timezone} />
        ))}
      </ol>
      <ErrorNote error={error} />
      {hasNextPage && (
        <Button
          variant="default"
          size="xs"
          loading={isFetchingNextPage}
          onClick={() => fetchNextPage()}
        >
          {t("Show earlier")}
        </Button>
      )}
    </>
  );
}

function Entry({ entry, timezone }: { entry: TimelineEntry; timezone: string }) {
  const { type, at, send, details } = entry;
  const summary = ofService(entry.summary);
  const Icon = icons[type] ?? IconPointFilled;
  return (
    <li className={isBad(type) ? "bad" : ""}>
      <Icon stroke={1.6} aria-hidden />
      <div>
        <p>{send ? <SendLink send={send}>{summary}</SendLink> : summary}</p>
        {(details.reason ?? details.url) && <small>{details.reason ?? details.url}</small>}
        {details.properties && <Properties properties={details.properties} />}
      </div>
      <time dateTime={at} title={formatTime(at, timezone)}>
        {formatAgo(at, timezone)}
      </time>
    </li>
  );
}

const shortTextLength = 80;

/** The properties of a custom event. Many of them open on demand. */
function Properties({ properties }: { properties: Record<string, unknown> }) {
  const names = Object.keys(properties);
  if (!names.length) return null;
  const line = names.map((name) => `${name}: ${textOf(properties[name])}`).join(", ");
  if (line.length <= shortTextLength) return <small>{line}</small>;
  return (
    <details>
      <summary>
        {t("{count, plural, one {# property} other {# properties}}", { count: names.length })}
      </summary>
      <dl>
        {names.map((name) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{textOf(properties[name])}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

interface SendLinkProps {
  send: { id: number };
  children: string;
}

function SendLink({ send, children }: SendLinkProps) {
  return (
    <Link to="/log" search={{ send: send.id }}>
      {children}
    </Link>
  );
}
