// The verification of webhooks, where single providers differ from the shared test vectors.
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { InboundRequest } from "../../shared/providers/inbound/inbound-adapter.ts";
import { getInboundAdapter as inboundOf } from "../../shared/providers/inbound/registry.ts";
import {
  createNotice,
  fetchSampleCertificate,
  readFixture,
  readSamples,
  sampleTime,
  signByProvider,
  signMailgunNotice,
  signMandrillNotice,
  signResendNotice,
  signSnsNotice,
  webhookSecrets,
} from "../support/signed-provider-webhooks.ts";

const proves = (
  key: string,
  notice: InboundRequest,
  secret = webhookSecrets[key]!,
  at = sampleTime,
  from = fetchSampleCertificate,
) => inboundOf(key)!.verify(notice, secret, { now: at, fetchCertificate: from });
const delivered = (key: string) =>
  readSamples(key).find(({ expect }) => expect[0]?.type === "delivered")!.body;
const hours = (n: number) => new Date(sampleTime.getTime() + n * 3_600_000);

describe("ses", () => {
  const { sns } = readFixture("ses", "vectors");
  const notification = delivered("ses") as Record<string, string>;
  const subscription = sns.cases.find(
    ({ name }: { name: string }) => name === "SubscriptionConfirmation v2",
  ).message;
  const bodyOf = (message: object) =>
    createNotice("ses", {
      rawBody: Buffer.from(JSON.stringify(message)),
      querySecret: webhookSecrets.ses,
    });
  const fetchedUrls: string[] = [];
  const counting = (url: string) => {
    fetchedUrls.push(url);
    return fetchSampleCertificate(sns.certificateUrl);
  };

  beforeEach(() => fetchedUrls.splice(0));

  it.each(sns.certUrlCases as { url: string; ok: boolean }[])(
    "fetches a certificate from $url: $ok",
    async ({ url, ok }) => {
      const message = { ...sns.cases[0].message, SigningCertURL: url };
      expect(await proves("ses", bodyOf(message), webhookSecrets.ses, sampleTime, counting)).toBe(
        ok,
      );
      expect(fetchedUrls).toEqual(ok ? [url] : []);
    },
  );

  it.each(["\n", " ", "#x", "?x", "/../x.pem", "\\"])(
    "fetches no certificate from a URL that ends with %j",
    async (end) => {
      const message = { ...sns.cases[0].message, SigningCertURL: sns.certificateUrl + end };
      expect(await proves("ses", bodyOf(message), webhookSecrets.ses, sampleTime, counting)).toBe(
        false,
      );
      expect(fetchedUrls).toEqual([]);
    },
  );

  it.each(sns.subscribeUrlCases as { url: string; topicArn: string; ok: boolean }[])(
    "confirms a subscription at $url: $ok",
    ({ url, topicArn, ok }) => {
      const { subscribeUrl, events } = inboundOf("ses")!.readEvents(
        bodyOf({ ...subscription, SubscribeURL: url, TopicArn: topicArn }),
      );
      expect([subscribeUrl, events]).toEqual([ok ? url : undefined, []]);
    },
  );

  it.each([
    "&Action=Unsubscribe",
    "&TopicArn=arn:aws:sns:us-east-1:999999999999:other",
    "\n",
    "&Token=other\u0000",
  ])("does not confirm a subscription at a URL that ends with %j", (end) => {
    expect(
      inboundOf("ses")!.readEvents(
        bodyOf({ ...subscription, SubscribeURL: subscription.SubscribeURL + end }),
      ).subscribeUrl,
    ).toBeUndefined();
  });

  it("returns the topic, and confirms nothing when a subscription ends", () => {
    expect(inboundOf("ses")!.readEvents(bodyOf(notification))).toMatchObject({
      snsTopic: notification.TopicArn,
    });
    const ended = inboundOf("ses")!.readEvents(
      bodyOf({ ...subscription, Type: "UnsubscribeConfirmation" }),
    );
    expect(ended).toEqual({ events: [], snsTopic: subscription.TopicArn });
  });

  it("rejects a message signed by SNS if the URL has another secret", async () => {
    for (const secret of ["another", "", undefined])
      expect(
        await proves(
          "ses",
          signSnsNotice(notification, secret),
          webhookSecrets.ses,
          sampleTime,
          counting,
        ),
      ).toBe(secret === undefined);
    expect(fetchedUrls).toHaveLength(1);
  });

  it("rejects a certificate that is not valid at the time", async () => {
    const notice = signSnsNotice(notification);
    for (const [at, good] of [
      ["2026-11-01", false],
      ["2026-12-01", true],
      ["2040-01-01", false],
    ] as const)
      expect(await proves("ses", notice, webhookSecrets.ses, new Date(at))).toBe(good);
  });

  it("rejects a message whose headers contradict its body", async () => {
    const { headers, ...notice } = signSnsNotice(notification);
    for (const name of Object.keys(headers))
      expect(await proves("ses", { ...notice, headers: { ...headers, [name]: "other" } })).toBe(
        false,
      );
    expect(await proves("ses", { ...notice, headers: {} })).toBe(true);
  });

  it("rejects raw message delivery, which has no signature", async () => {
    const rawBody = Buffer.from(notification.Message!);
    const raw = createNotice("ses", {
      rawBody,
      querySecret: webhookSecrets.ses,
      headers: { "x-amz-sns-rawdelivery": "true" },
    });
    expect(await proves("ses", raw)).toBe(false);
    expect(inboundOf("ses")!.readEvents(raw)).toEqual({ events: [] });
  });

  it("throws if the certificate cannot be fetched", async () => {
    const down = () => Promise.reject(new Error("down"));
    await expect(
      proves("ses", signSnsNotice(notification), webhookSecrets.ses, sampleTime, down),
    ).rejects.toThrow("down");
  });

  it("reads an event for each of fifty recipients", () => {
    const recipients = Array.from({ length: 50 }, (_, n) => `r${n}@example.net`);
    const Message = JSON.stringify({
      eventType: "Delivery",
      mail: { messageId: "m" },
      delivery: { recipients },
    });
    const { events } = inboundOf("ses")!.readEvents(bodyOf({ ...notification, Message }));
    expect(events.map(({ email }) => email)).toEqual(recipients);
    expect(new Set(events.map(({ providerEventId }) => providerEventId)).size).toBe(50);
  });
});

