// The order of the contact table. The API offers only the orders in which contacts are stored.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { readStored, writeStored } from "../../data/stored-choice.ts";
import { t } from "../../language/translate.ts";
import type { ColumnSort } from "../../parts/row-table.tsx";

export type Sort = "createdAt" | "email";
type Direction = "asc" | "desc";
type Order = `${Sort} ${Direction}`;

interface OrderFilter {
  list?: number | undefined;
  tag?: number | undefined;
  segment?: number | undefined;
  status?: string | undefined;
  search?: string | undefined;
}

/** The order without a choice comes first. The members of a list or tag have a fixed order. */
function possibleOrders({ list, tag, ...others }: OrderFilter): Order[] {
  const byEmail: Order[] = ["email asc", "email desc"];
  const hasOther = Object.values(others).some((value) => value !== undefined);
  if (hasOther || (list && tag)) return byEmail;
  return list || tag ? [] : ["createdAt desc", "createdAt asc", ...byEmail];
}

const orderNames: Record<Order, string> = {
  "createdAt desc": t("Newest first"),
  "createdAt asc": t("Oldest first"),
  "email asc": t("Address, A to Z"),
  "email desc": t("Address, Z to A"),
};

interface ContactOrder {
  /** For the API. Nothing stands for the usual order. */
  query: { sort?: Sort; order?: Direction };
  /** For a select. Empty if there is no choice. */
  options: { value: string; label: string }[];
  value: string | undefined;
  choose(value: string): void;
  /** For the head of a column. Undefined if the list cannot be sorted by it. */
  columnSort(sort: Sort): ColumnSort | undefined;
  /** Says which orders there are, and why no others. */
  note: string;
}

/** The order in the address, else the one that the user chose last in this browser. */
export function useContactOrder(userId: number | null): ContactOrder {
  const { sort, order, contact: _, action: __, ...filter } = useSearch({ from: "/shell/contacts" });
  const navigate = useNavigate({ from: "/contacts" });
  const key = `pennymail-contact-order-${userId}`;
  const [, setVersion] = useState(0);
  const possible = possibleOrders(filter);
  const find = (text: string | null) => possible.find((one) => one === text);
  const usual = possible[0];
  const current = find(`${sort} ${order}`) ?? find(readStored(key)) ?? usual;
  const [currentSort, direction] = (current?.split(" ") ?? []) as [Sort?, Direction?];
  const choose = (value: string) => {
    const [nextSort, nextOrder] = value.split(" ") as [Sort, Direction];
    writeStored(key, value);
    setVersion((old) => old + 1);
    navigate({ search: (old) => ({ ...old, sort: nextSort, order: nextOrder }), replace: true });
  };
  return {
    query:
      currentSort && direction && current !== usual ? { sort: currentSort, order: direction } : {},
    options: possible.map((value) => ({ value, label: orderNames[value] })),
    value: current,
    choose,
    columnSort(column) {
      const first = possible.find((one) => one.startsWith(column));
      if (!first) return undefined;
      const isCurrent = column === currentSort;
      const opposite: Order = `${column} ${direction === "asc" ? "desc" : "asc"}`;
      return {
        direction: isCurrent ? direction : undefined,
        ...(column === "email" && { hint: t("by address") }),
        onSort: () => choose(isCurrent ? opposite : first),
      };
    },
    note: noteOn(possible),
  };
}

function noteOn(possible: readonly Order[]): string {
  if (possible.length === 0)
    return t("Members of one list or tag stand in the order in which they were created.");
  return possible.some((one) => one.startsWith("createdAt"))
    ? t("Contacts are sorted by address or day added. Other orders would need all to be read.")
    : t("Filtered contacts are sorted by address. Other orders would need all to be read.");
}
