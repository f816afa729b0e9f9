// The conformance suite of the inbound adapters: verification, events and limits.
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  eventTypes,
  type InboundAdapter,
  type InboundRequest,
  type ProviderEvent,
} from "../../shared/providers/inbound/inbound-adapter.ts";
import { getInboundAdapter as inboundOf } from "../../shared/providers/inbound/registry.ts";
import { webhookProviderKeys } from "../../shared/providers/provider-keys.ts";
import fc from "../support/fast-check.ts";
import { malformedBodies } from "../support/malformed-webhooks.ts";
import { flipEachByte, signatureVectors } from "../support/signature-vectors.ts";
import {
  createNotice,
  fetchSampleCertificate,
  readFixture,
  readSamples,
  sampleTime,
  signByProvider,
  toSampleShape,
  webhookSecrets,
} from "../support/signed-provider-webhooks.ts";

it("has an adapter for each provider key, and none for another key", () => {
  for (const key of webhookProviderKeys) expect(inboundOf(key)).toBeDefined();
  expect(inboundOf("constructor")).toBeUndefined();
});

/** Treats a request whose certificate cannot be fetched as not verified. */
const proves = async (
  one: InboundAdapter,
  notice: InboundRequest,
  secret: string,
  at = sampleTime,
): Promise<boolean> => {
  try {
    return await one.verify(notice, secret, { now: at, fetchCertificate: fetchSampleCertificate });
  } catch {
    return false;
  }
};

describe.each(webhookProviderKeys)("%s", (key) => {
  const one = inboundOf(key)!;
  const call = signByProvider[key]!;
  const secret = webhookSecrets[key]!;
  const samples = readSamples(key);
  const genuineCalls = samples.map(({ body, contentType }) => call(body, sampleTime, contentType));

  it.each(samples.map((sample, n) => [sample.name ?? `sample ${n}`, n] as const))(
    "normalizes: %s",
    async (_name, n) => {
      const notice = genuineCalls[n]!;
      expect(await proves(one, notice, secret)).toBe(true);
      const events = one.readEvents(notice).events.map(toSampleShape);
      const expected = samples[n]!.expect;
      expect(events).toHaveLength(expected.length);
      for (const [i, event] of expected.entries()) {
        const { providerEventId } = events[i]!;
        // The id stays with the send after an erasure, so it must not contain an address.
        expect(providerEventId).toMatch(/^[\da-f]{64}$/);
        expect({ providerEventId, ...event }).toEqual(events[i]);
      }
    },
  );

  it.each(signatureVectors[key]!().map((vector) => [vector.name, vector] as const))(
    "verifies the signature vector as expected: %s",
    async (_name, vector) => {
      expect(await proves(one, vector.notice, vector.secret, vector.at)).toBe(vector.expect);
    },
  );

  it("rejects a request after a change of any signed byte", async () => {
    const first = samples.findIndex(({ expect }) => expect.length > 0);
    const flips = flipEachByte(key, genuineCalls[first]!);
    expect(flips.length).toBeGreaterThan(5);
    for (const notice of flips) expect(await proves(one, notice, secret)).toBe(false);
  });

  it("rejects every request if the config has no secret", async () => {
    for (const notice of genuineCalls) {
      expect(await proves(one, notice, "")).toBe(false);
      expect(await proves(one, { ...notice, querySecret: "" }, "")).toBe(false);
    }
    expect(await proves(one, createNotice(key, {}), "")).toBe(false);
  });

  it("rejects a request with the secret of another config", async () => {
    for (const notice of genuineCalls)
      expect(await proves(one, notice, othersSecret(key))).toBe(false);
  });

  it("rejects requests without headers or body, and reads them without an error", async () => {
    const known = genuineCalls.map(({ rawBody }) => rawBody);
    for (const rawBody of [
      ...["", "null", "[]", "{}"].map((text) => Buffer.from(text)),
      ...known,
    ]) {
      const bare = createNotice(key, { rawBody });
      // Only Mailgun signs within the body.
      if (key !== "mailgun" || !known.includes(rawBody))
        expect(
          await one.verify(bare, secret, {
            now: sampleTime,
            fetchCertificate: fetchSampleCertificate,
          }),
        ).toBe(false);
      expect(one.readEvents(bare).events.length).toBeLessThan(3);
    }
  });

  it("gives an event the same id on a retry, and other events of the mail other ids", () => {
    const firsts = new Map<string, string>();
    for (const { body, contentType } of samples) {
      const ids = [sampleTime, new Date(sampleTime.getTime() + 60_000)].map((at) =>
        one
          .readEvents(call(body, at, contentType))
          .events.map(({ providerEventId }) => providerEventId),
      );
      expect(ids[1]).toEqual(ids[0]);
      for (const { type, providerEventId } of one.readEvents(call(body, sampleTime, contentType))
        .events)
        if (!firsts.has(type)) firsts.set(type, providerEventId);
    }
    expect(firsts.size).toBeGreaterThan(5);
    expect(new Set(firsts.values()).size).toBe(firsts.size);
  });

  it("gives an event the same id in every webhook of the account", () => {
    for (const { body, contentType } of samples) {
      const notice = call(body, sampleTime, contentType);
      const ids = [notice, throughAnotherWebhook(key, notice)].map((one) =>
        inboundOf(key)!
          .readEvents(one)
          .events.map(({ type, providerEventId }) => [type, providerEventId]),
      );
      expect(ids[1]).toEqual(ids[0]);
    }
  });

  it("never throws for any body, and bounds the size of events", async () => {
    const anyCertificate = () =>
      fetchSampleCertificate(readFixture("ses", "vectors").sns.certificateUrl);
    const property = fc.asyncProperty(malformedBodies(key), async (notice) => {
      for (const event of one.readEvents(notice).events) expectBounded(event);
      one.isProbe?.(notice);
      await one.verify(notice, secret, { now: sampleTime, fetchCertificate: anyCertificate });
    });
    await fc.assert(property, { numRuns: 200 });
  });

  it("ignores a send id that is an object without a text form", () => {
    const odd = { toString: false, valueOf: false };
    for (const { body, contentType } of samples) {
      const source = JSON.stringify(body).replace(
        /"(sendId|send_id|CustomID)":"[^"]*"/g,
        `"$1":${JSON.stringify(odd)}`,
      );
      for (const event of one.readEvents(call(JSON.parse(source), sampleTime, contentType)).events)
        expectBounded(event);
    }
  });

  it("rejects requests with a status that ends retries; outages have one that causes them", () => {
    const { rejected, retryLater } = one.statuses;
    expect([401, 406]).toContain(rejected);
    expect([429, 503]).toContain(retryLater);
  });
});

