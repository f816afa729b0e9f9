// Columns of the tables of lists, tags and topics, and what their deletion does.

import { formatAgo, formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import type { Column } from "../../parts/row-table.tsx";

interface Described {
  name: string;
  description?: string | null;
}

export const nameColumn = (label: string): Column<Described> => ({
  label,
  className: "c-main",
  render: ({ name, description }) => (
    <span className="who">
      <b>{name}</b>
      {description && <span>{description}</span>}
    </span>
  ),
});

interface Counted {
  contactCount: number;
  createdAt: string;
}

export const countColumns = (timezone: string): Column<Counted>[] => [
  {
    label: t("Contacts"),
    className: "c-count",
    isNumber: true,
    render: ({ contactCount }) => formatNumber(contactCount),
  },
  {
    label: t("Created"),
    className: "c-when quiet",
    render: ({ createdAt }) => formatAgo(createdAt, timezone),
  },
];

/** What happens to the contacts of a deleted list or tag. */
export const removedFrom = (contactCount: number): string =>
  t(
    "It is removed from {count, plural, one {# contact} other {# contacts}}. No contact is " +
      "deleted.",
    { count: contactCount },
  );
