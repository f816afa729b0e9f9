// Clicked links of a campaign: which clicks are on the same link, and counters that stay exact.
import { beforeAll, describe, expect, test } from "vitest";
import { insertMany } from "../../shared/adapters/dynamodb/table.ts";
import * as links from "../../shared/domain/campaigns/campaign-links.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import * as clickedLinks from "../../shared/domain/sending/clicked-links.ts";
import * as ids from "../../shared/ids.ts";
import { idsPerBlock, keys } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  createVariant,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { interruptedAtSomeSteps, interruptions } from "../support/crash-injection.ts";
import {
  applyMessages,
  createEvent,
  createEventMessage,
  sentItem,
} from "../support/delivery-events.ts";

beforeAll(useVirtualQueues);

const shop = "https://shop.example";
const toEmail = "ada@example.com";
const normalize = (url: string) => clickedLinks.normalizeLink(url, { toEmail, contactId: 7 });

/** A campaign with two variants and `n` sent mails, of each variant in turn. */
async function createSentCampaign(sender: CampaignSender, n: number) {
  const { caller, siteId } = sender;
  const { id: campaignId } = await createDraft(sender);
  const variants = [
    await createVariant(sender, campaignId, { subject: "A" }),
    await createVariant(sender, campaignId, { subject: "B" }),
  ].map(({ id }) => id);
  const first = (await ids.nextSendBlock()) * idsPerBlock;
  const sendIds = Array.from({ length: n }, (_, i) => first + i);
  await insertMany(
    sendIds.map((id, i) => ({
      key: keys.send(caller.orgId, id),
      item: {
        ...sentItem(id, siteId, `p${id}@d${id % 3}.example`),
        campaignId,
        variantId: variants[i % 2],
      },
    })),
  );
  return { caller, campaignId, variants, sendIds };
}

const click = (sendId: number, url: string, seconds: number, more = {}) =>
  createEvent(sendId, "click", seconds, {
    data: { url },
    providerEventId: `${url} ${seconds}`,
    ...more,
  });

const createMessage = (sender: CampaignSender, events: ReturnType<typeof click>[]) =>
  createEventMessage(sender.caller.orgId, events);

describe("a normalized link", () => {
  test.each([
    [`${shop}/sale?utm_source=pennymail&id=3&fbclid=abc&mc_eid=1`, `${shop}/sale?id=3`],
    [`${shop}/sale#prices`, `${shop}/sale#prices`],
    [`${shop}/u?email=Ada%40example.com&next=1`, `${shop}/u?email={email}&next=1`],
    [`${shop}/u/ada@example.com/edit`, `${shop}/u/{email}/edit`],
    [`${shop}/u?contact=7&size=7`, `${shop}/u?contact={contactId}&size=7`],
    [`${shop}/api/v1/unsubscribe/${"Ab1_".repeat(30)}`, `${shop}/api/v1/unsubscribe/{token}`],
    [`${shop}/page?token=${"Ab1_".repeat(30)}`, `${shop}/page?token={token}`],
    [
      `${shop}/${"a-long-title-of-2026-".repeat(5)}`,
      `${shop}/${"a-long-title-of-2026-".repeat(5)}`,
    ],
    ["HTTPS://Shop.Example?utm_source=x", `${shop}/`],
    [`${shop}/caf%E9/%EF?a[0]=1&b=%20+c&d`, `${shop}/caf%E9/%EF?a[0]=1&b=%20+c&d`],
    [`${shop}/?a&b=`, `${shop}/?a&b=`],
    [`${shop}/?a=b=c&utm_medium=x#?utm_source=y`, `${shop}/?a=b=c#?utm_source=y`],
    ["mailto:ada@example.com?subject=Hi", "mailto:{email}?subject=Hi"],
    ["not a link", "not a link"],
  ])("of %s is %s", (url, normalized) => expect(normalize(url)).toBe(normalized));
});

