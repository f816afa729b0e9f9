import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SystemHealth } from "pennymail";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { capitalize, formatAgo, formatNumber, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FieldList } from "../../parts/field-list.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";

/** The state of the whole installation, for its operators. */
export function System() {
  const { data, error } = useQuery(queries.systemHealth());
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={240} />;
  return (
    <>
      <Summary health={data} />
      <Lanes lanes={data.lanes} />
      <Queues rows={data.messageQueues} />
      <DueWork dueWork={data.dueWork} />
    </>
  );
}

function Summary({ health }: { health: SystemHealth }) {
  const { timezone } = useMe().organization;
  const { problems, version, node, schedules, checkedAt } = health;
  return (
    <Card title={t("System")}>
      <p className="quiet">
        {t(
          "The whole installation, with all organizations. Read {checkedAt} " +
            "({timezone}), and again every 15 seconds.",
          { checkedAt: formatTime(checkedAt, timezone), timezone },
        )}
      </p>
      {problems.length === 0 ? (
        <p>
          <StatusMark status={t("All is well")} tone="good" />
        </p>
      ) : (
        <ul className="checks">
          {problems.map(({ code, message }) => (
            <li key={message}>
              <StatusMark status={code} tone="bad" />
              <span>{message}</span>
            </li>
          ))}
        </ul>
      )}
      <FieldList
        fields={[
          [t("Version"), version],
          ["Node", node],
          ...schedules.map(
            ({ name, lastRunAt }) =>
              [t("Last run of {name}", { name }), formatAgo(lastRunAt, timezone)] as const,
          ),
        ]}
      />
    </Card>
  );
}

type Lane = SystemHealth["lanes"][number];

const laneTones = { running: "info", paused: "warn", failing: "bad" } as const;

function Lanes({ lanes }: Pick<SystemHealth, "lanes">) {
  const { timezone } = useMe().organization;
  const columns: PlainColumn<Lane>[] = [
    {
      label: t("Sender"),
      render: ({ organizationId, sendingConfigId }) => (
        <>
          {t("Sending config {id}", { id: sendingConfigId })}
          <small>{t("Organization {id}", { id: organizationId })}</small>
        </>
      ),
    },
    {
      label: t("State"),
      render: ({ state, failingSince, resumesAt }) => (
        <>
          <StatusMark status={state} tone={laneTones[state]} />
          {failingSince && (
            <small>
              {t("Since {failingSince}", { failingSince: formatTime(failingSince, timezone) })}
            </small>
          )}
          {resumesAt && (
            <small>
              {t("Tries again {resumesAt}", { resumesAt: formatTime(resumesAt, timezone) })}
            </small>
          )}
        </>
      ),
    },
    {
      label: t("Emails"),
      isNumber: true,
      render: ({ emails, hasMore }) =>
        hasMore ? t("{count} or more", { count: formatNumber(emails) }) : formatNumber(emails),
    },
    {
      label: t("Oldest"),
      isWide: true,
      render: ({ oldestAt }) => (oldestAt ? formatAgo(oldestAt, timezone) : "–"),
    },
  ];
  return (
    <Card title={t("Email that waits for a provider")}>
      {lanes.length === 0 ? (
        <p className="quiet">{t("No campaign or sequence has email that waits.")}</p>
      ) : (
        <PlainTable
          label={t("Email that waits for a provider")}
          columns={columns}
          rows={lanes}
          keyOf={({ organizationId, sendingConfigId }) => `${organizationId} ${sendingConfigId}`}
        />
      )}
    </Card>
  );
}

type Queue = SystemHealth["messageQueues"][number];

/** What the messages of each queue are. */
const contents: Record<string, string> = {
  send: t("Single emails"),
  lane: t("Senders with bulk email"),
  campaigns: t("Steps of campaigns and holiday emails"),
  "fan-out": t("Audiences that are being reached"),
  drain: t("Stored work that is due"),
  "provider-events": t("Deliveries, bounces and clicks from providers"),
  forward: t("Events for webhooks"),
  submission: t("Submissions of forms"),
  advance: t("Contacts in sequences"),
  jobs: t("Imports, exports and other long work"),
  report: t("Reports by email"),
  "system-mail": t("Email to users, such as password resets"),
};

const queueColumns: PlainColumn<Queue>[] = [
  {
    label: t("Queue"),
    render: ({ name }) => (
      <>
        {contents[name] ?? capitalize(name)}
        <small className="mono">{name}</small>
      </>
    ),
  },
  { label: t("Waiting"), isNumber: true, render: ({ waiting }) => formatNumber(waiting) },
  {
    label: t("Delayed"),
    isNumber: true,
    isWide: true,
    render: ({ delayed }) => formatNumber(delayed),
  },
  {
    label: t("At work"),
    isNumber: true,
    isWide: true,
    render: ({ inProgress }) => formatNumber(inProgress),
  },
  {
    label: t("Failed for good"),
    isNumber: true,
    render: ({ deadLetters }) =>
      deadLetters === 0 ? "0" : <b className="tone-bad">{formatNumber(deadLetters)}</b>,
  },
];

const Queues = ({ rows }: { rows: Queue[] }) => (
  <Card title={t("Queues")}>
    <PlainTable label={t("Queues")} columns={queueColumns} rows={rows} keyOf={({ name }) => name} />
  </Card>
);

type Work = SystemHealth["dueWork"][number];

function DueWork({ dueWork }: Pick<SystemHealth, "dueWork">) {
  const { timezone } = useMe().organization;
  const columns: PlainColumn<Work>[] = [
    { label: t("Kind"), render: ({ kind }) => capitalize(kind) },
    { label: t("Next or oldest"), render: ({ oldestDueAt }) => formatTime(oldestDueAt, timezone) },
    {
      label: t("Late"),
      isNumber: true,
      render: ({ lateSeconds }) =>
        lateSeconds < 60
          ? t("No")
          : t("{count, plural, one {# minute} other {# minutes}}", {
              count: Math.floor(lateSeconds / 60),
            }),
    },
  ];
  return (
    <Card title={t("Stored work")}>
      <p className="quiet">
        {t(
          "What has to be done at a time. A schedule looks every minute; a few " +
            "minutes late is normal.",
        )}
      </p>
      {dueWork.length === 0 ? (
        <p className="quiet">{t("There is none now.")}</p>
      ) : (
        <PlainTable
          label={t("Stored work")}
          columns={columns}
          rows={dueWork}
          keyOf={({ kind }) => kind}
        />
      )}
    </Card>
  );
}
