import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SystemHealth } from "pennymail";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { capitalize, countOf, formatAgo, formatNumber, formatTime } from "../../format.ts";
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
    <Card title="System">
      <p className="quiet">
        The whole installation, with all organizations. Read {formatTime(checkedAt, timezone)} (
        {timezone}), and again every 15 seconds.
      </p>
      {problems.length === 0 ? (
        <p>
          <StatusMark status="all is well" tone="good" />
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
          ["Version", version],
          ["Node", node],
          ...schedules.map(
            ({ name, lastRunAt }) =>
              [`Last run of ${name}`, formatAgo(lastRunAt, timezone)] as const,
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
      label: "Sender",
      render: ({ organizationId, sendingConfigId }) => (
        <>
          Sending config {sendingConfigId}
          <small>Organization {organizationId}</small>
        </>
      ),
    },
    {
      label: "State",
      render: ({ state, failingSince, resumesAt }) => (
        <>
          <StatusMark status={state} tone={laneTones[state]} />
          {failingSince && <small>Since {formatTime(failingSince, timezone)}</small>}
          {resumesAt && <small>Tries again {formatTime(resumesAt, timezone)}</small>}
        </>
      ),
    },
    {
      label: "Emails",
      isNumber: true,
      render: ({ emails, hasMore }) => `${formatNumber(emails)}${hasMore ? " or more" : ""}`,
    },
    {
      label: "Oldest",
      isWide: true,
      render: ({ oldestAt }) => (oldestAt ? formatAgo(oldestAt, timezone) : "–"),
    },
  ];
  return (
    <Card title="Email that waits for a provider">
      {lanes.length === 0 ? (
        <p className="quiet">No campaign or sequence has email that waits.</p>
      ) : (
        <PlainTable
          label="Email that waits for a provider"
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
  send: "Single emails",
  lane: "Senders with bulk email",
  campaigns: "Steps of campaigns and holiday emails",
  "fan-out": "Audiences that are being reached",
  drain: "Stored work that is due",
  "provider-events": "Deliveries, bounces and clicks from providers",
  forward: "Events for webhooks",
  submission: "Submissions of forms",
  advance: "Contacts in sequences",
  jobs: "Imports, exports and other long work",
  report: "Reports by email",
  "system-mail": "Email to users, such as password resets",
};

const queueColumns: PlainColumn<Queue>[] = [
  {
    label: "Queue",
    render: ({ name }) => (
      <>
        {contents[name] ?? capitalize(name)}
        <small className="mono">{name}</small>
      </>
    ),
  },
  { label: "Waiting", isNumber: true, render: ({ waiting }) => formatNumber(waiting) },
  {
    label: "Delayed",
    isNumber: true,
    isWide: true,
    render: ({ delayed }) => formatNumber(delayed),
  },
  {
    label: "At work",
    isNumber: true,
    isWide: true,
    render: ({ inProgress }) => formatNumber(inProgress),
  },
  {
    label: "Failed for good",
    isNumber: true,
    render: ({ deadLetters }) =>
      deadLetters === 0 ? "0" : <b className="tone-bad">{formatNumber(deadLetters)}</b>,
  },
];

const Queues = ({ rows }: { rows: Queue[] }) => (
  <Card title="Queues">
    <PlainTable label="Queues" columns={queueColumns} rows={rows} keyOf={({ name }) => name} />
  </Card>
);

type Work = SystemHealth["dueWork"][number];

function DueWork({ dueWork }: Pick<SystemHealth, "dueWork">) {
  const { timezone } = useMe().organization;
  const columns: PlainColumn<Work>[] = [
    { label: "Kind", render: ({ kind }) => capitalize(kind) },
    { label: "Next or oldest", render: ({ oldestDueAt }) => formatTime(oldestDueAt, timezone) },
    {
      label: "Late",
      isNumber: true,
      render: ({ lateSeconds }) =>
        lateSeconds < 60 ? "No" : countOf(Math.floor(lateSeconds / 60), "minute"),
    },
  ];
  return (
    <Card title="Stored work">
      <p className="quiet">
        What has to be done at a time. A schedule looks every minute; a few minutes late is normal.
      </p>
      {dueWork.length === 0 ? (
        <p className="quiet">There is none now.</p>
      ) : (
        <PlainTable
          label="Stored work"
          columns={columns}
          rows={dueWork}
          keyOf={({ kind }) => kind}
        />
      )}
    </Card>
  );
}
