import { Button, Modal, TextInput } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Campaign } from "pennymail";
import { type FormEvent, useState } from "react";
import { api } from "../../data/client.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { formatAgo, formatNumber, formatTime } from "../../format.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";

export function Campaigns() {
  const { site } = useSite();
  const { timezone } = useMe().organization;
  const navigate = useNavigate();
  const mayWrite = useRight("marketing:write");
  const [isCreating, setCreating] = useState(false);
  const [lastVisible, setLastVisible] = useState(0);
  const { rows, total, hasMore, error } = usePagedRows(
    queries.campaigns(site ? { siteId: site.id } : {}),
    ({ campaigns }) => campaigns,
    lastVisible,
  );
  const create = () => mayWrite && setCreating(true);
  useHotkeys([["c", create]]);
  return (
    <div className="page list-page">
      <PageHead
        title="Campaigns"
        note={total == null ? "One email to many contacts" : `${formatNumber(total)} in all`}
      >
        {mayWrite && site && (
          <Button leftSection={<IconPlus size={16} />} onClick={create}>
            New campaign
          </Button>
        )}
      </PageHead>
      <ErrorNote error={error} />
      <div className="list-box">
        <RowTable
          label="Campaigns"
          columns={columnsIn(timezone)}
          rows={rows}
          total={total}
          hasMore={hasMore || (total === undefined && !error)}
          openId={undefined}
          onOpen={({ id }) => navigate({ to: "/campaigns/$id", params: { id } })}
          onScroll={setLastVisible}
          empty={<NoCampaigns onCreate={create} />}
        />
      </div>
      {site && (
        <NewCampaign siteId={site.id} opened={isCreating} onClose={() => setCreating(false)} />
      )}
    </div>
  );
}

const columnsIn = (timezone: string): Column<Campaign>[] => [
  { label: "Campaign", className: "c-main", render: ({ name }) => <b>{name}</b> },
  {
    label: "Status",
    className: "c-status",
    render: ({ status }) => <StatusMark status={status} />,
  },
  {
    label: "Sent or scheduled",
    className: "c-tags quiet",
    render: ({ startedAt, scheduledAt }) => {
      if (startedAt) return formatAgo(startedAt, timezone);
      return scheduledAt ? formatTime(scheduledAt, timezone) : "–";
    },
  },
  {
    label: "Created",
    className: "c-added quiet",
    render: ({ createdAt }) => formatAgo(createdAt, timezone),
  },
];

function NoCampaigns({ onCreate }: { onCreate(): void }) {
  return (
    <div className="empty">
      <h2>No campaign yet</h2>
      <p>A campaign is one email to a list, a tag or a segment.</p>
      <Button variant="default" onClick={onCreate}>
        New campaign
      </Button>
    </div>
  );
}

interface NewCampaignProps {
  siteId: number;
  opened: boolean;
  onClose(): void;
}

function NewCampaign({ siteId, opened, onClose }: NewCampaignProps) {
  const [name, setName] = useState("");
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const creating = useMutation({
    mutationFn: () => api.campaigns.create({ siteId, name }),
    onSuccess: async ({ id }) => {
      await queryClient.invalidateQueries({ queryKey: ["campaigns"] });
      await navigate({ to: "/campaigns/$id", params: { id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  return (
    <Modal opened={opened} onClose={onClose} title="New campaign" lockScroll={false}>
      <form className="stack" onSubmit={submit}>
        <TextInput
          label="Name"
          description="For your team. Recipients do not see it."
          required
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <ErrorNote error={creating.error} />
        <Button type="submit" loading={creating.isPending}>
          Create campaign
        </Button>
      </form>
    </Modal>
  );
}
