import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { get, put, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import * as verification from "../../shared/domain/identity/email-verification.ts";
import * as mfa from "../../shared/domain/identity/mfa/mfa.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import * as passwordChanges from "../../shared/domain/identity/password-changes.ts";
import { getSettings } from "../../shared/domain/identity/sso/settings.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { keys } from "../../shared/keys.ts";
import { createAccount, login } from "../support/accounts.ts";
import { crashAtEveryStep, interceptClients } from "../support/crash-injection.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import { accept, callerOf, invite } from "../support/members.ts";
import { findRoute, type RouteSignature } from "../support/one-of-each-record.ts";

interceptClients();
beforeAll(() => {
  vi.stubEnv("EMAIL_VERIFICATION", "on");
});
afterAll(() => {
  vi.unstubAllEnvs();
});

const call = async (token: string, signature: RouteSignature, body: object = {}) => {
  const { group } = findRoute(signature);
  const cookies = [`${sessionCookieName}=${token}`];
  return (await invokeRoute(group, signature, { cookies, params: { id: "987654321" }, body })).body
    .code;
};
const mayReach = async (token: string) =>
  (await call(token, "POST /send", { to: "ann@example.com", subject: "Hi", html: "Hi" })) !==
  "email_not_verified";
const tokenFor = async (email: string) => (await verification.createToken(email))!.token;

test("an unverified account cannot send or invite, but can set up", async () => {
  const { token } = await createAccount();
  const refused: RouteSignature[] = [
    "POST /send",
    "POST /send/batch",
    "POST /campaigns/:id/send",
    "POST /sequences",
    "POST /invitations",
    "POST /sending-configs/:id/verify",
    "POST /forms",
    "POST /reports/schedules",
    "PUT /sso",
    "POST /webhooks",
    "PUT /webhooks/:id",
  ];
  for (const signature of refused)
    expect([signature, await call(token, signature)]).toEqual([signature, "email_not_verified"]);
  for (const signature of ["POST /sites", "POST /api-keys", "POST /sending-configs"] as const)
    expect([signature, await call(token, signature)]).not.toContain("email_not_verified");
});

test("the mailed link works once and for 24 hours, and then the account can send", async () => {
  const { token, email } = await createAccount();
  const late = await tokenFor(email);
  clock.advanceClock(24 * 3600);
  await expect(verification.verify(late)).rejects.toMatchObject({ code: "invalid_token" });
  const opened = await login({ email, password: "a horse of one's own" }, "192.0.2.90");
  expect(await mayReach(opened.token)).toBe(false);
  const mailed = await tokenFor(email);
  await verification.verify(mailed);
  expect(await mayReach(opened.token)).toBe(true);
  await expect(verification.verify(mailed)).rejects.toMatchObject({ code: "invalid_token" });
  expect(await verification.createToken(email)).toBeUndefined();
  expect(token).not.toBe(opened.token);
});

test("an account from before the verification, or without the setting, can send", async () => {
  vi.stubEnv("EMAIL_VERIFICATION", "off");
  const { token } = await createAccount();
  vi.stubEnv("EMAIL_VERIFICATION", "on");
  expect(await mayReach(token)).toBe(true);
});

test("a reset of an unverified account revokes keys, second factors, single sign-on and sessions", async () => {
  const { caller, email, token } = await createAccount();
  await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "kept by the first person" }));
  await mfa.enableEmailOtp(caller);
  const providerId = "of the first person";
  await write(
    put(keys.sso(caller.orgId), { providerId }),
    update(keys.organization(caller.orgId), { set: { sso: { providerId } } }),
  );
  const reset = (await passwordChanges.createResetToken(email))!;
  expect(await passwordChanges.resetPassword(reset.token, "quite a new password")).toEqual([]);
  expect(await getSettings(caller.orgId)).toBeUndefined();
  expect((await organizations.find(caller.orgId)).sso).toBeUndefined();
  expect(await apiKeys.list(caller, { limit: 5 })).toMatchObject({ items: [] });
  expect(await get(keys.secondFactors(caller.orgId, caller.userId))).toBeUndefined();
  const opened = await login({ email, password: "quite a new password" }, "192.0.2.91");
  expect(await mayReach(opened.token)).toBe(true);
  await expect(callerOf({ token, organization: opened.organization })).rejects.toMatchObject({
    kind: "unauthenticated",
  });
});

test("a reset of a verified account keeps keys and second factors", async () => {
  const { caller, email } = await createAccount();
  await verification.verify(await tokenFor(email));
  await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "server" }));
  await mfa.enableEmailOtp(caller);
  const reset = (await passwordChanges.createResetToken(email))!;
  expect(await passwordChanges.resetPassword(reset.token, "quite a new password")).toHaveLength(1);
  expect(await mfa.getStatus(caller)).toMatchObject({ emailOtp: { enabled: true } });
});

test("whoever accepts an invitation with the mailed link has verified the address", async () => {
  const owner = await createAccount();
  await verification.verify(await tokenFor(owner.email));
  const user = await createAccount();
  const { token } = await invite(owner.caller, { role: "viewer", email: user.email });
  await accept(token, user.password);
  expect(await verification.createToken(user.email)).toBeUndefined();
  expect(await mayReach(user.token)).toBe(true);
});

test("a reset that crashes can be repeated, and then nothing of the first person is left", async () => {
  const steps = await crashAtEveryStep(async (kill) => {
    const { caller, email, token, opened } = await createAccount();
    await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "first person" }));
    const reset = (await passwordChanges.createResetToken(email))!;
    await kill(() => passwordChanges.resetPassword(reset.token, "quite a new password"));
    const again = await passwordChanges.createResetToken(email);
    await passwordChanges.resetPassword(again!.token, "quite a new password");
    expect((await apiKeys.list(caller, { limit: 5 })).items).toEqual([]);
    await expect(callerOf({ token, organization: opened.organization })).rejects.toThrow();
  });
  expect(steps).toContain("after TransactWriteItems");
});
