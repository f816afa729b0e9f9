// A caller who may only edit templates sends test emails to verified members only.
import { afterEach, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as attempts from "../../shared/domain/identity/attempt-limits.ts";
import * as members from "../../shared/domain/identity/members.ts";
import * as signups from "../../shared/domain/identity/signup.ts";
import { createAccount, ownerOf, uniqueEmail } from "../support/accounts.ts";
import { addMember } from "../support/members.ts";

const environment = { ...process.env };
afterEach(() => void Object.assign(process.env, environment));

test("members are verified while they belong to the organization", async () => {
  const { caller, email } = await createAccount();
  const member = await addMember(caller, { role: "viewer" });
  const stranger = await createAccount();
  const isMember = (address: string) => members.isVerifiedMember(caller.orgId, address);
  expect(await isMember(email.toUpperCase())).toBe(true);
  expect(await isMember(member.email)).toBe(true);
  expect(await isMember(stranger.email)).toBe(false);
  expect(await isMember(uniqueEmail())).toBe(false);
  await members.leave(member.caller);
  expect(await isMember(member.email)).toBe(false);
});

test("a member whose address is not verified counts as a stranger", async () => {
  process.env.EMAIL_VERIFICATION = "on";
  const email = uniqueEmail();
  const opened = await signups.signUp({ email, password: "a horse of one's own" });
  expect(await members.isVerifiedMember(ownerOf(opened).orgId, email)).toBe(false);
});

test("an organization can request 100 tests a day", async () => {
  const { caller } = await createAccount();
  const day = 24 * 3600;
  clock.advanceClock(day - (clock.epochSeconds() % day));
  for (let requests = 0; requests < 100; requests++) await attempts.countTemplateTest(caller.orgId);
  await expect(attempts.countTemplateTest(caller.orgId)).rejects.toMatchObject({
    kind: "limited",
    bodyFields: { limit: 100 },
  });
  clock.advanceClock(day);
  await attempts.countTemplateTest(caller.orgId);
});
