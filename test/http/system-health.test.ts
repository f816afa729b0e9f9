import { expect, test } from "vitest";
import { expectStatus, operatorEmail, signedUp } from "../support/api-client.ts";

const asSession = { as: "session" } as const;
const path = "/system/health";

interface Me {
  auth: { isOperator: boolean };
}

// A deployed service has operators of its own.
test.skipIf(process.env.BASE_URL)("an operator reads the health of the installation", async () => {
  const { call } = await signedUp({ email: operatorEmail });
  const me = expectStatus(200, await call<Me>("GET", "/auth/me", undefined, asSession));
  expect(me.body.data.auth.isOperator).toBe(true);
  const health = await call<{ messageQueues: object[] }>("GET", path, undefined, asSession);
  expect(expectStatus(200, health).body.data).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+/),
    checks: { table: { status: "ok" }, queue: { status: "ok" } },
    messageQueues: expect.arrayContaining([expect.objectContaining({ name: "send" })]),
  });
  expectStatus(403, await call("GET", path));
});

test("others do not find it", async () => {
  const { call } = await signedUp();
  const me = expectStatus(200, await call<Me>("GET", "/auth/me", undefined, asSession));
  expect(me.body.data.auth.isOperator).toBe(false);
  expectStatus(404, await call("GET", path, undefined, asSession));
});
