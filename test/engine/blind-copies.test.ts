// Blind copies of a site's mail: who gets them, and that their fate is nobody else's.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { now } from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import { isOfCopy } from "../../shared/domain/events/copies.ts";
import { secured } from "../../shared/domain/secure-messages/acceptance.ts";
import { gather } from "../../shared/domain/sending/accept.ts";
import * as batches from "../../shared/domain/sending/accept-batch.ts";
import { single } from "../../shared/domain/sending/accept-single.ts";
import * as lanes from "../../shared/domain/sending/lanes.ts";
import { BatchMessage, SingleMessage } from "../../shared/domain/sending/message.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import * as sends from "../../shared/domain/sends.ts";
import * as sites from "../../shared/domain/sites.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import { write } from "../../shared/doors/table.ts";
import { create } from "../support/audience.ts";
import * as mailroom from "../support/mailroom.ts";
import { eventOf, message, work } from "../support/sent-mail.ts";
import { staged } from "../support/staged.ts";

vi.setConfig({ testTimeout: 30_000 });
const archive = "Archive@shop.example";
let from: mailroom.Sender;

beforeAll(async () => {
  await mailroom.opened();
  from = await mailroom.sender("postmark");
  await sites.change(from.caller, from.siteId, { autoBcc: archive });
});
afterAll(() => from.provider.stop());

/** As POST /send takes it. */
async function send(to: string, fields: object = {}): Promise<number> {
  const given = SingleMessage.parse({ sendingConfigId: from.configId, subject: "Hello", html: "<p>Hello</p>", to, ...fields });
  return (await single(from.caller, given, await gather(from.caller, given, [to], { copied: true }), secured)).id;
}

const copiesOf = (...ids: number[]) => ids.map((id) => from.provider.mails.find(({ sendId }) => sendId === id)?.bcc);

test("each mail of POST /send and /send/batch is copied to whom the site names, but none to whom gets it anyway", async () => {
  const ids = [await send("ada@example.com"), await send("archive@shop.example")];
  const given = BatchMessage.parse({
    sendingConfigId: from.configId,
    subject: "Hello",
    html: "<p>Hello</p>",
    recipients: [{ to: "ben@example.com" }, { to: "ARCHIVE@shop.example" }, { to: "cy@example.com" }],
  });
  const emails = given.recipients.map(({ to }) => String(to));
  const { results } = await batches.accept(
    from.caller,
    given,
    batches.sorted(given),
    await gather(from.caller, given, emails, { copied: true }),
  );
  await mailroom.settle();
  expect(copiesOf(...ids)).toEqual([archive, undefined]);
  expect(copiesOf(...results.map(({ id }) => id!))).toEqual([archive, undefined, archive]);
});

test("a secure message is not copied, nor what is no mail of the site", async () => {
  const secure = await send("eve@example.com", { secure: true });
  const given = SingleMessage.parse({
    sendingConfigId: from.configId,
    subject: "Please confirm",
    html: "<p>Confirm</p>",
    to: "new@example.com",
  });
  const confirming = await single(from.caller, given, await gather(from.caller, given, [given.to]), secured);
  await mailroom.settle();
  expect(from.provider.mails.map(({ sendId }) => sendId)).toEqual(expect.arrayContaining([secure, confirming.id]));
  expect(copiesOf(secure, confirming.id)).toEqual([undefined, undefined]);
});

test("marketing mail is copied to whom the site names, or to whom its own source names instead", async () => {
  const { caller, siteId, configId } = from;
  const contact = await contacts.item(caller, (await create({ caller, siteId, orgId: caller.orgId }, "fan@example.com")).id);
  const [site, config] = await Promise.all([sites.find(caller, siteId), sendingConfigs.find(caller, configId)]);
  const shots = [undefined, "sequence@shop.example"].map((bcc, i) => ({
    ...{ orgId: caller.orgId, site, config, source: { kind: "campaign", id: 900 + i } as const, subject: "News", html: "<p>News</p>" },
    ...{ at: now(), bcc },
  }));
  const ids: number[] = [];
  for (const shot of shots) {
    const { sendIds, writes } = await staged(shot, [contact]);
    await write(...writes);
    await lanes.arrived(caller.orgId, configId);
    ids.push(...sendIds.values());
  }
  await mailroom.settle();
  expect(copiesOf(...ids)).toEqual([archive, "sequence@shop.example"]);
});

test("what becomes of the copy changes neither the send nor what is counted, and keeps no mail from its recipient", async () => {
  const { orgId } = from.caller;
  const id = await send("dee@example.com");
  await mailroom.settle();
  const ofCopy = { email: archive.toUpperCase() };
  const told = (["bounce", "spam_report", "unsubscribe", "open", "delivered"] as const).map((type, i) => eventOf(id, type, i, ofCopy));
  await work(await message(orgId, told));
  expect(await sends.detail(from.caller, id)).toMatchObject({ status: "sent", events: [], deliveredAt: null, openedAt: null });
  await work(await message(orgId, [...told, eventOf(id, "delivered", 9, { email: "Dee@example.com" })]));
  expect(await sends.detail(from.caller, id)).toMatchObject({ status: "delivered", events: [{ type: "delivered" }] });
  expect((await suppressions.among(orgId, ["dee@example.com", archive], "marketing")).size).toBe(0);
});

test("who gets a copy of one's own mail, or a mail without one, is heard", async () => {
  const toArchive = await send("archive@shop.example");
  await mailroom.settle();
  await work(await message(from.caller.orgId, [eventOf(toArchive, "delivered", 1, { email: archive })]));
  expect(await sends.detail(from.caller, toArchive)).toMatchObject({ status: "delivered" });
});

test.each([
  ["the copy's address", { email: "archive@shop.example" }, true],
  ["the copy's address in ASCII", { email: "archive@xn--bcher-kva.example" }, true, "archive@b\u00fccher.example"],
  ["the recipient's address", { email: "Ada@Example.com" }, false],
  ["an address it was forwarded to", { email: "ada@elsewhere.example" }, false],
  [
    "the recipient, with words about the copy",
    { email: "ada@example.com", data: { reason: "550 5.1.1 <archive@shop.example> unknown" } },
    true,
  ],
  ["the recipient, with words about both", { email: "ada@example.com", data: { reason: "archive@shop.example ada@example.com" } }, false],
] as [string, { email: string; data?: { reason: string } }, boolean, string?][])(
  "an event of %s is the copy's or not",
  (_, event, expected, bcc = archive) => {
    expect(isOfCopy({ data: {}, ...event }, { toEmail: "ada@example.com", bcc })).toBe(expected);
    expect(isOfCopy({ data: {}, ...event }, { toEmail: "ada@example.com" })).toBe(false);
    expect(isOfCopy({ data: {}, ...event }, { toEmail: bcc, bcc })).toBe(false);
  },
);
