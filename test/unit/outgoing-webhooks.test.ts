import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import { config } from "../../shared/config.ts";
import { type Outcome, signatures } from "../../shared/domain/webhooks/calls.ts";
import { deliveryId, nextPage, placeOf, timeOf } from "../../shared/domain/webhooks/page-numbers.ts";
import * as rows from "../../shared/domain/webhooks/rows.ts";
import { volley } from "../../shared/domain/webhooks/volley.ts";
import { type Endpoint, endpoint, genuine, genuineByStandard, whsecOf } from "../support/endpoint.ts";

const fixture = JSON.parse(readFileSync(new URL("../fixtures/outgoing-webhooks.json", import.meta.url), "utf8"));

describe("signatures", () => {
  const secret = "f00d".repeat(16);
  const body = '{"event":"open","email":"zoë@example.net"}';
  const sign = (...secrets: Parameters<typeof signatures>[0]) => signatures(secrets, "msg_1", 1_764_590_400, body);

  test.each(fixture.interface.cases as { name: string; valid: boolean; signature: string; body: string }[])(
    "X-Webhook-Signature of the interface: $name",
    ({ valid, signature, body: signed }) => {
      expect(signatures([fixture.interface.secret], "msg_1", 1, signed)["x-webhook-signature"] === signature).toBe(valid);
    },
  );

  test("a receiver that passes the published examples of Standard Webhooks takes ours", () => {
    for (const { secret: whsec, headers, body: signed } of fixture.standard)
      expect(genuineByStandard({ headers, body: signed }, whsec)).toBe(true);
    expect(genuineByStandard({ headers: sign(secret), body }, whsecOf(secret))).toBe(true);
  });

  test("one changed byte, another time or another id is not taken", () => {
    const headers = sign(secret);
    expect(genuine({ headers, body: `${body} ` }, secret)).toBe(false);
    for (const changed of [{ "webhook-id": "msg_2" }, { "webhook-timestamp": "1764590401" }])
      expect(genuineByStandard({ headers: { ...headers, ...changed }, body }, whsecOf(secret))).toBe(false);
    expect(genuineByStandard({ headers, body }, whsecOf("0".repeat(64)))).toBe(false);
  });

  test("with two secrets both prove it, each in its place", () => {
    const old = "beef".repeat(16);
    const headers = sign(secret, old);
    expect([genuine({ headers, body }, secret), genuine({ headers, body }, old, "x-webhook-signature-previous")]).toEqual([true, true]);
    expect([secret, old].map((one) => genuineByStandard({ headers, body }, whsecOf(one)))).toEqual([true, true]);
    expect(sign(secret)).not.toHaveProperty("x-webhook-signature-previous");
  });
});

describe("rows", () => {
  const event = { id: 1, event: "open" as const, sendId: 2, contactId: 3, email: "a@example.net", timestamp: "2026-11-21T00:00:00.000Z" };
  const failed: Outcome = { delivered: false, responseStatus: 500, latencyMs: 7, error: "no", timedOut: false };

  test("ten failures are the end, and a success is at any time", () => {
    let row = rows.fresh(event);
    for (let n = 1; n < 10; n++) {
      row = rows.attempted(row, failed, 1);
      expect([row.status, row.attempts]).toEqual(["pending", n]);
      expect(Math.round((Date.parse(row.nextAt!) - Date.parse(row.attemptedAt!)) / 1000)).toBe(rows.retrySeconds[n - 1]);
    }
    const last = rows.attempted(row, failed, 1);
    expect(last).toMatchObject({ status: "dead", attempts: 10 });
    expect(last).not.toHaveProperty("nextAt");
    const success = rows.attempted(row, { ...failed, delivered: true, responseStatus: 204, error: null }, 1);
    expect(success).toMatchObject({ status: "delivered", attempts: 10, responseStatus: 204, error: null });
    expect(rows.again(last)).toMatchObject({ status: "pending", attempts: 10, tries: 0 });
  });

  test("jitter stays within a tenth, and is not always the same", () => {
    const factors = Array.from({ length: 1000 }, rows.jitter);
    expect(Math.min(...factors)).toBeGreaterThanOrEqual(0.9);
    expect(Math.max(...factors)).toBeLessThanOrEqual(1.1);
    expect(new Set(factors).size).toBeGreaterThan(900);
  });
});

