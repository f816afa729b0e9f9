import { readFileSync } from "node:fs";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import { config } from "../../shared/config.ts";
import type { DeliveryAttempt } from "../../shared/domain/webhooks/deliver-event.ts";
import {
  batchTime,
  deliveryId,
  nextBatchNumber,
  parseDeliveryId,
} from "../../shared/domain/webhooks/delivery-log.ts";
import * as rows from "../../shared/domain/webhooks/delivery-row.ts";
import { deliverInParallel } from "../../shared/domain/webhooks/parallel-deliveries.ts";
import { signatureHeaders } from "../../shared/domain/webhooks/signature-headers.ts";
import {
  type CustomerEndpoint,
  hasStandardSignature,
  hasValidSignature,
  startCustomerEndpoint,
  toWhsec,
} from "../support/customer-endpoint.ts";
import { manualTimeouts } from "../support/timeouts.ts";

const fixture = JSON.parse(
  readFileSync(new URL("../fixtures/outgoing-webhooks.json", import.meta.url), "utf8"),
);

describe("signatures", () => {
  const secret = "f00d".repeat(16);
  const body = '{"event":"open","email":"zoë@example.net"}';
  const sign = (...secrets: Parameters<typeof signatureHeaders>[0]) =>
    signatureHeaders(secrets, { id: "msg_1", timestamp: 1_764_590_400, body });

  test.each(
    fixture.interface.cases as { name: string; valid: boolean; signature: string; body: string }[],
  )("X-Webhook-Signature has the documented value: $name", ({ valid, signature, body: signed }) => {
    expect(
      signatureHeaders([fixture.interface.secret], { id: "msg_1", timestamp: 1, body: signed })[
        "x-webhook-signature"
      ] === signature,
    ).toBe(valid);
  });

  test("are accepted by a receiver that passes the published examples of Standard Webhooks", () => {
    for (const { secret: whsec, headers, body: signed } of fixture.standard)
      expect(hasStandardSignature({ headers, body: signed }, whsec)).toBe(true);
    expect(hasStandardSignature({ headers: sign(secret), body }, toWhsec(secret))).toBe(true);
  });

  test("are rejected after a change of one byte, the time or the id", () => {
    const headers = sign(secret);
    expect(hasValidSignature({ headers, body: `${body} ` }, secret)).toBe(false);
    for (const changed of [{ "webhook-id": "msg_2" }, { "webhook-timestamp": "1764590401" }])
      expect(
        hasStandardSignature({ headers: { ...headers, ...changed }, body }, toWhsec(secret)),
      ).toBe(false);
    expect(hasStandardSignature({ headers, body }, toWhsec("0".repeat(64)))).toBe(false);
  });

  test("are made with both secrets, each in its header", () => {
    const old = "beef".repeat(16);
    const headers = sign(secret, old);
    expect([
      hasValidSignature({ headers, body }, secret),
      hasValidSignature({ headers, body }, old, "x-webhook-signature-previous"),
    ]).toEqual([true, true]);
    expect(
      [secret, old].map((one) => hasStandardSignature({ headers, body }, toWhsec(one))),
    ).toEqual([true, true]);
    expect(sign(secret)).not.toHaveProperty("x-webhook-signature-previous");
  });
});

describe("delivery rows", () => {
  const event = {
    id: 1,
    event: "open" as const,
    sendId: 2,
    contactId: 3,
    email: "a@example.net",
    timestamp: "2026-11-21T00:00:00.000Z",
    details: {},
  };
  const failed: DeliveryAttempt = {
    delivered: false,
    responseStatus: 500,
    responseBody: "oops",
    latencyMs: 7,
    error: "no",
    timedOut: false,
  };

  test("are dead after ten failures, and delivered after a success at any attempt", () => {
    let row = rows.newRow(event);
    for (let n = 1; n < 10; n++) {
      row = rows.withAttempt(row, failed, 1);
      expect([row.status, row.attempts]).toEqual(["pending", n]);
      expect(Math.round((Date.parse(row.nextAt!) - Date.parse(row.attemptedAt!)) / 1000)).toBe(
        rows.retrySeconds[n - 1],
      );
    }
    const last = rows.withAttempt(row, failed, 1);
    expect(last).toMatchObject({ status: "dead", attempts: 10 });
    expect(last).not.toHaveProperty("nextAt");
    const success = rows.withAttempt(
      row,
      { ...failed, delivered: true, responseStatus: 204, error: null },
      1,
    );
    expect(success).toMatchObject({
      status: "delivered",
      attempts: 10,
      responseStatus: 204,
      error: null,
    });
    expect(rows.resetSchedule(last)).toMatchObject({ status: "pending", attempts: 10, tries: 0 });
  });

  test("have a jitter of at most a tenth that varies", () => {
    const factors = Array.from({ length: 1000 }, rows.jitter);
    expect(Math.min(...factors)).toBeGreaterThanOrEqual(0.9);
    expect(Math.max(...factors)).toBeLessThanOrEqual(1.1);
    expect(new Set(factors).size).toBeGreaterThan(900);
  });
});

