import { expect, inject, test } from "vitest";
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

interface Sandbox {
  data: { providers: { postmark: { credentials: object } } };
}
interface Checklist {
  complete: boolean;
  steps: { key: string; done: boolean; required: boolean; recordId: number | null }[];
}

test("the setup checklist names what is done, up to the first email", async () => {
  const { call, siteId, email } = await signedUp();
  const read = async () => {
    const { data } = expectStatus(200, await call<Checklist>("GET", "/org/setup")).body;
    const done = data.steps.filter((step) => step.done).map(({ key }) => key);
    return { ...data, done };
  };
  const first = await read();
  expect(first).toMatchObject({ complete: false, done: ["site"] });
  expect(first.steps.map(({ key, required, recordId }) => [key, required, recordId])).toEqual([
    ["site", true, siteId],
    ["sending_config", true, null],
    ["domain", false, null],
    ["verified_sender", true, null],
    ["provider_reports", false, null],
    ["postal_address", true, siteId],
    ["first_send", true, null],
  ]);
  const sandbox = await fetch(`${inject("baseUrl")}/_local/sandbox`);
  const { credentials } = ((await sandbox.json()) as Sandbox).data.providers.postmark;
  const config = { provider: "postmark", credentials, fromEmail: "hello@shop.example" };
  const created = await call<{ id: number }>("POST", "/sending-configs", config);
  const { id } = expectStatus(201, created).body.data;
  expect((await read()).done).toEqual(["site", "sending_config"]);
  expectStatus(200, await call("POST", `/sending-configs/${id}/verify`, { to: email }));
  expectStatus(200, await call("PUT", "/compliance", { physicalAddress: "1 Main Street" }));
  expect((await read()).done).not.toContain("first_send");
  const mail = { to: email, sendingConfigId: id, subject: "Hello", html: "<p>Hello</p>" };
  expectStatus(202, await call("POST", "/send", mail));
  expect(await read()).toMatchObject({
    complete: true,
    done: ["site", "sending_config", "verified_sender", "postal_address", "first_send"],
  });
});
