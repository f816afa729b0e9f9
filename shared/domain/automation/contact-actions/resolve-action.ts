// Checks a request for an action: its site, its contacts and its target.
import { type Caller, requireOrganizationAccess } from "../../../caller.ts";
import { forbidden, invalid, missing } from "../../../errors.ts";
import * as records from "../../../kernel/records.ts";
import type { GroupKind } from "../../../keys.ts";
import { permits } from "../../../rights.ts";
import * as contactListing from "../../audience/contacts/contact-listing.ts";
import * as contactReader from "../../audience/contacts/contact-reader.ts";
import * as contacts from "../../audience/contacts/contacts.ts";
import * as groups from "../../audience/groups/groups.ts";
import { listOfSite } from "../../audience/topics/site-topics.ts";
import * as sites from "../../identity/sites.ts";
import { findItem } from "../sequence-schema.ts";
import type { ActionType, NewContactAction, StoredTarget } from "./action-schema.ts";

export interface ResolvedAction {
  siteId: number;
  /** Absent without a target, and for a tag that does not exist yet. */
  target?: StoredTarget | undefined;
  /** Ids of active sequences that the target triggers. */
  startedSequences: number[];
}

/** Throws 404 or 400 if the request names something that does not exist in one site. */
export async function resolveAction(
  caller: Caller,
  request: NewContactAction,
): Promise<ResolvedAction> {
  requireRights(caller, request.action);
  if ((request.filter === undefined) === (request.contactIds === undefined))
    throw invalid("Exactly one of filter and contactIds is required", {
      details: [{ path: "filter", message: "exactly one of filter and contactIds is required" }],
    });
  const siteId = await resolveSite(caller, request);
  return { siteId, ...(await resolveTarget(caller, siteId, request)) };
}

/** What a request for one contact needs, too. */
function requireRights(caller: Caller, action: ActionType): void {
  if (action === "suppress") requireOrganizationAccess(caller);
  if (action !== "enroll") return;
  if (!permits(caller.scopes, { right: "marketing:write", scope: "sequences:write" }))
    throw forbidden("Enrolling contacts needs the right marketing:write", {
      code: "scope_missing",
    });
}

async function resolveSite(
  caller: Caller,
  { siteId, filter, contactIds = [] }: NewContactAction,
): Promise<number> {
  if (filter) return (await contactListing.resolveFilter(caller, { siteId, ...filter })).siteId;
  if (siteId !== undefined) return sites.resolveSiteId(caller, siteId);
  const [first] = await contacts.getByIds(caller.orgId, contactIds);
  if (!first) throw missing("None of the contacts exists");
  return sites.resolveSiteId(caller, first.siteId);
}

const groupKinds: Partial<Record<ActionType, GroupKind>> = {
  add_tag: "TAG",
  remove_tag: "TAG",
  add_to_list: "LIST",
  remove_from_list: "LIST",
};
const withoutTarget: ActionType[] = ["unsubscribe", "suppress", "delete"];

const invalidTarget = (path: string, message: string) =>
  invalid(`${path} ${message}`, { details: [{ path, message }] });

async function resolveTarget(
  caller: Caller,
  siteId: number,
  { action, targetId: id, tag }: NewContactAction,
): Promise<Omit<ResolvedAction, "siteId">> {
  const takesName = action === "add_tag";
  if (tag !== undefined && (!takesName || id !== undefined))
    throw invalidTarget("tag", "is only for add_tag without targetId");
  if (withoutTarget.includes(action)) {
    if (id !== undefined) throw invalidTarget("targetId", `is not for ${action}`);
    return { startedSequences: [] };
  }
  if (tag !== undefined) return findTagByName(caller, siteId, tag);
  if (id === undefined) throw invalidTarget("targetId", `is required for ${action}`);
  const kind = groupKinds[action];
  if (kind) {
    const reference = { id, siteId, path: "targetId" };
    return toTarget(await records.findOfSite<groups.Group>(kind, caller, reference));
  }
  return action === "enroll" ? findSequence(caller, siteId, id) : findTopic(caller, siteId, id);
}

const toTarget = ({ id, name, starts }: groups.Group) => ({
  target: { id, name },
  startedSequences: [...(starts ?? [])],
});

async function findTagByName(
  caller: Caller,
  siteId: number,
  name: string,
): Promise<Omit<ResolvedAction, "siteId">> {
  const id = (await groups.knownTags(caller.orgId, siteId, [name])).get(name);
  if (id === undefined) return { startedSequences: [] };
  return toTarget(await records.find<groups.Group>("TAG", caller, id));
}

async function findSequence(caller: Caller, siteId: number, id: number) {
  const sequence = await findItem(caller, id);
  if (sequence.siteId !== siteId) throw invalidTarget("targetId", "belongs to another site");
  if (sequence.status === "archived")
    throw invalidTarget("targetId", "is an archived sequence, which takes no contacts");
  const isActive = sequence.status === "active";
  return { target: { id, name: sequence.name }, startedSequences: isActive ? [id] : [] };
}

async function findTopic({ orgId }: Caller, siteId: number, id: number) {
  const topic = (await listOfSite(orgId, siteId)).find((one) => one.id === id);
  if (!topic) throw missing("The topic does not exist in the site");
  return { target: { id, name: topic.name }, startedSequences: [] };
}

/** Exact. With a filter, reads the contacts of the site. */
export async function countContacts(
  caller: Caller,
  siteId: number,
  { filter, contactIds = [] }: NewContactAction,
): Promise<number> {
  if (filter) {
    const query = await contactListing.resolveFilter(caller, { ...filter, siteId });
    return contactReader.countContacts({ orgId: caller.orgId, siteId }, query);
  }
  const found = await contacts.getByIds(caller.orgId, [...new Set(contactIds)]);
  return found.filter((contact) => contact.siteId === siteId).length;
}
