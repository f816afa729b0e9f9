// What the proof of single providers must and must not let through, beyond the vectors.
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { Notice } from "../../shared/providers/inbound/inbound.ts";
import { inbound as inboundOf } from "../../shared/providers/inbound/index.ts";
import {
  calls,
  certificate,
  fixture,
  mailgunNotice,
  mandrillNotice,
  noticeFor,
  now,
  resendNotice,
  samplesOf,
  secrets,
  snsNotice,
} from "../support/notices.ts";

const proves = (key: string, notice: Notice, secret = secrets[key]!, at = now, from = certificate) =>
  inboundOf(key)!.genuine(notice, secret, at, from);
const delivered = (key: string) => samplesOf(key).find(({ expect }) => expect[0]?.type === "delivered")!.body;
const hours = (n: number) => new Date(now.getTime() + n * 3_600_000);

describe("ses", () => {
  const { sns } = fixture("ses", "vectors");
  const notification = delivered("ses") as Record<string, string>;
  const subscription = sns.cases.find(({ name }: { name: string }) => name === "SubscriptionConfirmation v2").message;
  const bodyOf = (message: object) => noticeFor("ses", { rawBody: Buffer.from(JSON.stringify(message)), querySecret: secrets.ses });
  const asked: string[] = [];
  const counting = (url: string) => {
    asked.push(url);
    return certificate(sns.certificateUrl);
  };

  beforeEach(() => asked.splice(0));

  it.each(sns.certUrlCases as { url: string; ok: boolean }[])("asks for a certificate at $url: $ok", async ({ url, ok }) => {
    const message = { ...sns.cases[0].message, SigningCertURL: url };
    expect(await proves("ses", bodyOf(message), secrets.ses, now, counting)).toBe(ok);
    expect(asked).toEqual(ok ? [url] : []);
  });

  it.each(["\n", " ", "#x", "?x", "/../x.pem", "\\"])("asks for no certificate at an address with %j at its end", async (end) => {
    const message = { ...sns.cases[0].message, SigningCertURL: sns.certificateUrl + end };
    expect(await proves("ses", bodyOf(message), secrets.ses, now, counting)).toBe(false);
    expect(asked).toEqual([]);
  });

  it.each(sns.subscribeUrlCases as { url: string; topicArn: string; ok: boolean }[])("confirms at $url: $ok", ({ url, topicArn, ok }) => {
    const { confirm, events } = inboundOf("ses")!.read(bodyOf({ ...subscription, SubscribeURL: url, TopicArn: topicArn }));
    expect([confirm, events]).toEqual([ok ? url : undefined, []]);
  });

  it.each(["&Action=Unsubscribe", "&TopicArn=arn:aws:sns:us-east-1:999999999999:other", "\n", "&Token=other\u0000"])(
    "confirms at no address with %j at its end",
    (end) => {
      expect(inboundOf("ses")!.read(bodyOf({ ...subscription, SubscribeURL: subscription.SubscribeURL + end })).confirm).toBeUndefined();
    },
  );

  it("names the topic, and confirms nothing when a subscription ends", () => {
    expect(inboundOf("ses")!.read(bodyOf(notification))).toMatchObject({ source: notification.TopicArn });
    const ended = inboundOf("ses")!.read(bodyOf({ ...subscription, Type: "UnsubscribeConfirmation" }));
    expect(ended).toEqual({ events: [], source: subscription.TopicArn });
  });

  it("looks at no message whose URL has another secret, however well SNS signed it", async () => {
    for (const secret of ["another", "", undefined])
      expect(await proves("ses", snsNotice(notification, secret), secrets.ses, now, counting)).toBe(secret === undefined);
    expect(asked).toHaveLength(1);
  });

  it("refuses a certificate outside its time", async () => {
    const notice = snsNotice(notification);
    for (const [at, good] of [
      ["2026-11-01", false],
      ["2026-12-01", true],
      ["2040-01-01", false],
    ] as const)
      expect(await proves("ses", notice, secrets.ses, new Date(at))).toBe(good);
  });

  it("refuses a message whose headers tell of another one", async () => {
    const { headers, ...notice } = snsNotice(notification);
    for (const name of Object.keys(headers))
      expect(await proves("ses", { ...notice, headers: { ...headers, [name]: "other" } })).toBe(false);
    expect(await proves("ses", { ...notice, headers: {} })).toBe(true);
  });

  it("refuses raw delivery, which nobody signs", async () => {
    const rawBody = Buffer.from(notification.Message!);
    const raw = noticeFor("ses", { rawBody, querySecret: secrets.ses, headers: { "x-amz-sns-rawdelivery": "true" } });
    expect(await proves("ses", raw)).toBe(false);
    expect(inboundOf("ses")!.read(raw)).toEqual({ events: [] });
  });

  it("does not call a message forged when the certificate could not be fetched", async () => {
    const down = () => Promise.reject(new Error("down"));
    await expect(proves("ses", snsNotice(notification), secrets.ses, now, down)).rejects.toThrow("down");
  });

  it("tells of each of fifty recipients", () => {
    const recipients = Array.from({ length: 50 }, (_, n) => `r${n}@example.net`);
    const Message = JSON.stringify({ eventType: "Delivery", mail: { messageId: "m" }, delivery: { recipients } });
    const { events } = inboundOf("ses")!.read(bodyOf({ ...notification, Message }));
    expect(events.map(({ email }) => email)).toEqual(recipients);
    expect(new Set(events.map(({ providerEventId }) => providerEventId)).size).toBe(50);
  });
});

