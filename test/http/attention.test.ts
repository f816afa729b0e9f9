import { expect, test } from "vitest";
import { expectStatus, signedUp } from "../support/api-client.ts";

interface Problem {
  code: string;
  severity: string;
  record: object;
}

test("a sender that was never tested needs attention, and a new account nothing", async () => {
  const { call } = await signedUp();
  const read = async () =>
    expectStatus(200, await call<{ problems: Problem[] }>("GET", "/attention")).body.data.problems;
  expect(await read()).toEqual([]);
  const config = {
    provider: "postmark",
    credentials: { apiKey: "token" },
    fromEmail: "hello@shop.example",
  };
  const created = await call<{ id: number }>("POST", "/sending-configs", config);
  const { id } = expectStatus(201, created).body.data;
  expect(await read()).toMatchObject([
    {
      code: "sending_config_unverified",
      severity: "warning",
      record: { type: "sending_config", id, siteId: null },
    },
  ]);
});
