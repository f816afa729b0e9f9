import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import type { Segment } from "pennymail";
import { useKeptRows } from "../../data/hidden-records.ts";
import { useCampaignToSegment } from "../../data/new-campaign.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { menuColumn } from "../../parts/row-menu.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { describeRules, useNamesIn } from "../../parts/rules/rule-sentence.ts";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { removeSegment } from "./remove-segment.ts";

export function Segments() {
  const { site } = useSite();
  const mayWrite = useRight("audience:write");
  const navigate = useNavigate();
  const create = () => site && mayWrite && navigate({ to: "/segments/new" });
  useShortcuts([{ keys: ["c"], label: t("New segment"), run: create }]);
  return (
    <div className="page list-page">
      <PageHead
        title={t("Segments")}
        note={t("Contacts that match rules now, looked up whenever you send")}
      >
        {mayWrite && site && (
          <Button leftSection={<IconPlus size={16} />} onClick={create}>
            {t("New segment")}
          </Button>
        )}
      </PageHead>
      {site && <SegmentTable key={site.id} siteId={site.id} mayWrite={mayWrite} />}
    </div>
  );
}

function SegmentTable({ siteId, mayWrite }: { siteId: number; mayWrite: boolean }) {
  const { timezone } = useMe().organization;
  const navigate = useNavigate();
  const maySend = useRight("marketing:write");
  const sending = useCampaignToSegment();
  const pages = usePagedRows(queries.segmentPages({ siteId }), ({ segments }) => segments);
  const list = useKeptRows("segments", pages);
  const nameOf = useNamesIn(
    siteId,
    list.rows.map(({ rules }) => rules),
  );
  const columns: Column<Segment>[] = [
    {
      label: t("Segment"),
      className: "c-main",
      render: ({ name, rules }) => (
        <span className="who">
          <b>{name}</b>
          <span>{describeRules(rules, nameOf)}</span>
        </span>
      ),
    },
    {
      label: t("Changed"),
      className: "c-when quiet",
      render: ({ updatedAt }) => formatAgo(updatedAt, timezone),
    },
    menuColumn((row) => [
      {
        label: t("Show contacts"),
        run: () => navigate({ to: "/contacts", search: { segment: row.id } }),
      },
      ...(maySend ? [{ label: t("Send a campaign"), run: () => sending.mutate(row) }] : []),
      ...(mayWrite
        ? [{ label: t("Delete"), isDangerous: true, run: () => removeSegment(row) }]
        : []),
    ]),
  ];
  return (
    <>
      <ErrorNote error={sending.error} />
      <RowTable
        label={t("Segments")}
        columns={columns}
        list={list}
        onOpen={({ id }) => navigate({ to: "/segments/$id", params: { id } })}
        empty={
          <EmptyState title={t("No segment yet")}>
            <p>
              {t(
                "A segment finds contacts by rules, such as “has the tag customer and " +
                  "opened nothing for 90 days”. It is always up to date.",
              )}
            </p>
            {mayWrite && (
              <Button variant="default" onClick={() => navigate({ to: "/segments/new" })}>
                {t("Create a segment")}
              </Button>
            )}
          </EmptyState>
        }
      />
    </>
  );
}