test("page numbers tell their time, never repeat in a process, and fit a delivery's id into 2^53 for a hundred years", () => {
  const numbers = Array.from({ length: 1000 }, nextPage);
  expect(new Set(numbers).size).toBe(1000);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(Math.abs(timeOf(numbers[0]!).getTime() - clock.now().getTime())).toBeLessThan(1000);
  const far = new Date("2126-01-01").getTime() * 16;
  expect(deliveryId(far, 99)).toBeLessThan(Number.MAX_SAFE_INTEGER);
  expect(placeOf(deliveryId(far, 99))).toEqual({ page: far, row: 99 });
});

test("an endpoint has 15 seconds to answer", () => {
  expect(config.webhookTimeoutSeconds).toBe(15);
});

describe("many calls of one endpoint", () => {
  const open: Endpoint[] = [];
  afterEach(() => {
    for (const one of open.splice(0)) one.close();
  });
  const events = (n: number) =>
    Array.from({ length: n }, (_, i) => ({
      id: i + 1,
      event: "open" as const,
      sendId: i + 1,
      contactId: null,
      email: "a@example.net",
      timestamp: "2026-11-21T00:00:00.000Z",
    }));
  async function firing(n: number, width: number, answer: Endpoint["answer"], until = clock.after(60)) {
    Object.assign(process.env, { ALLOW_LOOPBACK_WEBHOOKS: "on", WEBHOOK_TIMEOUT_SECONDS: "0.2" });
    const there = await endpoint(answer);
    open.push(there);
    const called = await volley({ id: 1, url: there.url, secrets: ["secret"] }, events(n), width, until);
    for (const name of ["ALLOW_LOOPBACK_WEBHOOKS", "WEBHOOK_TIMEOUT_SECONDS"]) delete process.env[name];
    return { there, called };
  }
  const slowly = (status: number) => async () => {
    await clock.sleep(20);
    return status;
  };

  test("begin with a few, and go on fifty at a time once one was answered", async () => {
    let [before, answered] = [0, 0];
    const { there, called } = await firing(200, 5, async () => {
      if (answered === 0) before++;
      await clock.sleep(20);
      answered++;
      return 200;
    });
    expect(before).toBeLessThanOrEqual(5);
    expect(there.most).toBeGreaterThan(20);
    expect(there.most).toBeLessThanOrEqual(50);
    expect(called.every((one) => one?.outcome.delivered)).toBe(true);
    expect(new Set(called.map((one) => one!.order)).size).toBe(200);
  });

  test("end after as many as were begun with, when all of these hang", async () => {
    const { there, called } = await firing(200, 5, "hang");
    expect(there.heard).toHaveLength(5);
    expect(called.filter(Boolean).map((one) => one!.outcome.timedOut)).toEqual([true, true, true, true, true]);
  });

  test("go on when some hang among others that are answered", async () => {
    const { called } = await firing(100, 5, ({ event }) => (event.sendId % 10 === 0 ? "hang" : 200));
    expect(called.filter((one) => one?.outcome.delivered)).toHaveLength(90);
    expect(called.filter((one) => one?.outcome.timedOut)).toHaveLength(10);
  });

  test("begin no more when the time is up", async () => {
    const { there, called } = await firing(200, 5, slowly(200), clock.now());
    expect(there.heard.length).toBeLessThanOrEqual(50);
    expect(called.filter(Boolean)).toHaveLength(there.heard.length);
  });
});