/** The same event as sent to a second webhook: only ids of the request differ. */
function throughAnotherWebhook(key: string, notice: InboundRequest): InboundRequest {
  const body = notice.rawBody.toString();
  const bodies: Record<string, string> = {
    ses: body
      .replace(/"(MessageId|TopicArn)":"[^"]*(?=")/g, "$&0")
      .replace(/"Timestamp":"[^"]*"/, '"Timestamp":"2026-03-26T12:00:31.000Z"'),
    mailgun: body.replace(/"token":"[^"]*(?=")/, "$&0"),
  };
  const headers: Record<string, InboundRequest["headers"]> = {
    postmark: { "x-pm-webhook-trace-id": "another" },
    resend: { "svix-id": "msg_other" },
  };
  // The SNS headers repeat values of the body.
  const kept = key === "ses" ? {} : notice.headers;
  return {
    ...notice,
    rawBody: Buffer.from(bodies[key] ?? body),
    headers: { ...kept, ...headers[key] },
  };
}

/** The secret of another config. */
function othersSecret(key: string): string {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const shapes: Record<string, string> = {
    sendgrid: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    resend: `whsec_${Buffer.from("a key of another").toString("base64")}`,
  };
  return shapes[key] ?? `${webhookSecrets[key]}x`;
}

type Row = Record<string, unknown>;

/** The entry of a delivered mail, and the fields that differ within a batch. */
const deliveredRow = (key: string): Row => {
  const { body } = readSamples(key).find(({ expect }) => expect[0]?.type === "delivered")!;
  return (Array.isArray(body) ? body[0] : body) as Row;
};
const batches: Record<string, (row: Row, n: number) => Row> = {
  sendgrid: (row, n) => ({ ...row, email: `r${n}@example.net`, sg_event_id: `id-${n}` }),
  sparkpost: (row, n) => {
    const [[group, told]] = Object.entries((row as { msys: Record<string, Row> }).msys) as [
      [string, Row],
    ];
    return { msys: { [group]: { ...told, raw_rcpt_to: `r${n}@example.net`, event_id: `${n}` } } };
  },
  brevo: (row, n) => ({ ...row, email: `r${n}@example.net` }),
  mailjet: (row, n) => ({ ...row, email: `r${n}@example.net` }),
  mandrill: (row, n) => ({
    ...row,
    _id: `id-${n}`,
    msg: { ...(row.msg as Row), email: `r${n}@example.net` },
  }),
};

describe.each(Object.keys(batches))("%s", (key) => {
  it("keeps the valid entries of a batch of a thousand with invalid ones", () => {
    const good = Array.from({ length: 1000 }, (_, n) =>
      batches[key]!(structuredClone(deliveredRow(key)), n),
    );
    const bad = [
      null,
      7,
      "text",
      [],
      {},
      { msys: null },
      { msys: { message_event: 1 } },
      { event: "delivered" },
      { event: "constructor" },
    ];
    const { events } = inboundOf(key)!.readEvents(
      signByProvider[key]!([...bad, ...good, ...bad], sampleTime),
    );
    expect(events.map(({ email }) => email)).toEqual(good.map((_, n) => `r${n}@example.net`));
    expect(new Set(events.map(({ providerEventId }) => providerEventId)).size).toBe(1000);
  });
});

function expectBounded(event: ProviderEvent): void {
  const {
    type,
    email,
    sendId,
    timestamp,
    providerEventId,
    providerMessageId = "",
    data,
    ipAddress = "",
    automated,
  } = event;
  expect(eventTypes).toContain(type);
  expect(email).toMatch(/^[^\s@]+@[^\s@]+$/);
  expect(timestamp).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(providerEventId).toMatch(/^[\da-f]{64}$/);
  expect(email.length).toBeLessThanOrEqual(320);
  expect(ipAddress.length).toBeLessThanOrEqual(45);
  expect(sendId === undefined || (Number.isSafeInteger(sendId) && sendId > 0)).toBe(true);
  expect([undefined, true]).toContain(automated);
  const texts = [email, providerEventId, providerMessageId, ...Object.values(data)];
  for (const text of texts)
    expect([typeof text, (text?.length ?? 0) <= 1000, text?.isWellFormed()]).toEqual([
      "string",
      true,
      true,
    ]);
}
