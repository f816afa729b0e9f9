// The organizations that a user is a member of.
import * as z from "zod";
import { getMany, queryAll } from "../../adapters/dynamodb/table.ts";
import { RecordId } from "../../kernel/record-fields.ts";
import { type Key, keys, ranges } from "../../keys.ts";
import { type MemberItem, RoleOfMember, toApi } from "./members.ts";
import type { Organization } from "./organizations.ts";
import type { UserKey } from "./sessions.ts";
import { requiresSso, type SsoMark } from "./sso/enforcement.ts";

export const UserOrganization = z
  .object({
    id: RecordId.describe("Id of the organization."),
    name: z.string().describe("Name of the organization."),
    role: RoleOfMember.describe("Role of the user in it."),
    requiresSso: z
      .boolean()
      .describe(
        "Whether the user can open it only by single sign-on: a login with the password and POST " +
          "/auth/switch do not.",
      ),
  })
  .meta({ id: "UserOrganization" });
export type UserOrganization = z.output<typeof UserOrganization>;

/** An invitation beyond this number is refused, so that every login stays cheap. */
export const maxOrganizationsOfUser = 50;

/** That of the sign-up first, then by id. `onlyOrgId`: leaves out all others. */
export async function listOrganizations(
  user: UserKey,
  onlyOrgId?: number | undefined,
): Promise<UserOrganization[]> {
  const further = await queryAll<Key>(ranges.userOrganizations(user.orgId, user.userId), {
    consistent: true,
  });
  const ids = [user.orgId, ...further.map(({ sk }) => Number(sk))].filter(
    (id) => onlyOrgId === undefined || id === onlyOrgId,
  );
  const [members, organizations] = await Promise.all([
    getMany<MemberItem>(
      ids.map((id) => keys.member(id, user.userId)),
      { consistent: true },
    ),
    getMany<Organization & SsoMark>(ids.map(keys.organization), { consistent: true }),
  ]);
  return ids.flatMap((id, i) => {
    const [member, organization] = [members[i], organizations[i]];
    if (!member || member.leftAt !== undefined || !organization) return [];
    const requires = requiresSso(organization, member);
    return [{ id, name: organization.name, role: toApi(member).role, requiresSso: requires }];
  });
}
