// Invitations to an organization. The mailed link has a token, and the table its hash. An open
// invitation is one record, which acceptance and revocation delete, so it works once.
import * as z from "zod";
import { any, equals, exists } from "../../adapters/dynamodb/conditions.ts";
import {
  get,
  put,
  queryAll,
  remove,
  transact,
  updateReturning,
  type Write,
  write,
} from "../../adapters/dynamodb/table.ts";
import { type Caller, requireSitesAccess } from "../../caller.ts";
import { addSeconds, now } from "../../clock.ts";
import { config } from "../../config.ts";
import { conflict, unauthenticated, unavailable } from "../../errors.ts";
import { EmailAddress } from "../../kernel/email-fields.ts";
import type { PageRequest, Pagination } from "../../kernel/paging.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { CreatedAt, RecordId, Timestamp, UpdatedAt } from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { queueSystemMail } from "../../kernel/system-mail-queue.ts";
import { keys, ranges } from "../../keys.ts";
import type { LoginRecord } from "./accounts.ts";
import * as attemptLimits from "./attempt-limits.ts";
import * as members from "./members.ts";

export const Invitation = z
  .object({
    id: RecordId.describe("Id of the invitation."),
    email: z.string().describe("Address that the invitation was mailed to."),
    role: members.RoleOfMember,
    siteIds: members.SitesOfMember,
    status: z
      .enum(["open", "expired"])
      .describe("`expired`: the link is older than 7 days. Resend the invitation or revoke it."),
    expiresAt: Timestamp.describe("When the link of the last mail expires."),
    invitedBy: members.NamedUser.describe("The member who created the invitation."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "Invitation" });
export type Invitation = z.output<typeof Invitation>;

export const NewInvitation = z
  .object({
    email: EmailAddress.describe("Address to invite."),
    role: members.RoleOfMember,
    siteIds: members.SitesOfMember.default(null).describe(
      "Ids of the only sites that the member can access. `null`: all sites that you can access. " +
        "Owners always access all sites.",
    ),
  })
  .meta({ examples: [{ email: "bob@shop.example", role: "marketer" }] });
export type NewInvitation = z.output<typeof NewInvitation>;

export type StoredInvitation = Omit<Invitation, "status">;

const toApi = (stored: StoredInvitation): Invitation => ({
  ...stored,
  status: isExpired(stored) ? "expired" : "open",
});
export const isExpired = ({ expiresAt }: StoredInvitation): boolean =>
  expiresAt <= now().toISOString();

const ttlSeconds = 7 * 24 * 3600;
const expiryOf = () => addSeconds(ttlSeconds).toISOString();

/**
 * Stores the invitation and mails it. Throws 403 for a role with rights that the caller does not
 * have, 409 for a member or an invited address, 429 after too many mails to the address or of the
 * organization.
 */
export async function create(caller: Caller, input: NewInvitation): Promise<Invitation> {
  const { email, role } = input;
  const { orgId, userId } = caller;
  const siteIds = input.siteIds ?? (caller.siteIds ? [...caller.siteIds] : null);
  members.requireGrantable(caller, role);
  requireSitesAccess(caller, siteIds);
  requireSystemSender();
  const [inviter, login] = await Promise.all([
    members.getMember(orgId, userId),
    get<LoginRecord>(keys.user(email)),
  ]);
  if (!inviter) throw unauthenticated();
  if (login && (await members.getMember(orgId, login.userId))) throw alreadyMember();
  await attemptLimits.countInvitation(caller, email);
  const record: StoredInvitation = {
    ...(await records.newRecordFields("INVITATION")),
    email,
    role,
    siteIds: siteIds && [...new Set(siteIds)],
    expiresAt: expiryOf(),
    invitedBy: { id: inviter.id, email: inviter.email },
  };
  const alreadyInvited = conflict("The address is already invited: resend the invitation", {
    code: "invitation_exists",
    details: [{ path: "email", message: "is already invited" }],
  });
  const stored = await records.insert("INVITATION", caller, {
    record,
    extraWrites: [
      put(keys.invitedAddress(orgId, email), { id: record.id }, { ifAbsent: alreadyInvited }),
      ...members.countTeamWrites(orgId, { members: 1 }),
      ...members.siteChecks(orgId, { role, siteIds }),
    ],
  });
  await queueSystemMail({ mail: "invitation", orgId, invitationId: stored.id });
  return toApi(stored);
}

function requireSystemSender(): void {
  if (!config.systemSender)
    throw unavailable("The setting SYSTEM_SENDER is missing, so the invitation cannot be mailed");
}

export const alreadyMember = () =>
  conflict("The user is already a member of the organization", { code: "already_member" });

/**
 * Newest first. A caller who is limited to sites sees the invitations to one of these, but not
 * those to all sites.
 */
export async function list(
  caller: Caller,
  request: PageRequest,
): Promise<{ items: Invitation[]; pagination: Pagination }> {
  const isOfOwnSite = caller.siteIds && any(...caller.siteIds.map(members.includesSite));
  const { items, pagination } = await records.list<StoredInvitation>("INVITATION", caller, {
    ...request,
    filter: isOfOwnSite,
  });
  return { items: items.map(toApi), pagination };
}

export const find = async (caller: Caller, id: number): Promise<Invitation> =>
  toApi(await findStored(caller, id));

/** Throws 404, or 403 for an invitation to further sites than those of the caller. */
async function findStored(caller: Caller, id: number): Promise<StoredInvitation> {
  const stored = await records.find<StoredInvitation>("INVITATION", caller, id);
  requireSitesAccess(caller, stored.siteIds);
  return stored;
}

/** Mails a new link that works for 7 days. Earlier links work until they expire. */
export async function resend(caller: Caller, id: number): Promise<Invitation> {
  const stored = await findStored(caller, id);
  members.requireGrantable(caller, stored.role);
  requireSystemSender();
  await attemptLimits.countInvitation(caller, stored.email);
  const resent = await updateReturning<StoredInvitation>(
    records.updateWrite("INVITATION", caller, { id, set: { expiresAt: expiryOf() } }),
  );
  await queueSystemMail({ mail: "invitation", orgId: caller.orgId, invitationId: id });
  return toApi(resent ?? stored);
}

/**
 * Deletes the open invitations of a member who left, or those to a role or to sites that a member
 * with this access cannot give. Their links no longer work.
 */
export async function revokeOf(
  orgId: number,
  userId: number,
  access?: members.MemberAccess,
): Promise<void> {
  const open = await queryAll<StoredInvitation>(ranges.records(orgId, "INVITATION"), {
    filter: equals(["invitedBy", "id"], userId),
    consistent: true,
  });
  const ended = access ? open.filter((one) => !members.mayGive(access, one)) : open;
  await inParallel(4, ended, (stored) =>
    // It may be accepted or revoked at the same time.
    transact(
      ...records.removeWrites(
        "INVITATION",
        { orgId },
        { id: stored.id, condition: { if: exists } },
      ),
      remove(keys.invitedAddress(orgId, stored.email)),
      ...members.countTeamWrites(orgId, { members: -1 }),
    ),
  );
}

/** Deletes the invitation. Its link no longer works. */
export async function revoke(caller: Caller, id: number): Promise<void> {
  const stored = await findStored(caller, id);
  members.requireGrantable(caller, stored.role);
  await write(
    ...endWrites(caller.orgId, stored),
    ...members.countTeamWrites(caller.orgId, { members: -1 }),
  );
}

/** Deletes the record, whichever of its links was used. */
const endWrites = (orgId: number, { id, email }: StoredInvitation): Write[] => [
  ...records.removeWrites("INVITATION", { orgId }, { id }),
  remove(keys.invitedAddress(orgId, email)),
];
