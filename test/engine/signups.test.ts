import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterEach, expect, test, vi } from "vitest";
import { createTable } from "../../infra/local/engines/table.ts";
import { get, getMany } from "../../shared/adapters/dynamodb/table.ts";
import * as signups from "../../shared/domain/identity/signup.ts";
import { keys, sha256 } from "../../shared/keys.ts";
import { login, password, uniqueEmail } from "../support/accounts.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A table without accounts. */
async function emptyTable(name: string) {
  await createTable(new DynamoDBClient({}), name);
  vi.stubEnv("TABLE_NAME", name);
}

const codes = (outcomes: PromiseSettledResult<unknown>[]) =>
  outcomes.map((outcome) => (outcome.status === "fulfilled" ? "done" : outcome.reason.code)).sort();

test("concurrent sign-ups with one email create one account and no orphans", async () => {
  const email = uniqueEmail();
  const spellings = [email, email.toUpperCase(), email, email.replace("user", "User")];
  const outcomes = await Promise.allSettled(
    spellings.map((spelling, i) =>
      signups.signUp({ email: spelling, password, organizationName: `${email} ${i}` }),
    ),
  );
  expect(codes(outcomes)).toEqual(["done", "email_taken", "email_taken", "email_taken"]);

  const { organization } = await login({ email, password }, "192.0.2.10");
  const near = Array.from({ length: 41 }, (_, i) =>
    keys.organization(Math.max(1, organization.id - 20) + i),
  );
  const found = await getMany<{ id: number; name: string }>(near, { consistent: true });
  expect(found.filter((one) => one?.name.startsWith(email)).map((one) => one?.id)).toEqual([
    organization.id,
  ]);
});

test("in mode first two concurrent sign-ups create one organization", async () => {
  await emptyTable("first-race");
  vi.stubEnv("SIGNUP", "first");
  expect(await signups.getState()).toEqual({ open: true, first: true });
  const outcomes = await Promise.allSettled(
    [1, 2, 3, 4].map(() => signups.signUp({ email: uniqueEmail(), password })),
  );
  expect(codes(outcomes)).toEqual(["done", "signup_closed", "signup_closed", "signup_closed"]);
  await expect(signups.signUp({ email: uniqueEmail(), password })).rejects.toMatchObject({
    kind: "forbidden",
    code: "signup_closed",
  });
});

test("mode first counts sign-ups from the time in mode open", async () => {
  await emptyTable("first-after-open");
  await signups.signUp({ email: uniqueEmail(), password });
  expect(await signups.getState()).toEqual({ open: true, first: false });
  vi.stubEnv("SIGNUP", "first");
  expect(await signups.getState()).toEqual({ open: false, first: false });
  await expect(signups.signUp({ email: uniqueEmail(), password })).rejects.toMatchObject({
    code: "signup_closed",
  });
});

test("in mode off even the first sign-up fails", async () => {
  await emptyTable("off");
  vi.stubEnv("SIGNUP", "off");
  expect(await signups.getState()).toEqual({ open: false, first: true });
  await expect(signups.signUp({ email: uniqueEmail(), password })).rejects.toMatchObject({
    code: "signup_closed",
  });
});

test("with mode first and no plans for sale, the operator gets the plan unlimited", async () => {
  await emptyTable("first-unlimited");
  vi.stubEnv("SIGNUP", "first");
  expect((await signups.signUp({ email: uniqueEmail(), password })).organization.plan).toBe(
    "unlimited",
  );
  await emptyTable("first-selling");
  vi.stubEnv("STRIPE_SECRET_KEY", "sk_test");
  expect((await signups.signUp({ email: uniqueEmail(), password })).organization.plan).toBe("free");
});

test("a new organization gets the plan of DEFAULT_PLAN, and an unknown plan is a 503", async () => {
  vi.stubEnv("DEFAULT_PLAN", "growth");
  expect((await signups.signUp({ email: uniqueEmail(), password })).organization.plan).toBe(
    "growth",
  );
  vi.stubEnv("DEFAULT_PLAN", "gold");
  await expect(signups.signUp({ email: uniqueEmail(), password })).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("DEFAULT_PLAN"),
  });
});

test("password and session token are not stored in plain text", async () => {
  const email = uniqueEmail();
  const { token, organization, user } = await signups.signUp({ email, password });
  const addresses = [
    keys.user(email),
    keys.session(sha256(token)),
    keys.organization(organization.id),
    keys.member(organization.id, user.id),
  ];
  const items = await Promise.all(addresses.map((address) => get<object>(address)));
  expect(items.every(Boolean)).toBe(true);
  expect(JSON.stringify(items)).not.toContain(password);
  expect(JSON.stringify(items)).not.toContain(token);
});