describe("mailgun", () => {
  const body = delivered("mailgun");

  it("accepts a request for 24 hours, because retries carry the first signature", async () => {
    const notice = signMailgunNotice(body, sampleTime);
    for (const [at, good] of [
      [hours(23.9), true],
      [hours(24.1), false],
      [hours(-24.1), false],
    ] as const)
      expect(await proves("mailgun", notice, webhookSecrets.mailgun, at)).toBe(good);
  });

  it("returns the one-time token, also for an ignored event", () => {
    const ignored = readSamples("mailgun").find(({ expect }) => !expect.length)!.body as {
      signature: { token: string };
    };
    expect(inboundOf("mailgun")!.readEvents(signMailgunNotice(ignored, sampleTime))).toEqual({
      events: [],
      nonce: ignored.signature.token,
    });
  });

  it("rejects a request with digits moved between time and token", async () => {
    const { signature, ...rest } = JSON.parse(
      signMailgunNotice(
        { ...(body as object), signature: { token: "7abc" } },
        sampleTime,
      ).rawBody.toString(),
    );
    const moved = { ...signature, timestamp: `${signature.timestamp}7`, token: "abc" };
    const notice = createNotice("mailgun", {
      rawBody: Buffer.from(JSON.stringify({ signature: moved, ...rest })),
    });
    expect(await proves("mailgun", notice)).toBe(false);
  });

  it("rejects an empty key, and the format of old webhooks", async () => {
    expect(await proves("mailgun", signMailgunNotice(body, sampleTime, ""), "")).toBe(false);
    const timestamp = String(sampleTime.getTime() / 1000);
    const signature = createHmac("sha256", webhookSecrets.mailgun!)
      .update(`${timestamp}t`)
      .digest("hex");
    const form = new URLSearchParams({
      timestamp,
      token: "t",
      signature,
      event: "delivered",
      recipient: "ann@example.net",
    });
    expect(
      await proves("mailgun", createNotice("mailgun", { rawBody: Buffer.from(form.toString()) })),
    ).toBe(false);
  });
});

describe("mandrill", () => {
  const events = JSON.stringify(delivered("mandrill"));

  it("accepts no events signed with `test-webhook`, only an empty array", async () => {
    expect(await proves("mandrill", signMandrillNotice(events, "test-webhook"))).toBe(false);
    expect(await proves("mandrill", signMandrillNotice("[]", "test-webhook"))).toBe(true);
    expect(await proves("mandrill", signMandrillNotice("[]", "test-webhook"), "")).toBe(false);
    expect(await proves("mandrill", signMandrillNotice(events, ""), "")).toBe(false);
  });

  it("accepts test requests without verification only if they carry no events", () => {
    const { isProbe } = inboundOf("mandrill")!;
    expect(isProbe!(createNotice("mandrill", {}))).toBe(true);
    expect(
      isProbe!(createNotice("mandrill", { rawBody: Buffer.from("mandrill_events=%5B%5D") })),
    ).toBe(true);
    expect(isProbe!(signMandrillNotice(events))).toBe(false);
    for (const body of [
      "mandrill_events=%5B%5D&x=1",
      "mandrill_events=%5B1%5D",
      "mandrill_events=",
      "[]",
      "x",
    ])
      expect([body, isProbe!(createNotice("mandrill", { rawBody: Buffer.from(body) }))]).toEqual([
        body,
        false,
      ]);
  });

  it("reads a recorded request of Mandrill", () => {
    const captured = readFixture("mandrill", "vectors").vectors.at(-1);
    const { events } = inboundOf("mandrill")!.readEvents(
      createNotice("mandrill", { rawBody: Buffer.from(captured.rawBody) }),
    );
    expect(events[0]).toMatchObject({ type: "click", email: "example.webhook@mandrillapp.com" });
  });
});