describe("the clicks of a campaign", () => {
  test("are counted by link and variant, each recipient once, and machines apart", async () => {
    const sender = await createCampaignSender();
    const { caller, campaignId, variants, sendIds } = await createSentCampaign(sender, 3);
    const [a = 0, b = 0, c = 0] = sendIds;
    const byMachine = { automated: true as const };
    await applyMessages(
      await createMessage(sender, [
        click(a, `${shop}/sale?utm_term=1`, 60),
        click(a, `${shop}/sale?utm_term=2`, 70),
        click(b, `${shop}/sale`, 60),
        click(c, `${shop}/sale`, 5, byMachine),
        click(c, `${shop}/help`, 80),
      ]),
    );
    const inA = { variantId: variants[0] };
    const inB = { variantId: variants[1], clicks: 1, uniqueClicks: 1, machineClicks: 0 };
    expect((await links.list(caller, campaignId)).links).toEqual([
      {
        url: `${shop}/sale`,
        ...{ clicks: 4, uniqueClicks: 2, machineClicks: 1 },
        variants: [{ ...inA, clicks: 3, uniqueClicks: 1, machineClicks: 1 }, inB],
      },
      {
        url: `${shop}/help`,
        ...{ clicks: 1, uniqueClicks: 1, machineClicks: 0 },
        variants: [{ ...inA, clicks: 1, uniqueClicks: 1, machineClicks: 0 }],
      },
    ]);
    // The report of the delivery arrives late and shows that a scanner clicked.
    await applyMessages(await createMessage(sender, [createEvent(b, "delivered", 58)]));
    expect((await links.list(caller, campaignId)).links[0]).toMatchObject({
      ...{ clicks: 4, uniqueClicks: 1, machineClicks: 2 },
    });
    await sender.provider.stop();
  });

  test.each(interruptions)("are counted once when their worker %s at any step", async (how) => {
    const sender = await createCampaignSender();
    await interruptedAtSomeSteps(how, async (interrupt) => {
      const { caller, campaignId, sendIds } = await createSentCampaign(sender, 2);
      const [a = 0, b = 0] = sendIds;
      const one = await createMessage(sender, [click(a, `${shop}/1`, 60), click(b, shop, 61)]);
      const two = await createMessage(sender, [click(a, `${shop}/1`, 90), click(b, shop, 91)]);
      const ignoreContention = (error: Error) => {
        if (!error.message.includes("too many requests at once")) throw error;
      };
      await interrupt(
        () => applyMessages(one, two).catch(ignoreContention),
        async () => {
          await applyMessages(two);
          await applyMessages(one);
        },
      );
      await applyMessages(one);
      expect((await links.list(caller, campaignId)).links).toMatchObject([
        { url: `${shop}/`, clicks: 2, uniqueClicks: 1 },
        { url: `${shop}/1`, clicks: 2, uniqueClicks: 1 },
      ]);
    });
    await sender.provider.stop();
  });

  test("after the first 100 links share a row, also those of concurrent runs", async () => {
    const sender = await createCampaignSender();
    const { caller, campaignId, sendIds } = await createSentCampaign(sender, 130);
    const messages = await Promise.all(
      sendIds.map((id, i) => createMessage(sender, [click(id, `${shop}/${i}`, 60)])),
    );
    for (let i = 0; i < messages.length; i += 13)
      await Promise.all(messages.slice(i, i + 13).map((message) => applyMessages(message)));
    const rows = (await links.list(caller, campaignId)).links;
    expect(rows).toHaveLength(clickedLinks.maxLinks + 1);
    expect(rows[0]).toMatchObject({ url: null, clicks: 30, uniqueClicks: 30 });
    expect(new Set(rows.map(({ url }) => url)).size).toBe(rows.length);
    expect(rows.reduce((sum, { clicks }) => sum + clicks, 0)).toBe(130);
    await sender.provider.stop();
  });

  test("are unique by link although the recipient has more than 20 events", async () => {
    const sender = await createCampaignSender();
    const { caller, campaignId, sendIds } = await createSentCampaign(sender, 1);
    const events = Array.from({ length: 25 }, (_, i) => [
      click(sendIds[0]!, `${shop}/${i % 10}`, 60 + 2 * i),
      click(sendIds[0]!, `${shop}/${i % 10}`, 120 + 2 * i),
    ]).flat();
    for (const event of events) await applyMessages(await createMessage(sender, [event]));
    const rows = (await links.list(caller, campaignId)).links;
    expect(rows.reduce((sum, { clicks }) => sum + clicks, 0)).toBe(50);
    expect(rows.map(({ uniqueClicks }) => uniqueClicks)).toEqual(Array(10).fill(1));
    await sender.provider.stop();
  });

  test("are hidden from other organizations", async () => {
    const [one, two] = await Promise.all([createCampaignSender(), createCampaignSender()]);
    const { id } = await createDraft(one);
    await expect(links.list(two.caller, id)).rejects.toMatchObject({ kind: "missing" });
    await campaigns.remove(one.caller, id);
    await expect(links.list(one.caller, id)).rejects.toMatchObject({ kind: "missing" });
    await Promise.all([one.provider.stop(), two.provider.stop()]);
  });
});
