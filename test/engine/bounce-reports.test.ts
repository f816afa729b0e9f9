// Reports of mail servers that come as mail: they become events of the sends that they prove.
import { beforeAll, expect, test } from "vitest";
import { worker as inbound } from "../../functions/queue/inbound.ts";
import { worker as providerEvents } from "../../functions/queue/provider-events.ts";
import { insertMany, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as history from "../../shared/domain/delivery-events/send-history.ts";
import { getSettings } from "../../shared/domain/inbound/inbound-settings.ts";
import * as listInbound from "../../shared/domain/inbound/list-inbound.ts";
import { receiveInbound } from "../../shared/domain/inbound/receive-inbound.ts";
import { NewSendingConfig } from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { indexSingleWrites } from "../../shared/domain/sending/recipient-index/recipient-log.ts";
import { keys } from "../../shared/keys.ts";
import { mailIdOf } from "../../shared/providers/smtp-mail-id.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { createSentMails } from "../support/delivery-events.ts";
import { bounces, complaint, delay } from "../support/mail-reports.ts";
import {
  pendingMessages,
  runWorkers,
  toSqsRecord,
  useVirtualQueues,
} from "../support/virtual-queues.ts";

beforeAll(useVirtualQueues);

const credentials = { host: "smtp.shop.example", user: "shop", password: "secret" };

/** Mails that an SMTP server accepted. `keepsId`: under our message id, else under its own. */
async function createSmtpMails(n: number, keepsId = true) {
  const mails = await createSentMails(0);
  const { caller, orgId, siteId } = mails;
  const { id: configId } = await sendingConfigs.create(
    caller,
    NewSendingConfig.parse({ provider: "smtp", fromEmail: "hello@shop.example", credentials }),
  );
  const sends = Array.from({ length: n }, (_, i) => {
    const sendId = orgId * 100_000 + i;
    const to = `p${sendId}@example.net`;
    const id = mailIdOf(`${configId} ${sendId}`, { sendId, to }, credentials);
    return { sendId, to, id };
  });
  const items = sends.map(({ sendId, to, id }) => ({
    ...mails.item(sendId),
    toEmail: to,
    provider: "smtp",
    sendingConfigId: configId,
    providerMessageId: keepsId ? `${id}@shop.example` : `queue-${sendId}@smtp.example`,
  }));
  await insertMany(items.map((item) => ({ key: keys.send(orgId, item.id), item })));
  for (const item of items) await writeMany(indexSingleWrites(orgId, item, [item.toEmail]));
  const post = async (text: string) => {
    const { urls } = await getSettings(caller, siteId);
    await receiveInbound("mime", new URL(urls.mime).searchParams.get("token")!, {
      headers: { "content-type": "message/rfc822" },
      rawBody: Buffer.from(text),
      url: urls.mime,
      querySecret: undefined,
    });
  };
  const receive = async (text: string) => {
    await post(text);
    await runWorkers([inbound, providerEvents]);
    const { inboundEmails } = await listInbound.list(caller, { limit: 1 }, { siteId });
    return inboundEmails[0]!;
  };
  const eventsOf = async (sendId: number) =>
    (await history.findDetail(caller, sendId)).events.map(({ type, data }) => [type, data]);
  return { ...mails, sends, post, receive, eventsOf };
}

test.each(Object.keys(bounces))("a bounce of %s is an event of the send", async (server) => {
  const { sends, receive, eventsOf, orgId } = await createSmtpMails(1);
  const [{ sendId, to, id } = sends[0]!] = sends;
  const mail = await receive(bounces[server]!({ to, id }));
  expect(mail).toMatchObject({ kind: "bounce", sendId, contactId: null });
  const events = await eventsOf(sendId);
  expect(events).toHaveLength(1);
  const isSoft = server === "exchange";
  expect(events[0]).toEqual([
    "bounce",
    expect.objectContaining({ bounceType: isSoft ? "soft" : "hard" }),
  ]);
  const suppression = await suppressions.find(orgId, to);
  expect(suppression?.reason).toBe("bounce");
});

test("a report has the message id of a server that replaces ours", async () => {
  const { sends, receive, eventsOf } = await createSmtpMails(2, false);
  const [{ sendId, to }, other] = [sends[0]!, sends[1]!];
  // Without a return path, the bounce goes to the sender.
  const bounce = (about: { sendId: number; to: string }) =>
    bounces.exchange!({ to: about.to, id: "" })
      .replace(/bounces\+@/, "hello@")
      .replaceAll("<@shop.example>", `<queue-${sendId}@smtp.example>`);
  // The id is one of a mail to another address.
  const wrong = await receive(bounce(other).replace("b8a0@", "b8a1@"));
  expect(wrong).toMatchObject({ kind: "bounce", sendId: null });
  expect(await receive(bounce({ sendId, to }))).toMatchObject({ kind: "bounce", sendId });
  expect(await eventsOf(sendId)).toEqual([
    ["bounce", expect.objectContaining({ bounceType: "soft" })],
  ]);
  expect(await eventsOf(other.sendId)).toEqual([]);
});

test("a report counts once, however often it comes and workers crash", async () => {
  const { sends, post, eventsOf } = await createSmtpMails(40, false);
  let n = 0;
  await crashAtSomeSteps(async (crash) => {
    const { sendId, to, id } = sends[n++]!;
    const text = bounces.postfix!({ to, id }).replace("20261201090005", `2026120109${n}`);
    await post(text);
    await crash(() =>
      inbound.handler({
        Records: pendingMessages.filter(({ queue }) => queue === "inbound").map(toSqsRecord),
      }),
    );
    await runWorkers([inbound, providerEvents]);
    await post(text);
    await runWorkers([inbound, providerEvents]);
    expect(await eventsOf(sendId)).toHaveLength(1);
  });
});

test("a report without a proof changes nothing", async () => {
  const { sends, receive, eventsOf, orgId } = await createSmtpMails(2, false);
  const [first, second] = [sends[0]!, sends[1]!];
  const guessed = `${first.sendId}.${"0".repeat(20)}`;
  for (const id of [guessed, `${first.sendId}.${second.id.split(".")[1]}`, "5", ""]) {
    const mail = await receive(
      bounces.gmail!({ to: first.to, id }).replace("656.170", `656.${id}`),
    );
    expect(mail).toMatchObject({ kind: "bounce", sendId: null });
  }
  expect(await eventsOf(first.sendId)).toEqual([]);
  expect(await suppressions.find(orgId, first.to)).toBeUndefined();
});

test("a complaint suppresses, and a delay does not", async () => {
  const { sends, receive, eventsOf, orgId } = await createSmtpMails(2);
  const [late, annoyed] = [sends[0]!, sends[1]!];
  await receive(delay(late));
  expect(await eventsOf(late.sendId)).toMatchObject([["deferred", {}]]);
  expect(await suppressions.find(orgId, late.to)).toBeUndefined();
  expect(await receive(complaint(annoyed))).toMatchObject({ kind: "complaint" });
  expect(await eventsOf(annoyed.sendId)).toMatchObject([["spam_report", {}]]);
  expect(await suppressions.find(orgId, annoyed.to)).toMatchObject({ reason: "spam_report" });
});
