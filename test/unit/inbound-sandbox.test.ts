// The provider sandbox's webhooks, read by the same code that reads the real ones.
import { describe, expect, it } from "vitest";
import * as clock from "../../shared/clock.ts";
import { isOfCopy } from "../../shared/domain/events/copies.ts";
import type { Notice } from "../../shared/providers/inbound/inbound.ts";
import { inbound as inboundOf } from "../../shared/providers/inbound/index.ts";
import { providers } from "../../shared/providers/index.ts";
import { opened } from "../support/console.ts";
import { courses, names } from "../support/fates.ts";
import type { Received } from "../support/receiver.ts";
import { handOver, mailing, recipient, simulated } from "../support/sandbox.ts";

const told = await opened();

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

const noticeOf = ({ url, headers, body }: Received): Notice => ({
  headers,
  rawBody: Buffer.from(body),
  url: url.href,
  querySecret: url.searchParams.get("secret") ?? undefined,
});

/** From the sandbox, where SNS would be. */
const certificate = async (url: string) => (await fetch(told.sandbox.snsUrl + new URL(url).pathname)).text();

describe.each(providers)("$name", (provider) => {
  const { key } = provider;
  const inbound = inboundOf(key)!;

  it("is believed, and tells what becomes of each of the simulated recipients, of which send and of which mail", async () => {
    const { credentials, webhookSecret } = await told.configured(key);
    const mails = new Map<string, { fate: string; sendId: number; messageId: string }>();
    for (const fate of Object.keys(courses)) {
      const to = recipient(simulated(fate));
      const [outcome] = await handOver(provider, credentials, mailing([to]), `${key} ${fate} inbound`);
      mails.set(to.to.email, { fate, sendId: to.sendId, messageId: (outcome as { messageId: string }).messageId });
    }
    await told.sandbox.settle();
    const notices = told.receiving.received.map(noticeOf);
    for (const notice of notices) expect(await inbound.genuine(notice, webhookSecret, clock.now(), certificate)).toBe(true);
    const events = notices.flatMap((notice) => inbound.read(notice).events);
    for (const [email, { fate, sendId, messageId }] of mails) {
      const of = events.filter((event) => event.email === email);
      const kinds = courses[fate]!.filter((kind) => names[key]![kind] && becomes[kind]).map((kind) => becomes[kind]);
      // Calls go side by side: they may arrive in any order.
      const heard = of.map(({ type, data }) => [type, data.bounceType].filter(Boolean).join(" "));
      expect([fate, heard.sort()]).toEqual([fate, kinds.sort()]);
      for (const event of of) expect(event).toMatchObject({ sendId, providerMessageId: messageId });
    }
    expect(new Set(events.map(({ providerEventId }) => providerEventId)).size).toBe(events.length);
    expect(events.find(({ type }) => type === "click")!.data.url).toBe("https://shop.example/?a=1&b=2");
  });
});

/** Its events name the mail's recipient, whosoever they are about. */
const nameless = ["resend"];

describe.each(providers.filter(({ key }) => !nameless.includes(key)))("$name", (provider) => {
  it.each(["bounced", "dropped", "complained", "unsubscribed", "clicked"])(
    "what becomes of a blind copy (%s) is known as the copy's, in whatever case its address is written",
    async (fate) => {
      const { credentials } = await told.configured(provider.key);
      const [to, bcc] = [recipient(`someone-${fate}@example.net`), `${fate}+copy@simulator.pennymail.test`];
      await handOver(provider, credentials, mailing([to], { bcc }), `${provider.key} ${fate} copy`);
      await told.sandbox.settle();
      const events = told.receiving.received.flatMap((one) => inboundOf(provider.key)!.read(noticeOf(one)).events);
      const send = { toEmail: to.to.email, bcc: bcc.replace("copy@s", "Copy@S") };
      // Nobody can tell whose eyes and clicks those are that come from a mail to two: they are taken for the recipient's.
      const open = (type: string) => provider.key === "ses" && ["open", "click", "unsubscribe"].includes(type);
      expect(events.filter((event) => !isOfCopy(event, send) && !open(event.type)).map(({ type }) => type)).toEqual(["delivered"]);
      const certain = events.filter(({ type }) => !open(type));
      expect(certain.length).toBeGreaterThan(1);
      for (const event of certain) expect(event.sendId).toBe(to.sendId);
    },
  );
});

it("SES names where its subscription is to be confirmed, at the address that was checked", async () => {
  const { credentials } = await told.configured("ses");
  await handOver(providers.find(({ key }) => key === "ses")!, credentials, mailing([recipient("someone@example.net")]));
  await told.sandbox.settle();
  const readings = told.receiving.received.map((one) => inboundOf("ses")!.read(noticeOf(one)));
  expect(readings.map(({ confirm }) => confirm !== undefined)).toEqual([true, ...readings.slice(1).map(() => false)]);
  expect(readings[0]!.confirm).toMatch(/^https:\/\/sns\.us-east-1\.amazonaws\.com\/\?Action=ConfirmSubscription&/);
  expect(new Set(readings.map(({ source }) => source)).size).toBe(1);
});
