// The adapters read webhooks of the provider sandbox.
import { describe, expect, it } from "vitest";
import * as clock from "../../shared/clock.ts";
import { isAboutBlindCopy } from "../../shared/domain/delivery-events/events-of-copies.ts";
import type { InboundRequest } from "../../shared/providers/inbound/inbound-adapter.ts";
import { getInboundAdapter as inboundOf } from "../../shared/providers/inbound/registry.ts";
import { apiProviders } from "../support/api-providers.ts";
import { eventNamesByProvider, expectedEvents } from "../support/provider-event-names.ts";
import { handOver, mailing, recipient, simulatorAddress } from "../support/provider-sandbox.ts";
import { openSandboxConsole } from "../support/sandbox-console.ts";
import type { ReceivedWebhook } from "../support/webhook-receiver.ts";

const sandboxConsole = await openSandboxConsole();

const becomes: Record<string, string> = {
  delivered: "delivered",
  deferred: "deferred",
  bounced: "bounce hard",
  softbounced: "bounce soft",
  dropped: "dropped",
  opened: "open",
  clicked: "click",
  complained: "spam_report",
  unsubscribed: "unsubscribe",
};

const noticeOf = ({ url, headers, body }: ReceivedWebhook): InboundRequest => ({
  headers,
  rawBody: Buffer.from(body),
  url: url.href,
  querySecret: url.searchParams.get("secret") ?? undefined,
});

/** Fetches the certificate from the sandbox instead of SNS. */
const certificate = async (url: string) =>
  (await fetch(sandboxConsole.sandbox.snsUrl + new URL(url).pathname)).text();

describe.each(apiProviders)("$name", (provider) => {
  const { key } = provider;
  const inbound = inboundOf(key)!;

  it("is verified, and has the event, send and mail of each simulated recipient", async () => {
    const { credentials, webhookSecret } = await sandboxConsole.createConfig(key);
    const mails = new Map<string, { fate: string; sendId: number; messageId: string }>();
    for (const fate of Object.keys(expectedEvents)) {
      const to = recipient(simulatorAddress(fate));
      const [outcome] = await handOver(
        provider,
        credentials,
        mailing([to]),
        `${key} ${fate} inbound`,
      );
      mails.set(to.to.email, {
        fate,
        sendId: to.sendId,
        messageId: (outcome as { messageId: string }).messageId,
      });
    }
    await sandboxConsole.sandbox.flushWebhooks();
    const notices = sandboxConsole.receiver.received.map(noticeOf);
    for (const notice of notices)
      expect(
        await inbound.verify(notice, webhookSecret, {
          now: clock.now(),
          fetchCertificate: certificate,
        }),
      ).toBe(true);
    const events = notices.flatMap((notice) => inbound.readEvents(notice).events);
    for (const [email, { fate, sendId, messageId }] of mails) {
      const of = events.filter((event) => event.email === email);
      const kinds = expectedEvents[fate]!.filter(
        (kind) => eventNamesByProvider[key]![kind] && becomes[kind],
      ).map((kind) => becomes[kind]);
      // Webhooks are posted concurrently, so their order is not defined.
      const eventNames = of.map(({ type, data }) =>
        [type, data.bounceType].filter(Boolean).join(" "),
      );
      expect([fate, eventNames.sort()]).toEqual([fate, kinds.sort()]);
      for (const event of of) expect(event).toMatchObject({ sendId, providerMessageId: messageId });
    }
    expect(new Set(events.map(({ providerEventId }) => providerEventId)).size).toBe(events.length);
    expect(events.find(({ type }) => type === "click")!.data.url).toBe(
      "https://shop.example/?a=1&b=2",
    );
  });
});

/** Providers whose events do not say which recipient they are about. */
const nameless = ["resend"];

describe.each(apiProviders.filter(({ key }) => !nameless.includes(key)))("$name", (provider) => {
  it.each(["bounced", "dropped", "complained", "unsubscribed", "clicked"])(
    "an event of a blind copy (%s) is attributed to the copy, in any letter case of its address",
    async (fate) => {
      const { credentials } = await sandboxConsole.createConfig(provider.key);
      const [to, bcc] = [
        recipient(`someone-${fate}@example.net`),
        `${fate}+copy@simulator.pennymail.test`,
      ];
      await handOver(provider, credentials, mailing([to], { bcc }), `${provider.key} ${fate} copy`);
      await sandboxConsole.sandbox.flushWebhooks();
      const events = sandboxConsole.receiver.received.flatMap(
        (one) => inboundOf(provider.key)!.readEvents(noticeOf(one)).events,
      );
      const send = { toEmail: to.to.email, bcc: bcc.replace("copy@s", "Copy@S") };
      // If a mail has two recipients, the provider cannot know who opens it. Such events count for
      // the mail's own recipient.
      const open = (type: string) =>
        provider.key === "ses" && ["open", "click", "unsubscribe"].includes(type);
      expect(
        events
          .filter((event) => !isAboutBlindCopy(event, send) && !open(event.type))
          .map(({ type }) => type),
      ).toEqual(["delivered"]);
      const certain = events.filter(({ type }) => !open(type));
      expect(certain.length).toBeGreaterThan(1);
      for (const event of certain) expect(event.sendId).toBe(to.sendId);
    },
  );
});

it("SES returns the confirmation URL of its subscription on the checked host", async () => {
  const { credentials } = await sandboxConsole.createConfig("ses");
  await handOver(
    apiProviders.find(({ key }) => key === "ses")!,
    credentials,
    mailing([recipient("someone@example.net")]),
  );
  await sandboxConsole.sandbox.flushWebhooks();
  const readings = sandboxConsole.receiver.received.map((one) =>
    inboundOf("ses")!.readEvents(noticeOf(one)),
  );
  expect(readings.map(({ subscribeUrl }) => subscribeUrl !== undefined)).toEqual([
    true,
    ...readings.slice(1).map(() => false),
  ]);
  expect(readings[0]!.subscribeUrl).toMatch(
    /^https:\/\/sns\.us-east-1\.amazonaws\.com\/\?Action=ConfirmSubscription&/,
  );
  expect(new Set(readings.map(({ snsTopic }) => snsTopic)).size).toBe(1);
});
