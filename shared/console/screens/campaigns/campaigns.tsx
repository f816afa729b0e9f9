import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Campaign, ListedCampaign } from "pennymail";
import { type ReactNode, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { createCampaign } from "../../data/new-campaign.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { formatAgo, formatNumber, formatRate, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FilterSelect, SearchBox, statusOptions } from "../../parts/filters.tsx";
import { FormDialog } from "../../parts/form.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { CampaignCalendar } from "./calendar.tsx";
import { SeriesList } from "./series/series-list.tsx";

export function Campaigns() {
  const { site } = useSite();
  const { view } = useSearch({ from: "/shell/campaigns" });
  const mayWrite = useRight("marketing:write");
  const [isCreating, setCreating] = useState(false);
  const create = () => mayWrite && setCreating(true);
  useShortcuts([{ keys: ["c"], label: t("New campaign"), run: create }]);
  const newCampaign = mayWrite && site && (
    <Button leftSection={<IconPlus size={16} />} onClick={create}>
      {t("New campaign")}
    </Button>
  );
  return (
    <div className="page list-page">
      {view === "calendar" ? (
        <>
          <PageHead title={t("Campaigns")} note={t("By the day on which they start")}>
            <ViewChoice />
            {newCampaign}
          </PageHead>
          {site && <CampaignCalendar siteId={site.id} />}
        </>
      ) : (
        <CampaignList siteId={site?.id} onCreate={mayWrite && site ? create : undefined}>
          <ViewChoice />
          {newCampaign}
        </CampaignList>
      )}
      {site && (
        <NewCampaign siteId={site.id} opened={isCreating} onClose={() => setCreating(false)} />
      )}
    </div>
  );
}

function ViewChoice() {
  const { view } = useSearch({ from: "/shell/campaigns" });
  const navigate = useNavigate({ from: "/campaigns" });
  return (
    <SegmentedControl
      aria-label={t("View")}
      value={view ?? "list"}
      onChange={(next) => navigate({ search: next === "calendar" ? { view: next } : {} })}
      data={[
        { value: "list", label: t("List") },
        { value: "calendar", label: t("Calendar") },
      ]}
    />
  );
}

interface CampaignListProps {
  siteId: number | undefined;
  onCreate: (() => unknown) | undefined;
  /** Stands beside the title. */
  children: ReactNode;
}

function CampaignList({ siteId, onCreate, children }: CampaignListProps) {
  const { timezone } = useMe().organization;
  const navigate = useNavigate({ from: "/campaigns" });
  const { search, status } = useSearch({ from: "/shell/campaigns" });
  const list = usePagedRows(
    queries.countedCampaigns({
      ...(siteId && { siteId }),
      ...(search !== undefined && { search }),
      ...(status !== undefined && { status: status as Campaign["status"] }),
    }),
    ({ campaigns }) => campaigns,
  );
  const isFiltered = search !== undefined || status !== undefined;
  return (
    <>
      <PageHead
        title={t("Campaigns")}
        note={
          list.total == null
            ? t("One email to many contacts")
            : t("{total} in all", { total: formatNumber(list.total) })
        }
      >
        {children}
      </PageHead>
      {!isFiltered && <SeriesList siteId={siteId} />}
      <search className="filters">
        <SearchBox
          label={t("Search campaigns")}
          placeholder={t("Part of the name")}
          value={search}
          onSearch={(next) => navigate({ search: (old) => ({ ...old, search: next }) })}
        />
        <FilterSelect
          label={t("Status")}
          any={t("Any status")}
          options={statusOptions(statuses)}
          value={status}
          onChange={(next) => navigate({ search: (old) => ({ ...old, status: next }) })}
        />
      </search>
      <RowTable
        label={t("Campaigns")}
        columns={columnsIn(timezone)}
        list={list}
        onOpen={({ id }) => navigate({ to: "/campaigns/$id", params: { id } })}
        empty={
          isFiltered ? (
            <EmptyState title={t("No campaign matches")}>
              <p>{t("Clear the search, or choose another status.")}</p>
            </EmptyState>
          ) : (
            <NoCampaigns onCreate={onCreate} />
          )
        }
      />
    </>
  );
}

const statuses = [
  ...(["draft", "scheduled", "held", "sending", "paused"] as const),
  ...(["sent", "cancelled", "failed"] as const),
];

const shareOf = (part: number, whole: number): string => (whole ? formatRate(part / whole) : "–");

const columnsIn = (timezone: string): Column<ListedCampaign>[] => [
  {
    label: t("Campaign"),
    className: "c-main",
    render: ({ name, stats, ...times }) => (
      <span className="who">
        <b>{name}</b>
        <span>
          {stats && (
            <i className="phone-values">
              {t("{share} opened", { share: shareOf(stats.opened, stats.delivered) })} ·{" "}
            </i>
          )}
          {whenOf(times, timezone)}
        </span>
      </span>
    ),
  },
  {
    label: t("Status"),
    className: "c-status",
    render: ({ status }) => <StatusMark status={status} />,
  },
  {
    label: t("Recipients"),
    className: "c-score",
    isNumber: true,
    render: ({ stats }) => (stats ? formatNumber(stats.recipients) : "–"),
  },
  {
    label: t("Opened"),
    className: "c-score",
    isNumber: true,
    render: ({ stats }) => (stats ? shareOf(stats.opened, stats.delivered) : "–"),
  },
  {
    label: t("Clicked"),
    className: "c-score",
    isNumber: true,
    render: ({ stats }) => (stats ? shareOf(stats.clicked, stats.delivered) : "–"),
  },
];

function whenOf(
  {
    startedAt,
    scheduledAt,
    createdAt,
  }: Pick<ListedCampaign, "startedAt" | "scheduledAt" | "createdAt">,
  timezone: string,
): string {
  if (startedAt) return t("Started {time}", { time: formatAgo(startedAt, timezone) });
  if (scheduledAt) return t("Starts {time}", { time: formatTime(scheduledAt, timezone) });
  return t("Created {time}", { time: formatAgo(createdAt, timezone) });
}

function NoCampaigns({ onCreate }: { onCreate: (() => unknown) | undefined }) {
  return (
    <EmptyState title={t("No campaign yet")}>
      <p>{t("A campaign is one email to a list, a tag or a segment.")}</p>
      {onCreate && (
        <Button variant="default" onClick={onCreate}>
          {t("New campaign")}
        </Button>
      )}
    </EmptyState>
  );
}

interface NewCampaignProps {
  siteId: number;
  opened: boolean;
  onClose(): void;
}

function NewCampaign({ siteId, opened, onClose }: NewCampaignProps) {
  const name = useTextField();
  const navigate = useNavigate();
  const creating = useChange({
    run: () => createCampaign({ siteId, name: name.value }),
    refreshes: ["campaigns"],
    onDone: ({ id }) => navigate({ to: "/campaigns/$id", params: { id } }),
  });
  return (
    <FormDialog
      title={t("New campaign")}
      action={t("Create campaign")}
      submission={creating}
      opened={opened}
      onClose={onClose}
    >
      <TextInput
        label={t("Name")}
        description={t("For your team. Recipients do not see it.")}
        required
        data-autofocus
        data-field="name"
        {...name.input}
      />
    </FormDialog>
  );
}
