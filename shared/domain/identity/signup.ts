// Sign-up: creates a user, an organization and a session in one transaction.
import * as z from "zod";
import { get, put, update, type Write, write } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import { conflict, forbidden, unavailable } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { EmailAddress } from "../../kernel/email-fields.ts";
import { queueSystemMail } from "../../kernel/system-mail-queue.ts";
import { keys } from "../../keys.ts";
import { defaultPlan } from "../../plans.ts";
import type { LoginRecord, OpenedSession } from "./accounts.ts";
import { NameOfUser } from "./members.ts";
import * as organizations from "./organizations.ts";
import * as passwords from "./passwords.ts";
import * as sessions from "./sessions.ts";

export const NewAccount = z.object({
  email: EmailAddress.describe("Email address to log in with."),
  password: passwords.NewPassword.describe(passwords.newPasswordRule),
  name: NameOfUser.optional().describe("Name of the user."),
  organizationName: organizations.OrganizationName.optional().describe(
    "Name of the organization. Defaults to `name`, then to the part of `email` before the @.",
  ),
});
export type NewAccount = z.output<typeof NewAccount>;

export const SignupState = z
  .object({
    open: z.boolean().describe("Whether somebody can sign up now."),
    first: z.boolean().describe("Whether nobody has signed up yet."),
  })
  .meta({ id: "SignupState" });
export type SignupState = z.output<typeof SignupState>;

export async function getState(): Promise<SignupState> {
  const mode = signupMode();
  const first = !(await hasOrganization());
  return { open: mode === "open" || (mode === "first" && first), first };
}

/** Throws 409 `email_taken`, or 403 `signup_closed` if the setting SIGNUP does not allow it. */
export async function signUp(
  { email, password, name = null, organizationName }: NewAccount,
  client?: sessions.SessionClient,
): Promise<OpenedSession> {
  const policy = signupPolicies[signupMode()];
  const isFirst = await policy.isFirst();
  passwords.requireStrongPassword(password, { known: [email, name, organizationName] });
  const plan = defaultPlan();
  if (!plan) throw unavailable("The setting DEFAULT_PLAN is not the name of a plan");
  const [userId, orgId, hash] = await Promise.all([
    ids.nextId("USER"),
    ids.nextId("ORG"),
    passwords.hashPassword(password),
  ]);
  const at = now().toISOString();
  const stamp = { createdAt: at, updatedAt: at };
  const user = { id: userId, email, name, ...stamp };
  const organization = {
    id: orgId,
    name: organizationName ?? name ?? email.split("@")[0]!,
    plan,
    timezone: "UTC",
    sessionIdleMinutes: null,
    ...stamp,
  };
  const unverified = config.requiresVerifiedEmail && { unverified: true };
  const credentials = { password: hash, passwordChangedAt: at };
  const login: LoginRecord = { orgId, userId, name, ...credentials, ...unverified };
  const { token, writes } = sessions.prepareSession(login, { client });
  const emailTaken = conflict("An account with this email already exists", {
    code: "email_taken",
    details: [{ path: "email", message: "email is already in use" }],
  });
  await write(
    ...(isFirst ? [policy.firstWrite({ createdAt: at, orgId })] : []),
    put(keys.user(email), login, { ifAbsent: emailTaken }),
    organizations.createWrite({ ...organization, ...unverified }),
    put(keys.member(orgId, userId), { ...user, role: "owner" }, { ifAbsent: true }),
    ...writes,
  );
  if (unverified) await queueSystemMail({ mail: "verify_email", email });
  const own = { id: orgId, name: organization.name, role: "owner" as const, requiresSso: false };
  return { user, organization, token, organizations: [own] };
}

const signupClosed = () =>
  forbidden("Sign-up is closed on this service", { code: "signup_closed" });
/** Marks that there is an organization. */
export interface FirstSignup {
  createdAt: string;
  /** The first organization. */
  orgId: number;
}

const hasOrganization = async (): Promise<boolean> =>
  (await get<FirstSignup>(keys.firstSignup())) !== undefined;

interface SignupPolicy {
  /** Throws if nobody may sign up now. */
  isFirst(): Promise<boolean>;
  firstWrite(mark: FirstSignup): Write;
}

/** In mode `first`, of two sign-ups at the same time only one succeeds. */
const signupPolicies = {
  open: {
    isFirst: async () => !(await hasOrganization()),
    firstWrite: (mark) => update(keys.firstSignup(), { setIfAbsent: { ...mark } }),
  },
  first: {
    isFirst: async () => {
      if (await hasOrganization()) throw signupClosed();
      return true;
    },
    firstWrite: (mark) => put(keys.firstSignup(), mark, { ifAbsent: signupClosed() }),
  },
  off: {
    isFirst: async () => {
      throw signupClosed();
    },
    firstWrite: () => {
      throw signupClosed();
    },
  },
} satisfies Record<string, SignupPolicy>;

function signupMode(): keyof typeof signupPolicies {
  if (Object.hasOwn(signupPolicies, config.signupMode))
    return config.signupMode as keyof typeof signupPolicies;
  throw unavailable("The setting SIGNUP must be open, first or off");
}