test("batch numbers are unique and ordered; delivery ids stay below 2^53 for a hundred years", () => {
  const numbers = Array.from({ length: 1000 }, nextBatchNumber);
  expect(new Set(numbers).size).toBe(1000);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(Math.abs(batchTime(numbers[0]!).getTime() - clock.now().getTime())).toBeLessThan(1000);
  const far = new Date("2126-01-01").getTime() * 16;
  expect(deliveryId(far, 99)).toBeLessThan(Number.MAX_SAFE_INTEGER);
  expect(parseDeliveryId(deliveryId(far, 99))).toEqual({ batch: far, row: 99 });
});

test("an endpoint has 15 seconds to respond", () => {
  expect(config.webhookTimeoutSeconds).toBe(15);
});

describe("parallel deliveries", () => {
  const open: CustomerEndpoint[] = [];
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
      details: {},
    }));
  async function firing(
    n: number,
    width: number,
    answer: CustomerEndpoint["answer"],
    until = clock.addSeconds(60),
  ) {
    process.env.ALLOW_LOOPBACK_WEBHOOKS = "on";
    process.env.WEBHOOK_TIMEOUT_SECONDS ??= "0.2";
    const endpoint = await startCustomerEndpoint(answer);
    open.push(endpoint);
    const called = await deliverInParallel(
      { id: 1, url: endpoint.url, secrets: ["secret"] },
      events(n),
      { probeCalls: width, until },
    );
    for (const name of ["ALLOW_LOOPBACK_WEBHOOKS", "WEBHOOK_TIMEOUT_SECONDS"])
      delete process.env[name];
    return { endpoint, called };
  }
  const slowly = (status: number) => async () => {
    await clock.sleep(20);
    return status;
  };

  test("start with a few calls, and continue with fifty after the first response", async () => {
    onTestFinished(manualTimeouts().expire);
    let [before, answered] = [0, 0];
    const { endpoint, called } = await firing(200, 5, async () => {
      if (answered === 0) before++;
      await clock.sleep(20);
      answered++;
      return 200;
    });
    expect(before).toBeLessThanOrEqual(5);
    expect(endpoint.maxConcurrent).toBeGreaterThan(20);
    expect(endpoint.maxConcurrent).toBeLessThanOrEqual(50);
    expect(called.every((one) => one?.outcome.delivered)).toBe(true);
    expect(new Set(called.map((one) => one!.endOrder)).size).toBe(200);
  });

  test("stop after the first calls if all of them time out", async () => {
    const { endpoint, called } = await firing(200, 5, "hang");
    expect(endpoint.deliveries).toHaveLength(5);
    expect(called.filter(Boolean).map((one) => one!.outcome.timedOut)).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
  });

  test("continue if some calls time out among others that get a response", async () => {
    // The hanging calls time out after the responses of the others.
    const timeouts = manualTimeouts();
    onTestFinished(timeouts.expire);
    let answered = 0;
    const { called } = await firing(100, 5, ({ event }) => {
      if (event.sendId % 10 === 0) return "hang";
      if (++answered === 90) void clock.sleep(500).then(timeouts.expire);
      return 200;
    });
    expect(called.filter((one) => one?.outcome.delivered)).toHaveLength(90);
    expect(called.filter((one) => one?.outcome.timedOut)).toHaveLength(10);
  });

  test("start no call after the time limit", async () => {
    const { endpoint, called } = await firing(200, 5, slowly(200), clock.now());
    expect(endpoint.deliveries.length).toBeLessThanOrEqual(50);
    expect(called.filter(Boolean)).toHaveLength(endpoint.deliveries.length);
  });
});
