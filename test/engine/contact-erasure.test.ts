import { afterEach, expect, test } from "vitest";
import { get, insertMany, queryAll, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import { filterSuppressed } from "../../shared/domain/audience/suppressions/suppression-lookups.ts";
import * as suppressionPages from "../../shared/domain/audience/suppressions/suppression-pages.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as activities from "../../shared/domain/audience/tracking/activities.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import { erase } from "../../shared/domain/privacy/erasure.ts";
import { getPersonalData } from "../../shared/domain/privacy/personal-data.ts";
import { toSendItem } from "../../shared/domain/sending/bulk/chunk-sends.ts";
import * as chunks from "../../shared/domain/sending/bulk/chunks.ts";
import * as ids from "../../shared/ids.ts";
import { erasedEmail } from "../../shared/kernel/email-fields.ts";
import { keys, ranges, sha256 } from "../../shared/keys.ts";
import {
  createContact,
  createTestSite,
  newContact,
  recordHandOver as sent,
  type TestSite,
} from "../support/contacts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";

const inside = 20;

interceptClients();
afterEach(removePauses);

const at = (minute: number) => new Date(Date.UTC(2026, 10, 21, 8, minute)).toISOString();
const secrets = ["ann@x.com", "Ann", "192.0.2.7", "Firefox", "private"];

/** Creates Ann, who has opened a mail of a batch, and Bob, who is in the same chunk. */
async function history(shop: TestSite) {
  const { orgId, siteId } = shop;
  const ann = await createContact(shop, "Ann@x.com", { firstName: "Ann" });
  const block = await ids.nextSendBlock();
  const head: chunks.ChunkHead = {
    siteId,
    sendingConfigId: 5,
    provider: "postmark",
    batchId: block,
    fromEmail: "hi@shop.example",
    subject: "Hi {{ name }}",
    variables: {},
    createdAt: at(0),
  };
  const lines: chunks.ChunkRecipient[] = [
    {
      i: 0,
      to: "ann@x.com",
      name: "Ann",
      variables: { name: "Ann" },
      metadata: { note: "private" },
    },
    { i: 1, to: "bob@x.com", name: "Bob", variables: { name: "Bob" } },
  ];
  await insertMany(await chunks.buildChunkItems({ orgId, block }, head, lines));
  const open = (i: number) => ({
    id: 100 + i,
    type: "open" as const,
    at: at(i),
    providerEventId: `open-${i}`,
    data: { userAgent: "Firefox" },
    ip: "192.0.2.7",
    round: "r",
  });
  const send = {
    ...toSendItem(head, block, lines[0]!),
    contactId: ann.id,
    status: "delivered" as const,
    // As many events as the item of a send holds. The next one is an overflow item.
    events: Array.from({ length: inside }, (_, i) => open(i + 1)),
    error: "ann@x.com: slow",
    sentAt: at(0),
  };
  await insertMany([
    { key: keys.send(orgId, send.id), item: send },
    {
      key: keys.overflowEvent(orgId, send.id, `open open-${inside + 1}`),
      item: { ...open(inside + 1), delta: { opened: 1 } },
    },
    { key: keys.singleContent(orgId, send.id), item: { text: "Hi Ann" } },
  ]);
  await sent(orgId, [send]);
  return { ann, send, block };
}

test("the export of a person's data has the contact, score log, events and sends", async () => {
  const shop = await createTestSite();
  const { ann, send } = await history(shop);
  await scores.changeByHand(shop.caller, ann.id, { delta: 5, reason: "fair" });
  await activities.recordActivity(
    shop.orgId,
    { id: ann.id },
    {
      id: 1,
      at: at(5),
      type: "custom",
      recordedAt: at(9),
      name: "bought",
      properties: '{"total":3}',
      source: "api",
    },
  );
  await activities.recordActivity(
    shop.orgId,
    { id: ann.id },
    {
      id: 2,
      at: at(6),
      type: "page_view",
      name: "page_view",
      url: "https://x.com/",
      source: "tracking",
    },
  );
  expect(await getPersonalData(shop.caller, ann.id)).toMatchObject({
    contact: { id: ann.id, email: "Ann@x.com", score: 5, sendCount: 1, lastSentAt: at(0) },
    scoreLog: [{ delta: 5, reason: "fair" }],
    customEvents: [
      {
        name: "bought",
        properties: { total: 3 },
        source: "api",
        occurredAt: at(5),
        createdAt: at(9),
      },
    ],
    pageViews: [{ url: "https://x.com/", source: "tracking" }],
    sends: [
      {
        id: send.id,
        subject: "Hi Ann",
        events: Array.from({ length: inside + 1 }, () => ({ type: "open" })),
      },
    ],
    complete: true,
  });
});

test("after a crash at any point, a repeated erasure completes, and no personal data is left", async () => {
  const shop = await createTestSite();
  await crashAtSomeSteps(async (crash) => {
    const { ann, send, block } = await history(shop);
    await scores.changeByHand(shop.caller, ann.id, { delta: 5 });
    await crash(() => erase(shop.caller, ann.id));
    await erase(shop.caller, ann.id).catch((error) => expect(error.kind).toBe("missing"));
    const remaining = [
      await findDetail(shop.caller, send.id),
      await queryAll(ranges.overflowEvents(shop.orgId, send.id)),
      await chunks.getChunk(shop.orgId, block, 0),
      await queryAll(ranges.contactLog(shop.orgId, ann.id, "")),
      await get(keys.singleContent(shop.orgId, send.id)),
    ];
    const text = JSON.stringify(remaining);
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(remaining[0]).toMatchObject({
      toEmail: erasedEmail,
      contactId: null,
      metadata: null,
      status: "delivered",
      events: Array.from({ length: inside + 1 }, () => ({ type: "open" })),
    });
    expect(remaining[2]).toMatchObject({
      lines: [{ to: erasedEmail }, { to: "bob@x.com", name: "Bob" }],
    });
    await suppressions.remove(shop.orgId, "ann@x.com");
  });
});

test("events that arrive during the erasure are stored without personal data", async () => {
  const shop = await createTestSite();
  const { ann, send } = await history(shop);
  const address = keys.send(shop.orgId, send.id);
  const blanking = pauseCall("BatchExecuteStatement", (input) =>
    JSON.stringify(input).includes(erasedEmail),
  );
  const erasing = erase(shop.caller, ann.id);
  await blanking.reached;
  await write(
    update(address, {
      set: { openedAt: at(30), events: [{ ...send.events[0], at: at(30) }] },
      add: { v: 1 },
    }),
  );
  blanking.release();
  await erasing;
  const remaining = await get<{ events: object[] }>(address);
  expect(remaining).toMatchObject({
    openedAt: at(30),
    toEmail: erasedEmail,
    events: [{ type: "open", at: at(30) }],
  });
  for (const secret of secrets) expect(JSON.stringify(remaining)).not.toContain(secret);
});

test("two recipients of one chunk can be erased concurrently", async () => {
  const shop = await createTestSite();
  const { ann, send, block } = await history(shop);
  const bob = await createContact(shop, "bob@x.com");
  await sent(shop.orgId, [{ ...send, id: send.id + 1, toEmail: "bob@x.com", contactId: bob.id }]);
  const { pk } = keys.chunk(shop.orgId, block, 0);
  const blanking = pauseCall("UpdateItem", (input) => input.Key?.pk === pk);
  const erasing = erase(shop.caller, ann.id);
  await blanking.reached;
  await erase(shop.caller, bob.id);
  blanking.release();
  await erasing;
  expect((await chunks.getChunk(shop.orgId, block, 0))!.lines.map(({ to }) => to)).toEqual([
    erasedEmail,
    erasedEmail,
  ]);
});

test("the suppression list keeps a hash of the erased address, which blocks later mail to it", async () => {
  const shop = await createTestSite();
  await suppressions.suppress(shop.orgId, {
    ...suppressions.NewSuppression.parse({
      email: "ann@x.com",
      reason: "bounce",
      detail: "ann@x.com unknown",
    }),
    source: "test",
  });
  const bob = await createContact(shop, "bob@x.com");
  const ann = await createContact(shop, "ann@x.com");
  for (const { id } of [ann, bob]) await erase(shop.caller, id);
  const { items, pagination } = await suppressionPages.list(shop, { limit: 10 });
  expect(pagination.total).toBe(2);
  expect(items.map(({ email, reason, detail }) => [email, reason, detail]).toSorted()).toEqual(
    [
      [`sha256:${sha256("ann@x.com")}`, "bounce", null],
      [`sha256:${sha256("bob@x.com")}`, "manual", null],
    ].toSorted(),
  );
  expect(
    (await suppressionPages.readAll(shop.orgId, { limit: 10, maxBytes: 1e6 })).items,
  ).toHaveLength(2);
  expect(
    await filterSuppressed(shop.orgId, ["BOB@x.com", "cy@x.com"], {
      purpose: "transactional",
    }),
  ).toEqual(new Set(["bob@x.com"]));
  const again = await contacts.create(shop.caller, {
    siteId: shop.siteId,
    ...newContact("Bob@x.com"),
  });
  expect(again.status).toBe("suppressed");
  await suppressions.remove(shop.orgId, "bob@x.com");
  expect(await suppressions.getCounts(shop.orgId)).toMatchObject({ bounce: 1, manual: 0 });
});
