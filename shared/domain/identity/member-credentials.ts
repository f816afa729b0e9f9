// What a member leaves behind: API keys that the member created, and open invitations. Keys belong
// to the organization and stay unless the caller revokes them, because programs depend on them.
import type { Caller } from "../../caller.ts";
import { undefinedIfMissing } from "../../errors.ts";
import { inParallel } from "../../kernel/parallel.ts";
import * as apiKeys from "./api-keys.ts";
import * as invitations from "./invitations.ts";
import * as members from "./members.ts";

interface KeyChoice {
  revokeApiKeys: boolean;
}
type KeysOfMember = Pick<members.MemberItem, "id" | "homeOrgId" | "role">;

/** Changes role and sites. Returns the API keys of the member that still work. */
export async function changeMember(
  caller: Caller,
  userId: number,
  { revokeApiKeys, ...changes }: members.MemberChanges & KeyChoice,
): Promise<members.Member & { apiKeys: apiKeys.CreatedApiKey[] }> {
  const item = await members.findItem(caller, userId);
  const member = await members.change(caller, userId, changes);
  await invitations.revokeOf(caller.orgId, userId, member);
  return { ...member, apiKeys: await keysLeft(caller, item, revokeApiKeys) };
}

/** Removes a member, whose open invitations end. Returns the API keys that still work. */
export async function removeMember(
  caller: Caller,
  userId: number,
  { revokeApiKeys }: KeyChoice,
): Promise<apiKeys.CreatedApiKey[]> {
  const item = await members.findItem(caller, userId);
  await members.remove(caller, userId);
  await invitations.revokeOf(caller.orgId, userId);
  return keysLeft(caller, item, revokeApiKeys);
}

/** Ends the caller's own membership and open invitations. */
export async function leave(caller: Caller): Promise<void> {
  await members.leave(caller);
  await invitations.revokeOf(caller.orgId, caller.userId);
}

async function keysLeft(
  caller: Caller,
  item: KeysOfMember,
  revokes: boolean,
): Promise<apiKeys.CreatedApiKey[]> {
  const list = () => apiKeys.listOfCreator(caller, item);
  const found = await list();
  if (!revokes) return found;
  await inParallel(4, found, ({ id }) => apiKeys.remove(caller, id).catch(undefinedIfMissing));
  return list();
}
