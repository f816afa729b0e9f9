// Orders of a list of contacts. Offers only those in which the table or an index holds them, so
// that no request reads all contacts to sort them.
import * as z from "zod";
import { invalid } from "../../../errors.ts";
import type { PageRequest } from "../../../kernel/paging.ts";
import type { ContactFilter } from "./contact-listing.ts";

export const ContactOrder = z.object({
  sort: z
    .enum(["email", "createdAt"])
    .optional()
    .describe(
      "`createdAt`: by the time at which they were added, only without filters other than " +
        "`siteId`. `email`: by email address, site by site, not with only `tagId`, `listId` or " +
        "`externalId`. No other order can be read without reading all contacts.",
    ),
  order: z
    .enum(["asc", "desc"])
    .optional()
    .describe("Direction of `sort`. Defaults to `desc` for `createdAt` and `asc` for `email`."),
});
export type ContactOrder = z.output<typeof ContactOrder>;
export type ContactPageRequest = PageRequest & ContactOrder;

/** Undefined for the members of one tag or list, and for the contact with an `externalId`. */
interface ResolvedOrder {
  sort: "createdAt" | "email" | undefined;
  descending: boolean;
}

/** The order of the list. Throws 400 if its filter cannot be listed in the requested order. */
export function resolveOrder(
  { sort, order }: ContactOrder,
  { siteId: _, ...criteria }: ContactFilter,
): ResolvedOrder {
  const usual = usualSort(criteria);
  if (sort === undefined && order !== undefined)
    throw refused("order", "needs sort: it is the direction of sort");
  if (sort === undefined || sort === usual)
    return { sort: usual, descending: (order ?? usualOrder(usual)) === "desc" };
  if (sort === "createdAt")
    throw refused("sort", "createdAt needs a list without filters other than siteId");
  if (usual === undefined)
    throw refused("sort", "email is not possible with only a tag, list or externalId");
  return { sort, descending: order === "desc" };
}

const usualOrder = (sort: ResolvedOrder["sort"]): ContactOrder["order"] =>
  sort === "createdAt" ? "desc" : "asc";

function usualSort(criteria: Omit<ContactFilter, "siteId">): ResolvedOrder["sort"] {
  const names = Object.entries(criteria).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (!names.length) return "createdAt";
  const isAlone = names.length === 1 && ["tagId", "listId", "externalId"].includes(names[0]!);
  return isAlone ? undefined : "email";
}

const refused = (path: string, message: string) =>
  invalid(`${path} ${message}`, { details: [{ path, message }] });
