import { Button, Skeleton } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CampaignDetail, ListSendsQuery, Send } from "pennymail";
import { useState } from "react";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { looksComplete } from "../../parts/address.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FilterSelect, SearchBox, statusOptions } from "../../parts/filters.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { WhyAnswer } from "../log/why-answer.tsx";

type Status = Send["status"];
const statuses: Status[] = ["delivered", "failed", "sent", "queued", "uncertain", "cancelled"];

const reactionFilters = {
  opened: { opened: "true" },
  not_opened: { opened: "false" },
  clicked: { clicked: "true" },
  not_clicked: { clicked: "false" },
} as const satisfies Record<string, ListSendsQuery>;
type Reaction = keyof typeof reactionFilters;

/** The recipients of the campaign, and what became of each email. */
export function Recipients({ campaign }: { campaign: Pick<CampaignDetail, "id" | "siteId"> }) {
  const { id: campaignId, siteId } = campaign;
  const { timezone } = useMe().organization;
  const [status, setStatus] = useState<Status>();
  const [reaction, setReaction] = useState<Reaction>();
  const [email, setEmail] = useState<string>();
  const { data, error, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery(
    queries.sends({
      campaignId,
      ...(status && { status }),
      ...(reaction && reactionFilters[reaction]),
      ...(email && { email }),
    }),
  );
  const rows = data?.pages.flatMap(({ sends }) => sends) ?? [];
  return (
    <Card title={t("Recipients")}>
      <search className="filters">
        <SearchBox
          label={t("Email address of a contact")}
          placeholder={t("Why did bob@example.com not get it?")}
          value={email}
          onSearch={setEmail}
          isSearchable={looksComplete}
        />
        <FilterSelect
          label={t("Status")}
          any={t("Any status")}
          options={statusOptions(statuses)}
          value={status}
          onChange={(value) => setStatus(value as Status | undefined)}
        />
        <FilterSelect
          label={t("Reaction")}
          any={t("Any reaction")}
          options={statusOptions(Object.keys(reactionFilters))}
          value={reaction}
          onChange={(value) => setReaction(value as Reaction | undefined)}
        />
      </search>
      {email && <WhyAnswer siteId={siteId} email={email} campaignId={campaignId} />}
      <ErrorNote error={error} />
      {!data && !error && <Skeleton h={120} />}
      {data && rows.length === 0 && !hasNextPage && (
        <p className="quiet">{t("No email matches.")}</p>
      )}
      {rows.length > 0 && (
        <div className="table-scroll recipients">
          <PlainTable
            label={t("Recipients")}
            columns={columnsIn(timezone)}
            rows={rows}
            keyOf={({ id }) => id}
          />
        </div>
      )}
      {hasNextPage && (
        <div className="buttons">
          <Button variant="default" loading={isFetching} onClick={() => fetchNextPage()}>
            {t("Show more")}
          </Button>
        </div>
      )}
    </Card>
  );
}

const columnsIn = (timezone: string): PlainColumn<Send>[] => [
  {
    label: t("Address"),
    breaks: true,
    render: ({ id, toEmail }) => (
      <Link to="/log" search={{ email: toEmail, send: id }}>
        {toEmail}
      </Link>
    ),
  },
  { label: t("Status"), render: ({ status }) => <StatusMark status={status} /> },
  {
    label: t("Opened"),
    isWide: true,
    render: ({ openedAt }) => (openedAt ? formatAgo(openedAt, timezone) : "–"),
  },
  {
    label: t("Clicked"),
    isWide: true,
    render: ({ clickedAt }) => (clickedAt ? formatAgo(clickedAt, timezone) : "–"),
  },
];
