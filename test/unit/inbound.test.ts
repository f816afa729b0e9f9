// One conformance suite over what all ten providers tell us: proven, read, bounded.
import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventTypes, type Inbound, type Notice, type ProviderEvent } from "../../shared/providers/inbound/inbound.ts";
import { inboundKeys, inbound as inboundOf } from "../../shared/providers/inbound/index.ts";
import { provider as providerOf } from "../../shared/providers/index.ts";
import { providerKeys } from "../../shared/providers/keys.ts";
import { bodies } from "../support/garbage.ts";
import { calls, certificate, fixture, flat, noticeFor, now, samplesOf, secrets } from "../support/notices.ts";
import { flipped, vectors } from "../support/vectors.ts";

it("knows the ten keys that sending knows, in the same order, and no others", () => {
  expect(inboundKeys).toEqual(providerKeys);
  for (const key of inboundKeys) expect(inboundOf(key)!.proof).toBe(providerOf(key)!.webhookProof);
  expect(inboundOf("constructor")).toBeUndefined();
});

/** A call whose certificate cannot be had is not known to be genuine. */
const proves = async (one: Inbound, notice: Notice, secret: string, at = now): Promise<boolean> => {
  try {
    return await one.genuine(notice, secret, at, certificate);
  } catch {
    return false;
  }
};

describe.each(inboundKeys)("%s", (key) => {
  const one = inboundOf(key)!;
  const call = calls[key]!;
  const secret = secrets[key]!;
  const samples = samplesOf(key);
  const genuineCalls = samples.map(({ body, contentType }) => call(body, now, contentType));

  it.each(samples.map((sample, n) => [sample.name ?? `sample ${n}`, n] as const))("normalizes: %s", async (_name, n) => {
    const notice = genuineCalls[n]!;
    expect(await proves(one, notice, secret)).toBe(true);
    const said = one.read(notice).events.map(flat);
    const expected = samples[n]!.expect;
    expect(said).toHaveLength(expected.length);
    for (const [i, event] of expected.entries()) {
      const { providerEventId } = said[i]!;
      expect(providerEventId).toMatch(/\S/);
      expect({ providerEventId, ...event }).toEqual(said[i]);
    }
  });

  it.each(vectors[key]!().map((vector) => [vector.name, vector] as const))("gives each vector its verdict: %s", async (_name, vector) => {
    expect(await proves(one, vector.notice, vector.secret, vector.at)).toBe(vector.expect);
  });

  it("takes no call of which one proven byte was flipped", async () => {
    const first = samples.findIndex(({ expect }) => expect.length > 0);
    const flips = flipped(key, genuineCalls[first]!);
    expect(flips.length).toBeGreaterThan(5);
    for (const notice of flips) expect(await proves(one, notice, secret)).toBe(false);
  });

  it("takes nothing as proven without a secret, whatever it is signed with", async () => {
    for (const notice of genuineCalls) {
      expect(await proves(one, notice, "")).toBe(false);
      expect(await proves(one, { ...notice, querySecret: "" }, "")).toBe(false);
    }
    expect(await proves(one, noticeFor(key, {}), "")).toBe(false);
  });

  it("takes no call of another's secret", async () => {
    for (const notice of genuineCalls) expect(await proves(one, notice, othersSecret(key))).toBe(false);
  });

  it("reads a call without headers, without body, without anything, and takes none of them as proven", async () => {
    const known = genuineCalls.map(({ rawBody }) => rawBody);
    for (const rawBody of [...["", "null", "[]", "{}"].map((text) => Buffer.from(text)), ...known]) {
      const bare = noticeFor(key, { rawBody });
      // Mailgun's proof is in the body, the others' is not.
      if (key !== "mailgun" || !known.includes(rawBody)) expect(await one.genuine(bare, secret, now, certificate)).toBe(false);
      expect(one.read(bare).events.length).toBeLessThan(3);
    }
  });

  it("gives an event the same id when it comes again, and others to other events of the mail", () => {
    const firsts = new Map<string, string>();
    for (const { body, contentType } of samples) {
      const ids = [now, new Date(now.getTime() + 60_000)].map((at) =>
        one.read(call(body, at, contentType)).events.map(({ providerEventId }) => providerEventId),
      );
      expect(ids[1]).toEqual(ids[0]);
      for (const { type, providerEventId } of one.read(call(body, now, contentType)).events)
        if (!firsts.has(type)) firsts.set(type, providerEventId);
    }
    expect(firsts.size).toBeGreaterThan(5);
    expect(new Set(firsts.values()).size).toBe(firsts.size);
  });

  it("never fails on a body, whatever is in it, and never makes an event large", async () => {
    const anyCertificate = () => certificate(fixture("ses", "vectors").sns.certificateUrl);
    const property = fc.asyncProperty(bodies(key), async (notice) => {
      for (const event of one.read(notice).events) expectBounded(event);
      one.probe?.(notice);
      await one.genuine(notice, secret, now, anyCertificate);
    });
    await fc.assert(property, { numRuns: 200 });
  });

  it("names for a forged call a status that ends the repeats, and for a busy moment one that brings them", () => {
    const { forged, busy } = one.statuses;
    expect([401, 406]).toContain(forged);
    expect([429, 503]).toContain(busy);
  });
});