describe("resend", () => {
  const body = JSON.stringify(delivered("resend"));

  it("rejects an empty secret", async () => {
    for (const secret of ["whsec_", "whsec_=", ""])
      expect(await proves("resend", signResendNotice(body, sampleTime, "whsec_"), secret)).toBe(
        false,
      );
  });

  it("accepts each retry with its own time as the same event", async () => {
    const [first, later] = [signResendNotice(body, sampleTime), signResendNotice(body, hours(10))];
    expect(await proves("resend", first, webhookSecrets.resend, hours(10))).toBe(false);
    expect(await proves("resend", later, webhookSecrets.resend, hours(10))).toBe(true);
    expect(inboundOf("resend")!.readEvents(later)).toEqual(inboundOf("resend")!.readEvents(first));
  });
});

describe("sparkpost", () => {
  const basic = (credentials: string) => ({
    authorization: `Basic ${Buffer.from(credentials).toString("base64")}`,
  });
  const ping = Buffer.from('[{"msys":{}}]');

  it("accepts the token in our own header, and as a password that contains a colon", async () => {
    expect(
      await proves(
        "sparkpost",
        createNotice("sparkpost", { headers: { "x-webhook-token": "s" }, rawBody: ping }),
        "s",
      ),
    ).toBe(true);
    expect(
      await proves(
        "sparkpost",
        createNotice("sparkpost", { headers: basic("user:a:b"), rawBody: ping }),
        "a:b",
      ),
    ).toBe(true);
    for (const headers of [
      basic("s:user"),
      basic("s"),
      basic(":"),
      { authorization: "Bearer s" },
      { authorization: "Basic" },
    ])
      expect(
        await proves("sparkpost", createNotice("sparkpost", { headers, rawBody: ping }), "s"),
      ).toBe(false);
  });

  it("accepts test requests without verification only if they carry no events", () => {
    const { isProbe } = inboundOf("sparkpost")!;
    for (const body of ['[{"msys":{}}]', "[]"])
      expect(isProbe!(createNotice("sparkpost", { rawBody: Buffer.from(body) }))).toBe(true);
    for (const body of [
      "",
      "{}",
      "[1]",
      '[{"msys":{"track_event":{}}}]',
      '[{"msys":{},"x":1}]',
      "null",
    ])
      expect([body, isProbe!(createNotice("sparkpost", { rawBody: Buffer.from(body) }))]).toEqual([
        body,
        false,
      ]);
  });
});

describe("sendgrid", () => {
  it("accepts a retry a day later, whose events keep their ids", async () => {
    expect(
      await proves(
        "sendgrid",
        signByProvider.sendgrid!(delivered("sendgrid"), sampleTime),
        webhookSecrets.sendgrid,
        hours(25),
      ),
    ).toBe(true);
  });

  it("rejects a request with bytes moved between time and body", async () => {
    const { headers, rawBody, ...rest } = signByProvider.sendgrid!(
      delivered("sendgrid"),
      sampleTime,
    );
    const name = "x-twilio-email-event-webhook-timestamp";
    const moved = { ...headers, [name]: `${headers[name]}[` };
    expect(
      await proves("sendgrid", { ...rest, headers: moved, rawBody: rawBody.subarray(1) }),
    ).toBe(false);
  });

  it.each([
    ["another curve", generateKeyPairSync("ec", { namedCurve: "P-384" })],
    ["RSA", generateKeyPairSync("rsa", { modulusLength: 2048 })],
  ])("rejects a signature with a key of %s", async (_name, { privateKey, publicKey }) => {
    const { headers, rawBody, ...rest } = signByProvider.sendgrid!(
      delivered("sendgrid"),
      sampleTime,
    );
    const timestamp = headers["x-twilio-email-event-webhook-timestamp"]!;
    const signature = sign(
      "sha256",
      Buffer.concat([Buffer.from(timestamp), rawBody]),
      privateKey,
    ).toString("base64");
    const signed = {
      ...rest,
      rawBody,
      headers: { ...headers, "x-twilio-email-event-webhook-signature": signature },
    };
    const secret = publicKey.export({ type: "spki", format: "der" }).toString("base64");
    expect(await proves("sendgrid", signed, secret)).toBe(false);
  });

  it.each(["not base64", "AAAA", "x".repeat(10_000)])(
    "rejects all requests with an invalid key: %s",
    async (secret) => {
      expect(
        await proves(
          "sendgrid",
          signByProvider.sendgrid!(delivered("sendgrid"), sampleTime),
          secret.slice(0, 1000),
        ),
      ).toBe(false);
    },
  );
});
