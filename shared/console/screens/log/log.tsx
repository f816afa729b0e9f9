import { ActionIcon, Button, Select, Skeleton, TextInput } from "@mantine/core";
import { useDebouncedValue, useHotkeys } from "@mantine/hooks";
import { IconSearch, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ListSendsQuery, Send } from "pennymail";
import { useEffect, useRef, useState } from "react";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useSite } from "../../data/session.ts";
import { capitalize, formatAgo, formatNumber } from "../../format.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { SendPanel } from "./send-panel.tsx";

const statuses = [
  "scheduled",
  "queued",
  "sending",
  "sent",
  "delivered",
  "failed",
  "uncertain",
  "cancelled",
] as const satisfies ListSendsQuery["status"][];
const looksComplete = (address: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(address);

/** Every email, with what happened to it. */
export function Log() {
  const search = useSearch({ from: "/shell/log" });
  const navigate = useNavigate({ from: "/log" });
  const { site } = useSite();
  const { timezone } = useMe().organization;
  const [lastVisible, setLastVisible] = useState(0);
  const { rows, total, hasMore, error, isStale } = usePagedRows(
    queries.sends({
      ...(site && { siteId: site.id }),
      ...(search.email && { email: search.email }),
      ...(search.status && { status: search.status as (typeof statuses)[number] }),
    }),
    ({ sends }) => sends,
    lastVisible,
  );
  const open = (send?: { id: number }) =>
    navigate({ search: (old) => ({ ...old, send: send?.id }) });
  const count = total == null ? undefined : `${formatNumber(total)} emails`;
  return (
    <div className={search.send ? "split with-drawer" : "split"}>
      <div className="page list-page log-page">
        <PageHead title="Log" note={count ?? "Emails and what happened to them"} />
        <Filters />
        {search.email && site && <WhyAnswer siteId={site.id} email={search.email} />}
        <ErrorNote error={error} />
        <div className={isStale ? "list-box stale" : "list-box"}>
          <RowTable
            label="Emails"
            columns={columnsIn(timezone)}
            rows={rows}
            total={total}
            hasMore={hasMore || (total === undefined && !error)}
            openId={search.send}
            onOpen={open}
            onScroll={setLastVisible}
            empty={<Empty isFiltered={Boolean(search.email || search.status)} />}
          />
        </div>
      </div>
      {search.send !== undefined && (
        <SendPanel key={search.send} id={search.send} onClose={() => open()} />
      )}
    </div>
  );
}

const columnsIn = (timezone: string): Column<Send>[] => [
  {
    label: "Recipient",
    className: "c-main",
    render: ({ toEmail, subject }) => (
      <span className="who">
        <b>{toEmail}</b>
        <span>{subject}</span>
      </span>
    ),
  },
  {
    label: "Status",
    className: "c-status",
    render: ({ status }) => <StatusMark status={status} />,
  },
  {
    label: "Origin",
    className: "c-tags quiet",
    render: ({ campaignId, sequenceId, holidayId, batchId }) => {
      if (campaignId) return `Campaign ${campaignId}`;
      if (sequenceId) return `Sequence ${sequenceId}`;
      if (holidayId) return `Holiday ${holidayId}`;
      return batchId ? `Batch ${batchId}` : "API";
    },
  },
  {
    label: "Accepted",
    className: "c-when quiet",
    render: ({ createdAt }) => formatAgo(createdAt, timezone),
  },
];

function Filters() {
  const search = useSearch({ from: "/shell/log" });
  const navigate = useNavigate({ from: "/log" });
  const change = (next: Partial<typeof search>) =>
    navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(search.email ?? "");
  const [typed] = useDebouncedValue(text.trim(), 300);
  useEffect(() => {
    // The index finds whole addresses only.
    if (typed !== (search.email ?? "") && (!typed || looksComplete(typed)))
      change({ email: typed || undefined });
  }, [typed]);
  useHotkeys([["/", () => input.current?.focus()]]);
  return (
    <search className="filters">
      <TextInput
        ref={input}
        className="grow"
        aria-label="Email address of a recipient"
        placeholder="Why did bob@example.com not get it?"
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={
          text ? (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label="Clear search"
              onClick={() => setText("")}
            >
              <IconX size={14} />
            </ActionIcon>
          ) : (
            <kbd>/</kbd>
          )
        }
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Select
        aria-label="Status"
        placeholder="Any status"
        clearable
        clearButtonProps={{ "aria-label": "Any status" }}
        w={150}
        data={statuses.map((value) => ({ value, label: capitalize(value) }))}
        value={search.status ?? null}
        onChange={(status) => change({ status: status ?? undefined })}
      />
    </search>
  );
}

/** The answer about an address, before anybody reads rows. */
function WhyAnswer({ siteId, email }: { siteId: number; email: string }) {
  const { data, error } = useQuery(queries.why(siteId, email));
  if (error) return <ErrorNote error={error} />;
  if (!data) return <Skeleton h={72} />;
  return (
    <section className="answer" aria-label={`Answer about ${email}`} aria-live="polite">
      <StatusMark status={data.reason} />
      <p>{data.answer}</p>
      <p className="quiet">{data.nextStep}</p>
    </section>
  );
}

function Empty({ isFiltered }: { isFiltered: boolean }) {
  const navigate = useNavigate({ from: "/log" });
  if (!isFiltered)
    return (
      <div className="empty">
        <h2>No email yet</h2>
        <p>Campaigns, sequences and programs that call POST /api/v1/send fill this list.</p>
      </div>
    );
  return (
    <div className="empty">
      <h2>No email matches</h2>
      <p>The list goes back 90 days for an address.</p>
      <Button variant="default" onClick={() => navigate({ search: {} })}>
        Clear filters
      </Button>
    </div>
  );
}