/** As somebody else's config would have it. */
function othersSecret(key: string): string {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const shapes: Record<string, string> = {
    sendgrid: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    resend: `whsec_${Buffer.from("a key of another").toString("base64")}`,
  };
  return shapes[key] ?? `${secrets[key]}x`;
}

type Row = Record<string, unknown>;

/** The row of a delivered mail, and how a batch tells one from the next. */
const deliveredRow = (key: string): Row => {
  const { body } = samplesOf(key).find(({ expect }) => expect[0]?.type === "delivered")!;
  return (Array.isArray(body) ? body[0] : body) as Row;
};
const batches: Record<string, (row: Row, n: number) => Row> = {
  sendgrid: (row, n) => ({ ...row, email: `r${n}@example.net`, sg_event_id: `id-${n}` }),
  sparkpost: (row, n) => {
    const [[group, told]] = Object.entries((row as { msys: Record<string, Row> }).msys) as [[string, Row]];
    return { msys: { [group]: { ...told, raw_rcpt_to: `r${n}@example.net`, event_id: `${n}` } } };
  },
  brevo: (row, n) => ({ ...row, email: `r${n}@example.net` }),
  mailjet: (row, n) => ({ ...row, email: `r${n}@example.net` }),
  mandrill: (row, n) => ({ ...row, _id: `id-${n}`, msg: { ...(row.msg as Row), email: `r${n}@example.net` } }),
};

describe.each(Object.keys(batches))("%s", (key) => {
  it("keeps the good rows of a batch with bad ones, a thousand of them", () => {
    const good = Array.from({ length: 1000 }, (_, n) => batches[key]!(structuredClone(deliveredRow(key)), n));
    const bad = [null, 7, "text", [], {}, { msys: null }, { msys: { message_event: 1 } }, { event: "delivered" }, { event: "constructor" }];
    const { events } = inboundOf(key)!.read(calls[key]!([...bad, ...good, ...bad], now));
    expect(events.map(({ email }) => email)).toEqual(good.map((_, n) => `r${n}@example.net`));
    expect(new Set(events.map(({ providerEventId }) => providerEventId)).size).toBe(1000);
  });
});

function expectBounded(event: ProviderEvent): void {
  const { type, email, sendId, timestamp, providerEventId, providerMessageId = "", data, ipAddress = "", automated } = event;
  expect(eventTypes).toContain(type);
  expect(email).toMatch(/^[^\s@]+@[^\s@]+$/);
  expect(timestamp).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(providerEventId.length).toBeGreaterThan(0);
  expect(providerEventId.length).toBeLessThanOrEqual(200);
  expect(email.length).toBeLessThanOrEqual(320);
  expect(ipAddress.length).toBeLessThanOrEqual(45);
  expect(sendId === undefined || (Number.isSafeInteger(sendId) && sendId > 0)).toBe(true);
  expect([undefined, true]).toContain(automated);
  const texts = [email, providerEventId, providerMessageId, ...Object.values(data)];
  for (const text of texts) expect([typeof text, text.length <= 1000, text.isWellFormed()]).toEqual(["string", true, true]);
}
