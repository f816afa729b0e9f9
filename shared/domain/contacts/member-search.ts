// Whom to put on a list: a search of its site that says who is on it already.
import type { Caller } from "../../caller.ts";
import { contains } from "../../conditions.ts";
import { type PageRequest, type Pagination, pagination } from "../../paging.ts";
import * as contacts from "../contacts.ts";
import * as records from "../records.ts";
import type { Contact } from "./contact.ts";
import type { Group } from "./groups.ts";
import * as reader from "./reader.ts";

type Candidate = Contact & { member: boolean };

/** A page by address. */
export async function candidates(
  who: Pick<Caller, "orgId" | "siteId">,
  listId: number,
  text: string,
  request: PageRequest,
): Promise<{ items: Candidate[]; pagination: Pagination }> {
  const { siteId } = await records.find<Group>("LIST", who, listId);
  const { items, next } = await reader.page(who.orgId, siteId, request, { filter: contains("search", text.toLowerCase()) });
  const told = await contacts.tellAll(who.orgId, items);
  return {
    items: told.map((contact, i) => ({ ...contact, member: items[i]!.lists?.has(listId) === true })),
    pagination: pagination(request, null, next),
  };
}
