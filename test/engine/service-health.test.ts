// GET /health while the table or the queues fail.
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { health } from "../../functions/http/health.ts";
import * as clock from "../../shared/clock.ts";
import { create, NewApiKey } from "../../shared/domain/identity/api-keys.ts";
import { createAccount } from "../support/accounts.ts";
import { installFaultHooks, setFault, timeoutFault } from "../support/adapter-faults.ts";
import type { CallInterceptor } from "../support/aws-calls.ts";
import { invokeRoute } from "../support/lambda-requests.ts";

interface Health {
  status: string;
  version?: string;
  checks?: Record<string, { status: string; since: string | null }>;
}

let key: string;
beforeAll(async () => {
  installFaultHooks();
  const { caller } = await createAccount();
  ({ key } = await create(caller, NewApiKey.parse({ name: "Monitor" })));
});
// Ends the cache of the test before.
beforeEach(() => clock.advanceClock(3));
afterEach(() => {
  for (const service of ["dynamodb", "sqs"] as const) setFault(service, undefined);
});

const asStranger = () => invokeRoute<Health>(health, "GET /health");
const asCaller = (credential = key) =>
  invokeRoute<Health>(health, "GET /health", {
    headers: { authorization: `Bearer ${credential}` },
  });
const silent: CallInterceptor = () => new Promise(() => {});
const ok = { status: "ok", since: null };
const failed = { status: "failed", since: expect.stringMatching(/^\d{4}-.*Z$/) };

test("without a valid credential, returns only the status", async () => {
  for (const { status, body } of [
    await asStranger(),
    await asCaller(`pm_live_${"x".repeat(48)}`),
  ]) {
    expect(status).toBe(200);
    expect(body).toEqual({ data: { status: "ok" } });
  }
});

test("with a credential, also returns the version and each check", async () => {
  const { status, body } = await asCaller();
  expect(status).toBe(200);
  expect(body.data).toEqual({
    status: "ok",
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    checks: { table: ok, queue: ok },
  });
});

test("returns 503 if a queue fails, with the failed check and its start for callers", async () => {
  setFault("sqs", timeoutFault);
  const { status, body } = await asCaller();
  expect(status).toBe(503);
  expect(body.data).toMatchObject({ status: "degraded", checks: { table: ok, queue: failed } });
  const { since } = body.data.checks!.queue!;
  clock.advanceClock(60);
  expect((await asCaller()).body.data.checks!.queue!.since).toBe(since);
  const anonymous = await asStranger();
  expect(anonymous.status).toBe(503);
  expect(anonymous.body).toEqual({ data: { status: "degraded" } });
  setFault("sqs", undefined);
  clock.advanceClock(3);
  expect((await asCaller()).body.data.checks!.queue).toEqual(ok);
});

test("returns 503 if the table fails, without checking credentials", async () => {
  setFault("dynamodb", timeoutFault);
  for (const { status, body } of [await asStranger(), await asCaller()]) {
    expect(status).toBe(503);
    expect(body).toEqual({ data: { status: "degraded" } });
  }
});

test.each(["dynamodb", "sqs"] as const)("returns 503 if the %s never responds", async (service) => {
  setFault(service, silent);
  const { status, body } = await asStranger();
  expect(status).toBe(503);
  expect(body.data).toEqual({ status: "degraded" });
});

test("returns only the status if the credential cannot be checked in time", async () => {
  await asStranger();
  setFault("dynamodb", silent);
  const { status, body } = await asCaller();
  expect(status).toBe(200);
  expect(body).toEqual({ data: { status: "ok" } });
});

test("requests within 2 seconds share one check", async () => {
  const calls = { dynamodb: 0, sqs: 0 };
  for (const service of ["dynamodb", "sqs"] as const)
    setFault(service, (_, go) => {
      calls[service]++;
      return go();
    });
  await Promise.all(Array.from({ length: 50 }, asStranger));
  await asStranger();
  expect(calls).toEqual({ dynamodb: 1, sqs: 1 });
});
