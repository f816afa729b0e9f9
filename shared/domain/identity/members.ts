// Members: the users of an organization, each with a role. The item of the user who signed up has
// no role until it is changed: that user is an owner.
import * as z from "zod";
import {
  absent,
  all,
  any,
  type Condition,
  contains,
  equals,
  exists,
  greaterThan,
  lessThan,
} from "../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  get,
  remove as removeWrite,
  update,
  type Write,
  write,
} from "../../adapters/dynamodb/table.ts";
import { type Caller, requireOrganizationAccess, requireSitesAccess } from "../../caller.ts";
import { now } from "../../clock.ts";
import { conflict, forbidden, invalid, missing } from "../../errors.ts";
import { singleLineText } from "../../kernel/email-fields.ts";
import type { PageRequest, Pagination } from "../../kernel/paging.ts";
import { Id, RecordId, Timestamp, UpdatedAt } from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { queueNotice } from "../../kernel/security-notices.ts";
import { keys } from "../../keys.ts";
import { includesScope, type RoleName, roleNames, roles } from "../../rights.ts";
import type { UserKey } from "./sessions.ts";

export const NameOfUser = singleLineText(200).trim().min(1).nullable();
export const RoleOfMember = z
  .enum(roleNames)
  .describe("What the member may do: GET /roles lists the rights of each role.");
const maxSitesOfMember = 50;
export const SitesOfMember = z
  .array(Id)
  .min(1)
  .max(maxSitesOfMember)
  .nullable()
  .describe(
    "Ids of the only sites that the member can access. `null`: all sites. Owners always access " +
      "all sites.",
  );

export const Member = z
  .object({
    id: RecordId.describe("Id of the user."),
    email: z.string().describe("Email address that the user logs in with."),
    name: z.string().nullable().describe("Name of the user, or `null`."),
    role: RoleOfMember,
    siteIds: SitesOfMember,
    createdAt: Timestamp.describe("When the user joined the organization."),
    updatedAt: UpdatedAt,
  })
  .describe("A user of the organization.")
  .meta({ id: "Member" });
export type Member = z.output<typeof Member>;

export const MemberChanges = z
  .object({ role: RoleOfMember, siteIds: SitesOfMember })
  .partial()
  .meta({ examples: [{ role: "marketer", siteIds: [1] }] });
export type MemberChanges = z.output<typeof MemberChanges>;

/** A user whom a record names. The user may have left. */
export const NamedUser = z
  .object({
    id: RecordId.describe("Id of the user."),
    email: z.string().describe("Email address of the user."),
  })
  .meta({ id: "NamedUser" });

/** What a member may do, and where. */
export type MemberAccess = Pick<Member, "role" | "siteIds">;

/** The item of a member. Those who left keep it, because records name the user. */
export interface MemberItem {
  id: number;
  email: string;
  name: string | null;
  createdAt: string;
  updatedAt: string;
  role: RoleName;
  siteIds?: number[];
  /** The organization in which the user signed up, if it is another one. */
  homeOrgId?: number;
  leftAt?: string;
  /** The user's only account at the provider of the single sign-on: see sso/linked-users.ts. */
  ssoIdentity?: string;
}

export const toApi = (item: MemberItem): Member => ({
  id: item.id,
  email: item.email,
  name: item.name,
  role: item.role,
  siteIds: item.siteIds ?? null,
  createdAt: item.createdAt,
  updatedAt: item.updatedAt,
});

/** Undefined if the user is not a member, or no longer. */
export async function getMember(orgId: number, userId: number): Promise<MemberItem | undefined> {
  const item = await get<MemberItem>(keys.member(orgId, userId));
  return item?.leftAt === undefined ? item : undefined;
}

/** Whether the address is that of a member who has verified it. */
export async function isVerifiedMember(orgId: number, email: string): Promise<boolean> {
  const login = await get<UserKey & { unverified?: boolean }>(keys.user(email));
  if (!login || login.unverified) return false;
  return (await getMember(orgId, login.userId)) !== undefined;
}

