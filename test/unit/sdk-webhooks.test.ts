import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { WebhookSignatureError } from "../../shared/clients/sdk/errors.ts";
import { verifyWebhook, type WebhookSecret } from "../../shared/clients/sdk/webhooks.ts";
import { epochSeconds, now } from "../../shared/clock.ts";
import { signatureHeaders } from "../../shared/domain/webhooks/signature-headers.ts";
import { toWhsec } from "../support/customer-endpoint.ts";

const secret = "f00d".repeat(16);
const other = "beef".repeat(16);
const event = {
  event: "bounce",
  sendId: 1,
  contactId: null,
  email: "zoë@example.net",
  timestamp: now().toISOString(),
};
const body = JSON.stringify(event);
const sign = (secrets: Parameters<typeof signatureHeaders>[0], timestamp = epochSeconds()) =>
  signatureHeaders(secrets, { id: "msg_1", timestamp, body });
const signed = sign([secret]);
const own = { "x-webhook-signature": signed["x-webhook-signature"]! };
const verify = (
  headers: Parameters<typeof verifyWebhook>[1],
  withSecret: WebhookSecret = secret,
  payload: Parameters<typeof verifyWebhook>[0] = body,
) => verifyWebhook(payload, headers, withSecret);
const refused = WebhookSignatureError;

describe("Pennymail.webhooks.verify", () => {
  test("returns the event for the secret as it is shown and as whsec_", async () => {
    expect(await verify(signed)).toEqual(event);
    expect(await verify(signed, toWhsec(secret))).toEqual(event);
    expect(await verify(own)).toEqual(event);
    expect(await verify(own, toWhsec(secret))).toEqual(event);
  });

  test("takes bodies as text or bytes, and headers of Request, Node and frameworks", async () => {
    const bytes = new TextEncoder().encode(body);
    expect(await verify(signed, secret, bytes)).toEqual(event);
    expect(await verify(signed, secret, Buffer.from(body))).toEqual(event);
    expect(await verify(signed, secret, bytes.buffer)).toEqual(event);
    expect(await verify(new Headers(signed))).toEqual(event);
    const upperCase = Object.entries(signed).map(([name, value]) => [name.toUpperCase(), [value]]);
    expect(await verify(Object.fromEntries(upperCase))).toEqual(event);
  });

  test("accepts either secret of a rotation, by either signature", async () => {
    const both = sign([secret, other]);
    const { "x-webhook-signature": current, "x-webhook-signature-previous": previous } = both;
    const ownBoth = { "x-webhook-signature": current, "x-webhook-signature-previous": previous };
    for (const headers of [both, ownBoth])
      for (const one of [secret, other]) expect(await verify(headers, one)).toEqual(event);
    await expect(verify(both, "0".repeat(64))).rejects.toThrow(refused);
  });

  test("refuses a change of any signed part, a wrong secret, and no signature", async () => {
    const wrong: [Record<string, string>, string, string?][] = [
      [signed, secret, `${body} `],
      [own, secret, `${body} `],
      [signed, other],
      [own, other],
      [{ ...signed, "webhook-id": "msg_2" }, secret],
      [{ ...signed, "webhook-timestamp": String(epochSeconds() + 1) }, secret],
      [{ ...own, "webhook-signature": "v1,AAAA" }, secret],
      [{ ...own, "webhook-signature": "" }, secret],
      [{ "x-webhook-signature": own["x-webhook-signature"].slice(0, 62) }, secret],
      [{ "x-webhook-signature": "zz".repeat(32) }, secret],
      [{ "webhook-signature": "v1,*", "webhook-id": "m", "webhook-timestamp": "x" }, secret],
      [{}, secret],
    ];
    for (const [headers, one, payload] of wrong)
      await expect(verify(headers, one, payload), JSON.stringify(headers)).rejects.toThrow(refused);
    await expect(verify(signed, "")).rejects.toThrow(TypeError);
    await expect(verify(signed, "whsec_")).rejects.toThrow(TypeError);
  });

  test("refuses a signed time outside of the tolerance", async () => {
    for (const seconds of [-301, 301]) {
      const late = sign([secret], epochSeconds() + seconds);
      await expect(verify(late)).rejects.toMatchObject({ code: "signature_invalid" });
      expect(await verify(late, { secret, toleranceSeconds: 400 })).toEqual(event);
    }
  });

  test("takes the time of the event if only the body is signed", async () => {
    const old = JSON.stringify({ ...event, timestamp: "2020-01-01T00:00:00.000Z" });
    const headers = { "x-webhook-signature": hex(old) };
    await expect(verify(headers, secret, old)).rejects.toThrow(refused);
    const tolerant = { secret, toleranceSeconds: Number.POSITIVE_INFINITY };
    expect(await verify(headers, tolerant, old)).toMatchObject({ sendId: 1 });
    const timeless = "{}";
    const signedTimeless = { "x-webhook-signature": hex(timeless) };
    await expect(verify(signedTimeless, tolerant, timeless)).rejects.toThrow(refused);
  });
});

const hex = (text: string) => createHmac("sha256", secret).update(text).digest("hex");

test("a library of Standard Webhooks takes the secret as it is shown, and as whsec_", () => {
  const both = sign([secret, other]);
  for (const key of [secret, toWhsec(secret), other, toWhsec(other)])
    expect(new Webhook(key).verify(body, both)).toEqual(event);
  expect(() => new Webhook("0".repeat(64)).verify(body, both)).toThrow("No matching signature");
});
