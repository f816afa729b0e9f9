import type { ScoringRule } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useKeptRows } from "../../data/hidden-records.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { ListPage, type ListProps } from "../../parts/list-page.tsx";
import { menuColumn } from "../../parts/row-menu.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { removeWithUndo } from "../../parts/undo-toast.tsx";
import { RuleDialog } from "./rule-dialog.tsx";
import { describeTrigger } from "./triggers.ts";

export const refreshes = ["scoring"];

/** Rules that give contacts points for what they do. */
export const Scoring = () => (
  <ListPage
    title={t("Lead scoring")}
    note={t("Points for what contacts do; the sum is their score in lists, segments and sequences")}
    action={t("New rule")}
    right="audience:write"
    List={Rules}
  />
);

function Rules({ siteId, mayWrite, isCreating, onDialogClose }: ListProps) {
  const pages = usePagedRows(queries.scoringRules({ siteId }), ({ rules }) => rules);
  const list = useKeptRows("scoring", pages);
  const [edited, setEdited] = useState<ScoringRule>();
  const switching = useChange({
    run: ({ id, active }: ScoringRule) => api.scoring.updateRule(id, { active: !active }),
    refreshes,
  });
  const columns: Column<ScoringRule>[] = [...ruleColumns];
  if (mayWrite)
    columns.push(
      menuColumn((rule) => [
        { label: t("Edit"), run: () => setEdited(rule) },
        { label: rule.active ? t("Turn off") : t("Turn on"), run: () => switching.mutate(rule) },
        { label: t("Delete"), isDangerous: true, run: () => remove(rule) },
      ]),
    );
  return (
    <>
      <ErrorNote error={switching.error} />
      <RowTable
        label={t("Scoring rules")}
        columns={columns}
        list={list}
        onOpen={(rule) => mayWrite && setEdited(rule)}
        empty={
          <EmptyState title={t("No rule yet")}>
            <p>
              {t(
                "A rule gives points for an act: 5 for a click, 20 for a visit of your " +
                  "prices. The sum shows who is close to buying.",
              )}
            </p>
          </EmptyState>
        }
      />
      {(isCreating || edited) && (
        <RuleDialog
          key={edited?.id ?? "new"}
          siteId={siteId}
          rule={edited}
          onClose={() => {
            setEdited(undefined);
            onDialogClose();
          }}
        />
      )}
    </>
  );
}

const remove = ({ id, name }: ScoringRule) =>
  removeWithUndo({
    group: "scoring",
    id,
    name: t("Rule “{name}”", { name }),
    consequence: t("Contacts keep the points that it has given."),
    remove: (client) => client.scoring.deleteRule(id),
    refreshes,
  });

const ruleColumns: Column<ScoringRule>[] = [
  {
    label: t("Rule"),
    className: "c-main",
    render: (rule) => (
      <span className="who">
        <b>{rule.name}</b>
        <span>{describeTrigger(rule)}</span>
      </span>
    ),
  },
  {
    label: t("Status"),
    className: "c-status",
    render: ({ active }) => (
      <StatusMark status={active ? t("On") : t("Off")} tone={active ? "good" : "quiet"} />
    ),
  },
  {
    label: t("Points"),
    className: "c-count",
    isNumber: true,
    render: ({ points }) => (points > 0 ? `+${points}` : points),
  },
];