describe("mailgun", () => {
  const body = delivered("mailgun");

  it("takes a call for 24 hours, since repeats carry the first signature", async () => {
    const notice = mailgunNotice(body, now);
    for (const [at, good] of [
      [hours(23.9), true],
      [hours(24.1), false],
      [hours(-24.1), false],
    ] as const)
      expect(await proves("mailgun", notice, secrets.mailgun, at)).toBe(good);
  });

  it("names the token that is good for one use, also of an event that is ignored", () => {
    const ignored = samplesOf("mailgun").find(({ expect }) => !expect.length)!.body as { signature: { token: string } };
    expect(inboundOf("mailgun")!.read(mailgunNotice(ignored, now))).toEqual({ events: [], onceToken: ignored.signature.token });
  });

  it("does not let digits move between time and token", async () => {
    const { signature, ...rest } = JSON.parse(mailgunNotice({ ...(body as object), signature: { token: "7abc" } }, now).rawBody.toString());
    const moved = { ...signature, timestamp: `${signature.timestamp}7`, token: "abc" };
    const notice = noticeFor("mailgun", { rawBody: Buffer.from(JSON.stringify({ signature: moved, ...rest })) });
    expect(await proves("mailgun", notice)).toBe(false);
  });

  it("refuses an empty key, and the form of its old webhooks", async () => {
    expect(await proves("mailgun", mailgunNotice(body, now, ""), "")).toBe(false);
    const timestamp = String(now.getTime() / 1000);
    const signature = createHmac("sha256", secrets.mailgun!).update(`${timestamp}t`).digest("hex");
    const form = new URLSearchParams({ timestamp, token: "t", signature, event: "delivered", recipient: "ann@example.net" });
    expect(await proves("mailgun", noticeFor("mailgun", { rawBody: Buffer.from(form.toString()) }))).toBe(false);
  });
});

describe("mandrill", () => {
  const events = JSON.stringify(delivered("mandrill"));

  it("takes events signed with `test-webhook` from nobody, and an empty array only", async () => {
    expect(await proves("mandrill", mandrillNotice(events, "test-webhook"))).toBe(false);
    expect(await proves("mandrill", mandrillNotice("[]", "test-webhook"))).toBe(true);
    expect(await proves("mandrill", mandrillNotice("[]", "test-webhook"), "")).toBe(false);
    expect(await proves("mandrill", mandrillNotice(events, ""), "")).toBe(false);
  });

  it("has its trial calls answered without proof, but none that carries anything", () => {
    const { probe } = inboundOf("mandrill")!;
    expect(probe!(noticeFor("mandrill", {}))).toBe(true);
    expect(probe!(noticeFor("mandrill", { rawBody: Buffer.from("mandrill_events=%5B%5D") }))).toBe(true);
    expect(probe!(mandrillNotice(events))).toBe(false);
    for (const body of ["mandrill_events=%5B%5D&x=1", "mandrill_events=%5B1%5D", "mandrill_events=", "[]", "x"])
      expect([body, probe!(noticeFor("mandrill", { rawBody: Buffer.from(body) }))]).toEqual([body, false]);
  });

  it("reads what the real Mandrill once sent", () => {
    const captured = fixture("mandrill", "vectors").vectors.at(-1);
    const { events } = inboundOf("mandrill")!.read(noticeFor("mandrill", { rawBody: Buffer.from(captured.rawBody) }));
    expect(events[0]).toMatchObject({ type: "click", email: "example.webhook@mandrillapp.com" });
  });
});

