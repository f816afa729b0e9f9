// Scheduled mail at the provider sandbox: it survives a restart, and is read, moved and cancelled
// through each provider's API.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import * as clock from "../../shared/clock.ts";
import { createAccount, listMailTo, startSandbox } from "../support/provider-sandbox.ts";

const from = "news@pennymail.test";
const soon = () => clock.addSeconds(60).toISOString();

async function callApi(
  sandbox: Sandbox,
  provider: string,
  [method, path]: [string, string],
  headers: Record<string, string>,
  body?: object,
) {
  const init = {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  };
  const answer = await fetch(`${sandbox.originByProvider[provider]}${path}`, init);
  const text = await answer.text();
  return { status: answer.status, body: text ? JSON.parse(text) : undefined };
}

async function resendIn(sandbox: Sandbox) {
  const { apiKey } = (await createAccount(sandbox)).resend!.credentials;
  return (method: string, path: string, body?: object) =>
    callApi(sandbox, "resend", [method, path], { authorization: `Bearer ${apiKey}` }, body);
}

it("keeps scheduled mail over a restart", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sandbox-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const first = await startSandbox(folder);
  const resend = await resendIn(first);
  const { body } = await resend("POST", "/emails", {
    from,
    to: "kept@example.net",
    subject: "Kept",
    text: "x",
    scheduled_at: soon(),
  });
  await first.stop();

  const second = await startSandbox(folder);
  onTestFinished(() => second.stop());
  expect(await listMailTo(second, "kept@example.net")).toEqual([]);
  clock.advanceClock(61);
  expect(await listMailTo(second, "kept@example.net")).toMatchObject([
    { subject: "Kept", messageId: body.id },
  ]);
  expect(second.stats().accepted).toBe(1);
});

it("shows, moves and cancels a scheduled mail of Resend", async () => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  const resend = await resendIn(sandbox);
  const to = "moved@example.net";
  const { body } = await resend("POST", "/emails", {
    from,
    to,
    subject: "Moved",
    text: "x",
    scheduled_at: "in 5 minutes",
  });
  const path = `/emails/${body.id}`;
  expect(await resend("GET", path)).toMatchObject({
    status: 200,
    body: { last_event: "scheduled", to: [to] },
  });
  expect(await resend("PATCH", path, { scheduled_at: "some day" })).toMatchObject({ status: 422 });
  expect(await resend("PATCH", path, { scheduled_at: "in 2 hours" })).toMatchObject({
    status: 200,
    body: { object: "email" },
  });
  clock.advanceClock(600);
  expect(await listMailTo(sandbox, to)).toEqual([]);
  expect(await resend("POST", `${path}/cancel`)).toMatchObject({ status: 200 });
  expect(await resend("POST", `${path}/cancel`)).toMatchObject({
    status: 404,
    body: { name: "not_found" },
  });
  clock.advanceClock(7200);
  expect(await listMailTo(sandbox, to)).toEqual([]);
});

it("shows and cancels a scheduled transmission of SparkPost", async () => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  const { apiKey } = (await createAccount(sandbox)).sparkpost!.credentials;
  const call = (method: string, path: string, body?: object) =>
    callApi(
      sandbox,
      "sparkpost",
      [method, `/api/v1/transmissions${path}`],
      { authorization: apiKey! },
      body,
    );
  const options = { start_time: soon() };
  const content = { from, subject: "Later", text: "x" };
  const { body } = await call("POST", "", {
    options,
    content,
    recipients: [{ address: "later@example.net" }],
  });
  const path = `/${body.results.id}`;
  expect(await call("GET", path)).toMatchObject({
    status: 200,
    body: { results: { transmission: { state: "submitted" } } },
  });
  expect(await call("DELETE", path)).toMatchObject({ status: 204 });
  expect(await call("GET", path)).toMatchObject({
    status: 404,
    body: { errors: [{ code: "1600" }] },
  });
  clock.advanceClock(61);
  expect(await listMailTo(sandbox, "later@example.net")).toEqual([]);
});

it("does not show one account's mail to another", async () => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  const [first, second] = [await resendIn(sandbox), await resendIn(sandbox)];
  const { body } = await first("POST", "/emails", {
    from,
    to: "mine@example.net",
    subject: "Mine",
    text: "x",
  });
  expect(await first("GET", `/emails/${body.id}`)).toMatchObject({
    status: 200,
    body: { subject: "Mine", last_event: "delivered" },
  });
  expect(await second("GET", `/emails/${body.id}`)).toMatchObject({ status: 404 });
});
