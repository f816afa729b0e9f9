// The operators of the service: users who may see the health of the whole installation. The setting
// OPERATORS names their addresses.
import { get } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { config } from "../../config.ts";
import { keys } from "../../keys.ts";
import type { LoginRecord } from "./accounts.ts";
import { type MemberItem, userKeyOf } from "./members.ts";
import { enabledMethods, getSecondFactors } from "./mfa/second-factors.ts";
import type { SessionItem } from "./sessions.ts";
import type { FirstSignup } from "./signup.ts";

/**
 * Whether the caller is an operator. Only sessions with a password are, because an organization
 * controls its single sign-on. A session that began before the user had a second factor is none.
 */
export async function isOperator(caller: Caller): Promise<boolean> {
  if (caller.kind !== "session" || caller.viaSso) return false;
  const isNamed = config.operators ? await hasNamedAddress(caller) : await isFirstOwner(caller);
  return isNamed && (await passedSecondFactor(caller));
}

async function hasNamedAddress({ orgId, userId }: Caller): Promise<boolean> {
  // Otherwise anybody could sign up with the address of an operator.
  const provesAddresses =
    config.sandboxUrl !== undefined || config.signupMode !== "open" || config.requiresVerifiedEmail;
  if (!provesAddresses) return false;
  const member = await get<MemberItem>(keys.member(orgId, userId));
  if (!member || !config.operators?.includes(member.email.toLowerCase())) return false;
  const login = await get<LoginRecord>(keys.user(member.email));
  return login?.userId === userId && !login.unverified;
}

/** Without the setting, the owners of the first organization, unless strangers can sign up. */
async function isFirstOwner({ orgId, role }: Caller): Promise<boolean> {
  if (role !== "owner" || (config.signupMode === "open" && !config.sandboxUrl)) return false;
  return (await get<FirstSignup>(keys.firstSignup()))?.orgId === orgId;
}

async function passedSecondFactor(caller: Caller): Promise<boolean> {
  const factors = await getSecondFactors(userKeyOf(caller));
  if (enabledMethods(factors).length === 0) return true;
  const session = await get<SessionItem>(keys.session(caller.sessionHash!));
  const since = [factors?.totpSince, factors?.emailOtpSince].filter((at) => at !== undefined);
  return since.some((at) => (session?.createdAt ?? "") >= at);
}