const notFound = () => missing("The member does not exist");

/** Throws 404. */
export async function findItem(
  { orgId }: Pick<Caller, "orgId">,
  userId: number,
): Promise<MemberItem> {
  const item = await getMember(orgId, userId);
  if (!item) throw notFound();
  return item;
}

/** Throws 403 if the caller and the member are limited to different sites. */
export async function find(caller: Caller, userId: number): Promise<Member> {
  const item = await findItem(caller, userId);
  const shared = item.siteIds?.filter((id) => !caller.siteIds || caller.siteIds.includes(id));
  if (shared?.length === 0) requireOrganizationAccess(caller);
  return toApi(item);
}

/** Newest first. A caller who is limited to sites sees the members who can access one of these. */
export async function list(
  caller: Caller,
  request: PageRequest,
): Promise<{ items: Member[]; pagination: Pagination }> {
  const { siteIds } = caller;
  const { items, pagination } = await records.list<MemberItem>("USER", caller, {
    ...request,
    filter: siteIds
      ? all(absent("leftAt"), any(absent("siteIds"), ...siteIds.map(includesSite)))
      : absent("leftAt"),
  });
  return { items: items.map(toApi), pagination };
}

/** The condition that the `siteIds` of an item have this one. */
export const includesSite = (siteId: number): Condition => contains("siteIds", siteId);

/** The item with the counts of a team. It does not exist before the first change. */
interface TeamCounts {
  /** Members and open invitations beyond the first member. */
  furtherMembers?: number;
  /** Owners beyond the first. */
  furtherOwners?: number;
}

const maxMembers = 500;
const lastOwner = () =>
  conflict("The organization needs an owner: make another member an owner first", {
    code: "last_owner",
  });
const tooManyMembers = () =>
  conflict(`An organization has at most ${maxMembers} members and open invitations`, {
    code: "too_many",
  });

/**
 * Counts members and owners. Every transaction that changes members includes it, so two at the same
 * time cannot remove the last owner.
 */
export function countTeamWrites(
  orgId: number,
  { members = 0, owners = 0 }: { members?: number; owners?: number },
): Write[] {
  if (!members && !owners) return [];
  const add: Required<TeamCounts> = { furtherMembers: members, furtherOwners: owners };
  if (owners < 0)
    return [
      update(
        keys.team(orgId),
        { add: { ...add } },
        { if: greaterThan("furtherOwners", 0), orThrow: lastOwner() },
      ),
    ];
  const hasRoom = any(absent("furtherMembers"), lessThan("furtherMembers", maxMembers - 1));
  return [
    update(
      keys.team(orgId),
      { add: { ...add } },
      members > 0 ? { if: hasRoom, orThrow: tooManyMembers() } : {},
    ),
  ];
}

/** Throws 403 if the role has rights that the caller does not have. */
export function requireGrantable(caller: Caller, role: RoleName): void {
  if (!roles[role].scopes.every((scope) => includesScope(caller.scopes, scope)))
    throw forbidden(`Only a member with all rights of the role ${role} can give or take it`, {
      code: "scope_missing",
    });
}

/** Whether a member with this access can give the other access. */
export function mayGive(giver: MemberAccess, given: MemberAccess): boolean {
  const { scopes } = roles[giver.role];
  const needed = ["team:write", ...roles[given.role].scopes];
  if (!needed.every((scope) => includesScope(scopes, scope))) return false;
  const own = giver.siteIds;
  return own === null || given.siteIds?.every((id) => own.includes(id)) === true;
}

const ownersHaveAllSites = () =>
  invalid("An owner accesses all sites: siteIds must be null", {
    details: [{ path: "siteIds", message: "must be null for an owner" }],
  });

