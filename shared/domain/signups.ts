// Signup: a user, an organization and a session, or nothing of it.
import * as z from "zod";
import { now } from "../clock.ts";
import { config } from "../config.ts";
import { get, put, update, type Write, write } from "../doors/table.ts";
import { EmailAddress } from "../email.ts";
import { conflict, forbidden, unavailable } from "../errors.ts";
import * as ids from "../ids.ts";
import { keys } from "../keys.ts";
import { type PlanKey, plans } from "../plans.ts";
import { type Login, type Opened, UserName } from "./accounts.ts";
import * as organizations from "./organizations.ts";
import * as passwords from "./passwords.ts";
import * as sessions from "./sessions.ts";

export const NewAccount = z.object({
  email: EmailAddress,
  password: passwords.NewPassword,
  name: UserName.optional(),
  organizationName: organizations.OrganizationName.optional(),
});
export type NewAccount = z.output<typeof NewAccount>;

/** 409 `email_taken`; 403 `signup_closed` where the setting SIGNUP does not let anyone in (any more). */
export async function signup({ email, password, name = null, organizationName }: NewAccount): Promise<Opened> {
  const admission = await admissions[signupMode()]();
  const plan = defaultPlan();
  const [userId, orgId, hash] = await Promise.all([ids.take("USER"), ids.take("ORG"), passwords.hash(password)]);
  const at = now().toISOString();
  const stamp = { createdAt: at, updatedAt: at };
  const user = { id: userId, email, name, ...stamp };
  const organization = { id: orgId, name: organizationName ?? name ?? email.split("@")[0]!, plan, timezone: "UTC", ...stamp };
  const login: Login = { orgId, userId, name, password: hash, passwordChangedAt: at };
  const { token, writes } = sessions.opening(login);
  const taken = conflict("An account with this email exists already", {
    code: "email_taken",
    details: [{ path: "email", message: "email is taken" }],
  });
  await write(
    ...admission,
    put(keys.user(email), login, { new: taken }),
    organizations.opening(organization),
    put(keys.member(orgId, userId), user, { new: true }),
    ...writes,
  );
  return { user, organization, token };
}

const closed = () => forbidden("This service takes no new accounts", { code: "signup_closed" });
const anyoneYet = () => get(keys.firstOrganization());

/** What must be written beside a signup, so that two at once cannot both be the first. Throws when nobody may sign up. */
const admissions = {
  open: async (): Promise<Write[]> =>
    (await anyoneYet()) ? [] : [update(keys.firstOrganization(), { initialize: { createdAt: now().toISOString() } })],
  first: async (): Promise<Write[]> => {
    if (await anyoneYet()) throw closed();
    return [put(keys.firstOrganization(), { createdAt: now().toISOString() }, { new: closed() })];
  },
  off: async (): Promise<Write[]> => {
    throw closed();
  },
};

function signupMode(): keyof typeof admissions {
  if (Object.hasOwn(admissions, config.signup)) return config.signup as keyof typeof admissions;
  throw unavailable("The setting SIGNUP must be open, first or off");
}

function defaultPlan(): PlanKey {
  if (Object.hasOwn(plans, config.defaultPlan)) return config.defaultPlan as PlanKey;
  throw unavailable("The setting DEFAULT_PLAN names no plan");
}
