// The columns of the contact table, which each user chooses for each site.

import type { Contact, ContactField } from "pennymail";
import { useState } from "react";
import { readStored, writeStored } from "../../data/stored-choice.ts";
import { formatAgo, formatDate, formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { describeValue } from "../../parts/contact-field-types.ts";
import type { Column } from "../../parts/row-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import type { Sort } from "./contact-order.ts";

interface ContactColumn extends Column<Contact> {
  id: string;
  /** The value as text, for phones, which show it below the name. */
  textOf?(contact: Contact): string | null;
  /** The order of the API that the column shows. */
  sort?: Sort;
}

/** More would leave no room for the values. */
export const maxColumns = 12;
const defaultIds = ["status", "tags", "score", "lastOpened", "added"];
const customPrefix = "customFields.";

/** All columns that can be chosen: those of every site, and the fields of this one. */
export function contactColumns(fields: readonly ContactField[], timezone: string): ContactColumn[] {
  const own = fields.filter(({ custom }) => custom).map(fieldColumn);
  return [...commonColumns(timezone), ...textColumns, ...own];
}

/** `values` are those of other columns. Only a phone shows them here. */
function Name({ contact, values }: { contact: Contact; values: string[] }) {
  const { firstName, lastName, email } = contact;
  const name = [firstName, lastName].filter(Boolean).join(" ");
  return (
    <span className="who person">
      <b>{name || email}</b>
      {(name || values.length > 0) && (
        <span>
          {values.length > 0 && (
            <i className="phone-values">
              {values.join(" · ")}
              {name && " · "}
            </i>
          )}
          {name && email}
        </span>
      )}
    </span>
  );
}

const agoOrNever = (iso: string | null, timezone: string) =>
  iso ? formatAgo(iso, timezone) : <span className="quiet">{t("Never")}</span>;

const commonColumns = (timezone: string): ContactColumn[] => [
  {
    id: "status",
    label: t("Status"),
    className: "c-status",
    render: ({ status }) => <StatusMark status={status} />,
  },
  {
    id: "tags",
    label: t("Tags"),
    className: "c-tags",
    render: ({ tags }) => <Names records={tags} />,
  },
  {
    id: "lists",
    label: t("Lists"),
    className: "c-tags",
    render: ({ lists }) => <Names records={lists} />,
  },
  {
    id: "score",
    label: t("Score"),
    className: "c-score",
    isNumber: true,
    render: ({ score }) => formatNumber(score),
  },
  {
    id: "sendCount",
    label: t("Emails"),
    className: "c-score",
    isNumber: true,
    render: ({ sendCount }) => formatNumber(sendCount),
  },
  {
    id: "lastSent",
    label: t("Last email"),
    className: "c-when",
    render: ({ lastSentAt }) => agoOrNever(lastSentAt, timezone),
  },
  {
    id: "lastOpened",
    label: t("Last opened"),
    className: "c-when",
    render: ({ lastOpenedAt }) => agoOrNever(lastOpenedAt, timezone),
  },
  {
    id: "added",
    label: t("Added"),
    className: "c-added quiet",
    sort: "createdAt",
    render: ({ createdAt }) => formatDate(createdAt, timezone),
  },
];

const textColumn = (id: "phone" | "company" | "source" | "timezone" | "locale", label: string) => ({
  id,
  label,
  className: "c-field",
  render: (contact: Contact) => contact[id] ?? <span className="quiet">–</span>,
  textOf: (contact: Contact) => contact[id],
});
const textColumns: ContactColumn[] = [
  textColumn("company", t("Company")),
  textColumn("phone", t("Phone")),
  textColumn("source", t("Source")),
  textColumn("timezone", t("Time zone")),
  textColumn("locale", t("Language")),
];

function fieldColumn({ key, name, label, type }: ContactField): ContactColumn {
  const textOf = ({ customFields }: Contact) => describeValue(customFields[name]);
  return {
    id: key,
    label,
    className: "c-field",
    isNumber: type === "number",
    render: (contact) => textOf(contact) ?? <span className="quiet">–</span>,
    textOf,
  };
}

const maxNames = 2;

function Names({ records }: { records: { id: number; name: string }[] }) {
  return (
    <>
      {records.slice(0, maxNames).map(({ id, name }) => (
        <span key={id} className="tag">
          {name}
        </span>
      ))}
      {records.length > maxNames && <span className="more">+{records.length - maxNames}</span>}
    </>
  );
}

/** The name, and what was chosen. */
export function shownColumns(
  columns: readonly ContactColumn[],
  chosen: readonly string[],
): ContactColumn[] {
  const shown = columns.filter(({ id }) => chosen.includes(id));
  const valuesOf = (contact: Contact) => shown.flatMap(({ textOf }) => textOf?.(contact) ?? []);
  const name: ContactColumn = {
    id: "name",
    label: t("Contact"),
    className: "c-main",
    sort: "email",
    render: (contact) => <Name contact={contact} values={valuesOf(contact)} />,
  };
  return [name, ...shown];
}

/** What the columns need in pixels. A narrower table is scrolled sideways. */
export const widthOf = (columns: readonly ContactColumn[]): number => 110 + 140 * columns.length;

interface ColumnChoice {
  chosen: readonly string[];
  choose(ids: readonly string[]): void;
  isDefault: boolean;
  reset(): void;
}

/** What a user chose for a site, in this browser. */
export function useColumnChoice(userId: number | null, siteId: number | undefined): ColumnChoice {
  const key = `pennymail-contact-columns-${userId}-${siteId}`;
  const [, setVersion] = useState(0);
  const chosen = parseChoice(readStored(key)) ?? defaultIds;
  const store = (ids: readonly string[]) => {
    writeStored(key, JSON.stringify(ids.slice(0, maxColumns)));
    setVersion((old) => old + 1);
  };
  return {
    chosen,
    choose: store,
    isDefault: chosen.join() === defaultIds.join(),
    reset: () => store(defaultIds),
  };
}

/** Undefined if nothing was chosen, or if something else is stored. */
function parseChoice(stored: string | null): string[] | undefined {
  try {
    const ids: unknown = JSON.parse(stored ?? "");
    if (!Array.isArray(ids)) return undefined;
    return ids.filter((id) => typeof id === "string").slice(0, maxColumns);
  } catch {
    return undefined;
  }
}

export const isOwnField = (id: string): boolean => id.startsWith(customPrefix);
