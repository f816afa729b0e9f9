import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterEach, expect, test, vi } from "vitest";
import { createTable } from "../../infra/local/table.ts";
import * as signups from "../../shared/domain/signups.ts";
import { get, getMany } from "../../shared/doors/table.ts";
import { keys, sha256 } from "../../shared/keys.ts";
import { freshEmail, loggedIn, password } from "../support/callers.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A table where nobody has signed up yet. */
async function emptyTable(name: string) {
  await createTable(new DynamoDBClient({}), name);
  vi.stubEnv("TABLE_NAME", name);
}

const codes = (outcomes: PromiseSettledResult<unknown>[]) =>
  outcomes.map((outcome) => (outcome.status === "fulfilled" ? "done" : outcome.reason.code)).sort();

test("racing signups with one email make one account and no orphans", async () => {
  const email = freshEmail();
  const spellings = [email, email.toUpperCase(), email, email.replace("user", "User")];
  const outcomes = await Promise.allSettled(
    spellings.map((spelling, i) => signups.signup({ email: spelling, password, organizationName: `${email} ${i}` })),
  );
  expect(codes(outcomes)).toEqual(["done", "email_taken", "email_taken", "email_taken"]);

  const { organization } = await loggedIn({ email, password }, "192.0.2.10");
  const near = Array.from({ length: 41 }, (_, i) => keys.organization(Math.max(1, organization.id - 20) + i));
  const found = await getMany<{ id: number; name: string }>(near, { consistent: true });
  expect(found.filter((one) => one?.name.startsWith(email)).map((one) => one?.id)).toEqual([organization.id]);
});

test("in first mode two racing signups make one organization", async () => {
  await emptyTable("first-race");
  vi.stubEnv("SIGNUP", "first");
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => signups.signup({ email: freshEmail(), password })));
  expect(codes(outcomes)).toEqual(["done", "signup_closed", "signup_closed", "signup_closed"]);
  await expect(signups.signup({ email: freshEmail(), password })).rejects.toMatchObject({ kind: "forbidden", code: "signup_closed" });
});

test("first mode knows of those who signed up while signups were open", async () => {
  await emptyTable("first-after-open");
  await signups.signup({ email: freshEmail(), password });
  vi.stubEnv("SIGNUP", "first");
  await expect(signups.signup({ email: freshEmail(), password })).rejects.toMatchObject({ code: "signup_closed" });
});

test("when signups are off nobody signs up, not even the first", async () => {
  await emptyTable("off");
  vi.stubEnv("SIGNUP", "off");
  await expect(signups.signup({ email: freshEmail(), password })).rejects.toMatchObject({ code: "signup_closed" });
});

test("a new organization is on the plan that DEFAULT_PLAN names, and a plan that does not exist is said so", async () => {
  vi.stubEnv("DEFAULT_PLAN", "growth");
  expect((await signups.signup({ email: freshEmail(), password })).organization.plan).toBe("growth");
  vi.stubEnv("DEFAULT_PLAN", "gold");
  await expect(signups.signup({ email: freshEmail(), password })).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("DEFAULT_PLAN"),
  });
});

test("neither password nor session token is stored", async () => {
  const email = freshEmail();
  const { token, organization, user } = await signups.signup({ email, password });
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
