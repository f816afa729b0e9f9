import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Sequence, SequenceFunnel } from "pennymail";
import { useState } from "react";
import { usePagedRows } from "../../data/paged-rows.ts";
import { sequenceQueries } from "../../data/sequence-queries.ts";
import { useRight, useSite } from "../../data/session.ts";
import { formatNumber, formatRate } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FilterSelect, statusOptions } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { StatusMark } from "../../parts/status-mark.tsx";
import { NewSequence } from "./new-sequence.tsx";
import { SequenceTabs } from "./sequence-tabs.tsx";
import { kindsOfTriggers, type Names, namesIn, triggerText, useChoices } from "./step-texts.ts";

const statuses = ["draft", "active", "paused", "archived"] as const;

export function Sequences() {
  const { site } = useSite();
  const search = useSearch({ from: "/shell/sequences" });
  const navigate = useNavigate({ from: "/sequences" });
  const mayWrite = useRight("marketing:write");
  const [isCreating, setCreating] = useState(false);
  const list = usePagedRows(
    sequenceQueries.list({
      ...(site && { siteId: site.id }),
      ...(search.status && { status: search.status as Sequence["status"] }),
    }),
    ({ sequences }) => sequences,
  );
  const funnels = useQuery({ ...sequenceQueries.funnels(site?.id ?? 0), enabled: Boolean(site) });
  const names = namesIn(useChoices(site?.id, new Set(kindsOfTriggers(list.rows))));
  const create = () => mayWrite && site && setCreating(true);
  useShortcuts([{ keys: ["c"], label: t("New sequence"), run: create }]);
  const funnelOf = ({ id }: Sequence) =>
    funnels.data?.sequences.find(({ sequenceId }) => sequenceId === id);
  return (
    <div className="page list-page">
      <PageHead
        title={t("Sequences")}
        note={t("Emails that each contact gets one after the other")}
      >
        {mayWrite && site && (
          <Button leftSection={<IconPlus size={16} />} onClick={create}>
            {t("New sequence")}
          </Button>
        )}
      </PageHead>
      <SequenceTabs />
      <search className="filters">
        <FilterSelect
          label={t("Status")}
          any={t("Any status")}
          options={statusOptions(statuses)}
          value={search.status}
          onChange={(status) => navigate({ search: { status }, replace: true })}
        />
      </search>
      <RowTable
        label={t("Sequences")}
        columns={columnsWith(names, funnelOf)}
        list={list}
        onOpen={({ id }) => navigate({ to: "/sequences/$id/{-$part}", params: { id } })}
        empty={
          search.status ? (
            <EmptyState title={t("No sequence has this status")}>
              <p>{t("Choose another status to see the others.")}</p>
            </EmptyState>
          ) : (
            <NoSequences onCreate={mayWrite && site ? create : undefined} />
          )
        }
      />
      {site && isCreating && <NewSequence site={site} onClose={() => setCreating(false)} />}
    </div>
  );
}

function columnsWith(
  names: Names,
  funnelOf: (sequence: Sequence) => SequenceFunnel | undefined,
): Column<Sequence>[] {
  return [
    {
      label: t("Sequence"),
      className: "c-main",
      render: (sequence) => (
        <span className="who">
          <b>{sequence.name}</b>
          <span>{t("Starts when a contact {event}", { event: triggerText(sequence, names) })}</span>
        </span>
      ),
    },
    {
      label: t("Status"),
      className: "c-status",
      render: ({ status }) => <StatusMark status={status} />,
    },
    {
      label: t("In it now"),
      className: "c-count",
      isNumber: true,
      render: (sequence) => countText(funnelOf(sequence)?.active),
    },
    {
      label: t("Completed"),
      className: "c-count c-optional",
      isNumber: true,
      render: (sequence) => countText(funnelOf(sequence)?.completed),
    },
    {
      label: t("Finish it"),
      className: "c-count c-optional",
      isNumber: true,
      render: (sequence) => {
        const { completed = 0, completionRate = 0 } = funnelOf(sequence) ?? {};
        return completed > 0 ? formatRate(completionRate) : "–";
      },
    },
  ];
}

const countText = (count: number | undefined): string =>
  count === undefined ? "–" : formatNumber(count);

function NoSequences({ onCreate }: { onCreate: (() => unknown) | undefined }) {
  return (
    <EmptyState title={t("No sequence yet")}>
      <p>
        {t(
          "A sequence welcomes new contacts, reminds of a full cart or wins " +
            "people back: emails, waits and branches that each contact passes at " +
            "their own time.",
        )}
      </p>
      {onCreate && (
        <Button variant="default" onClick={onCreate}>
          {t("New sequence")}
        </Button>
      )}
    </EmptyState>
  );
}