describe("resend", () => {
  const body = JSON.stringify(delivered("resend"));

  it("refuses a secret with nothing in it", async () => {
    for (const secret of ["whsec_", "whsec_=", ""]) expect(await proves("resend", resendNotice(body, now, "whsec_"), secret)).toBe(false);
  });

  it("takes each try with its own time, as the same event", async () => {
    const [first, later] = [resendNotice(body, now), resendNotice(body, hours(10))];
    expect(await proves("resend", first, secrets.resend, hours(10))).toBe(false);
    expect(await proves("resend", later, secrets.resend, hours(10))).toBe(true);
    expect(inboundOf("resend")!.read(later)).toEqual(inboundOf("resend")!.read(first));
  });
});

describe("sparkpost", () => {
  const basic = (credentials: string) => ({ authorization: `Basic ${Buffer.from(credentials).toString("base64")}` });
  const ping = Buffer.from('[{"msys":{}}]');

  it("takes its token in our own header, and as a password with a colon in it", async () => {
    expect(await proves("sparkpost", noticeFor("sparkpost", { headers: { "x-webhook-token": "s" }, rawBody: ping }), "s")).toBe(true);
    expect(await proves("sparkpost", noticeFor("sparkpost", { headers: basic("user:a:b"), rawBody: ping }), "a:b")).toBe(true);
    for (const headers of [basic("s:user"), basic("s"), basic(":"), { authorization: "Bearer s" }, { authorization: "Basic" }])
      expect(await proves("sparkpost", noticeFor("sparkpost", { headers, rawBody: ping }), "s")).toBe(false);
  });

  it("has its trial calls answered without proof, but none that carries anything", () => {
    const { probe } = inboundOf("sparkpost")!;
    for (const body of ['[{"msys":{}}]', "[]"]) expect(probe!(noticeFor("sparkpost", { rawBody: Buffer.from(body) }))).toBe(true);
    for (const body of ["", "{}", "[1]", '[{"msys":{"track_event":{}}}]', '[{"msys":{},"x":1}]', "null"])
      expect([body, probe!(noticeFor("sparkpost", { rawBody: Buffer.from(body) }))]).toEqual([body, false]);
  });
});

describe("sendgrid", () => {
  it("takes a repeat a day later: its events keep their ids", async () => {
    expect(await proves("sendgrid", calls.sendgrid!(delivered("sendgrid"), now), secrets.sendgrid, hours(25))).toBe(true);
  });

  it("does not let bytes move between time and body", async () => {
    const { headers, rawBody, ...rest } = calls.sendgrid!(delivered("sendgrid"), now);
    const name = "x-twilio-email-event-webhook-timestamp";
    const moved = { ...headers, [name]: `${headers[name]}[` };
    expect(await proves("sendgrid", { ...rest, headers: moved, rawBody: rawBody.subarray(1) })).toBe(false);
  });

  it.each([
    ["another curve", generateKeyPairSync("ec", { namedCurve: "P-384" })],
    ["RSA", generateKeyPairSync("rsa", { modulusLength: 2048 })],
  ])("takes nothing signed on %s", async (_name, { privateKey, publicKey }) => {
    const { headers, rawBody, ...rest } = calls.sendgrid!(delivered("sendgrid"), now);
    const timestamp = headers["x-twilio-email-event-webhook-timestamp"]!;
    const signature = sign("sha256", Buffer.concat([Buffer.from(timestamp), rawBody]), privateKey).toString("base64");
    const signed = { ...rest, rawBody, headers: { ...headers, "x-twilio-email-event-webhook-signature": signature } };
    const secret = publicKey.export({ type: "spki", format: "der" }).toString("base64");
    expect(await proves("sendgrid", signed, secret)).toBe(false);
  });

  it.each(["not base64", "AAAA", "x".repeat(10_000)])("takes nothing with a key that is none: %s", async (secret) => {
    expect(await proves("sendgrid", calls.sendgrid!(delivered("sendgrid"), now), secret.slice(0, 1000))).toBe(false);
  });
});

it("postmark: what is tried again is the same event by its trace, however often", () => {
  const { rawBody } = calls.postmark!(delivered("postmark"), now);
  const tried = [9, 8].map((left) => ({ "x-pm-webhook-trace-id": "trace-1", "x-pm-retries-remaining": String(left) }));
  const ids = tried.map((headers) => inboundOf("postmark")!.read(noticeFor("postmark", { headers, rawBody })).events[0]!.providerEventId);
  expect(ids).toEqual(["trace-1", "trace-1"]);
});