/** Checks that the sites exist. Throws 400 for an owner with sites. */
export function siteChecks(orgId: number, { role, siteIds }: MemberAccess): Write[] {
  if (role === "owner" && siteIds) throw ownersHaveAllSites();
  const unknownSite = () =>
    invalid("siteIds names a site that does not exist", {
      details: [{ path: "siteIds", message: "names a site that does not exist" }],
    });
  return [...new Set(siteIds)].map((id) =>
    checkCondition(keys.record(orgId, "SITE", id), exists, unknownSite()),
  );
}

/** The attributes that give a member access, for `update`. */
export const accessChanges = ({ role, siteIds }: MemberAccess) =>
  siteIds
    ? { set: { role, siteIds: [...new Set(siteIds)] }, remove: [] }
    : { set: { role }, remove: ["siteIds"] };

/**
 * Changes role and sites. Throws 409 `last_owner`, and 403 if the caller lacks rights of the old or
 * the new role.
 */
export async function change(
  caller: Caller,
  userId: number,
  changes: MemberChanges,
): Promise<Member> {
  const { orgId } = caller;
  const item = await findItem(caller, userId);
  const before = toApi(item);
  requireSitesAccess(caller, before.siteIds);
  if (changes.siteIds !== undefined) requireSitesAccess(caller, changes.siteIds);
  const role = changes.role ?? before.role;
  const keptSites = role === "owner" ? null : before.siteIds;
  const access: MemberAccess = {
    role,
    siteIds: changes.siteIds === undefined ? keptSites : changes.siteIds,
  };
  for (const one of [before.role, role]) requireGrantable(caller, one);
  const { set, remove } = accessChanges(access);
  const updatedAt = now().toISOString();
  await write(
    update(
      keys.member(orgId, userId),
      { set: { ...set, updatedAt }, remove },
      { if: unchanged(item), orThrow: changedMeanwhile() },
    ),
    ...countTeamWrites(orgId, { owners: ownerCount(role) - ownerCount(before.role) }),
    ...siteChecks(orgId, access),
  );
  if (role !== before.role) await queueNotice("role_changed", { orgId, recordId: userId });
  return { ...before, ...access, updatedAt };
}

const ownerCount = (role: RoleName): number => Number(role === "owner");

const unchanged = ({ role, updatedAt }: MemberItem) =>
  all(exists, absent("leftAt"), equals("updatedAt", updatedAt), equals("role", role));
const changedMeanwhile = () =>
  conflict("The member was changed by another request: read it again, then retry");

/** Removes a member. The sessions in this organization end at once; API keys stay. */
export async function remove(caller: Caller, userId: number): Promise<void> {
  const item = await findItem(caller, userId);
  const { role, siteIds } = toApi(item);
  requireSitesAccess(caller, siteIds);
  requireGrantable(caller, role);
  await removeItem(caller.orgId, item);
}

/** Removes the caller's own membership. Throws 409 `last_owner`. */
export async function leave(caller: Caller): Promise<void> {
  await removeItem(caller.orgId, await findItem(caller, caller.userId));
}

async function removeItem(orgId: number, item: MemberItem): Promise<void> {
  const at = now().toISOString();
  const { homeOrgId, id } = item;
  await write(
    update(
      keys.member(orgId, id),
      { set: { leftAt: at, updatedAt: at } },
      { if: unchanged(item), orThrow: changedMeanwhile() },
    ),
    ...countTeamWrites(orgId, { members: -1, owners: -ownerCount(item.role) }),
    ...(homeOrgId === undefined ? [] : [removeWrite(keys.userOrganization(homeOrgId, id, orgId))]),
  );
}

/** The user's own key: the organization of the sign-up, and the user id. */
export const userKeyOf = ({ orgId, homeOrgId = orgId, userId }: UserKeySource): UserKey => ({
  orgId: homeOrgId,
  userId,
});
type UserKeySource = UserKey & { homeOrgId?: number | undefined };
