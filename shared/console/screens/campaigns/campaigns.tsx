import { Button, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import type { Campaign } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { createCampaign } from "../../data/new-campaign.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { formatAgo, formatNumber, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FormDialog } from "../../parts/form.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { SeriesList } from "./series/series-list.tsx";

export function Campaigns() {
  const { site } = useSite();
  const { timezone } = useMe().organization;
  const navigate = useNavigate();
  const mayWrite = useRight("marketing:write");
  const [isCreating, setCreating] = useState(false);
  const list = usePagedRows(
    queries.campaigns(site ? { siteId: site.id } : {}),
    ({ campaigns }) => campaigns,
  );
  const create = () => mayWrite && setCreating(true);
  useShortcuts([{ keys: ["c"], label: t("New campaign"), run: create }]);
  return (
    <div className="page list-page">
      <PageHead
        title={t("Campaigns")}
        note={
          list.total == null
            ? t("One email to many contacts")
            : t("{total} in all", { total: formatNumber(list.total) })
        }
      >
        {mayWrite && site && (
          <Button leftSection={<IconPlus size={16} />} onClick={create}>
            {t("New campaign")}
          </Button>
        )}
      </PageHead>
      <SeriesList siteId={site?.id} />
      <RowTable
        label={t("Campaigns")}
        columns={columnsIn(timezone)}
        list={list}
        onOpen={({ id }) => navigate({ to: "/campaigns/$id", params: { id } })}
        empty={<NoCampaigns onCreate={mayWrite && site ? create : undefined} />}
      />
      {site && (
        <NewCampaign siteId={site.id} opened={isCreating} onClose={() => setCreating(false)} />
      )}
    </div>
  );
}

const columnsIn = (timezone: string): Column<Campaign>[] => [
  { label: t("Campaign"), className: "c-main", render: ({ name }) => <b>{name}</b> },
  {
    label: t("Status"),
    className: "c-status",
    render: ({ status }) => <StatusMark status={status} />,
  },
  {
    label: t("Sent or scheduled"),
    className: "c-tags quiet",
    render: ({ startedAt, scheduledAt }) => {
      if (startedAt) return formatAgo(startedAt, timezone);
      return scheduledAt ? formatTime(scheduledAt, timezone) : "–";
    },
  },
  {
    label: t("Created"),
    className: "c-added quiet",
    render: ({ createdAt }) => formatAgo(createdAt, timezone),
  },
];

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
