// What providers report afterwards: repeated events, and opens and clicks of machines.
import { expect } from "vitest";
import * as contacts from "../../../shared/domain/audience/contacts/contacts.ts";
import * as rules from "../../../shared/domain/audience/scoring/scoring-rules.ts";
import { listSends } from "../../../shared/domain/sending/list-sends.ts";
import type { Send } from "../../../shared/domain/sending/send-schema.ts";
import {
  createCampaignSender,
  readCampaign,
  readConsistentNumbers,
  runWorkers,
} from "../../support/campaigns.ts";
import { newContact } from "../../support/contacts.ts";
import { applyMessages, createEvent, createEventMessage } from "../../support/delivery-events.ts";
import { applyEvents, hours, type Story, startDraft } from "./story.ts";

async function sendCampaign(n: number) {
  const sender = await createCampaignSender();
  const { siteId, listId } = sender;
  for (let i = 0; i < n; i++) {
    const contact = newContact(`reader${i}@example.com`, { siteId, lists: [listId] });
    await contacts.create(sender.caller, contact);
  }
  const campaign = await startDraft(sender);
  await runWorkers(hours(1));
  const { id } = campaign;
  const { sends: all } = await listSends(sender.caller, { limit: 100 }, { campaignId: id });
  expect(all).toHaveLength(n);
  return { ...campaign, sends: all };
}

async function repeatedEvents(): Promise<void> {
  const { sender, id, sends: all } = await sendCampaign(10);
  const bounces = all
    .slice(0, 2)
    .map(({ id: sendId, toEmail: email }) =>
      createEvent(sendId, "bounce", 5, { email, data: { bounceType: "hard" } }),
    );
  const others = all
    .slice(2)
    .flatMap(({ id: sendId }) => [
      createEvent(sendId, "delivered", 5),
      createEvent(sendId, "open", 600),
    ]);
  const message = await createEventMessage(sender.caller.orgId, [...bounces, ...others]);
  await Promise.allSettled([applyMessages(message), applyMessages(message)]);
  for (let i = 0; i < 3; i++) await applyEvents(sender, [...others, ...bounces]);
  const { stats } = await readCampaign(sender, id);
  expect(stats).toMatchObject({ recipients: 10, delivered: 8, bounced: 2, opened: 8 });
  await readConsistentNumbers(sender, id);
  await sender.provider.stop();
}

async function scanners(): Promise<void> {
  const { sender, id, sends: all } = await sendCampaign(4);
  const { caller, siteId } = sender;
  await rules.create(
    caller,
    rules.NewScoringRule.parse({ siteId, name: "Clicked", trigger: "email_click", points: 5 }),
  );
  const [scanned, prefetched, read] = all as [Send, Send, Send];
  const data = { url: "https://shop.example/" };
  await applyEvents(sender, [
    createEvent(scanned.id, "delivered", 1),
    createEvent(scanned.id, "open", 2, { data: { userAgent: "Mozilla/5.0 (Barracuda Sentinel)" } }),
    createEvent(scanned.id, "click", 3, { data }),
    createEvent(prefetched.id, "delivered", 1),
    createEvent(prefetched.id, "click", 900, { automated: true, data }),
    createEvent(read.id, "delivered", 1),
    createEvent(read.id, "click", 900, { data }),
  ]);
  const { stats } = await readCampaign(sender, id);
  expect(stats).toMatchObject({ delivered: 3, opened: 0, clicked: 1 });
  const scores = await Promise.all(
    [scanned, prefetched, read].map(
      async ({ contactId }) => (await contacts.findItem(caller, contactId!)).score ?? 0,
    ),
  );
  expect(scores).toEqual([0, 0, 5]);
  await sender.provider.stop();
}

export const reports: Record<string, Story> = {
  "events that a provider repeats count once": repeatedEvents,
  "clicks and opens of link scanners are not counted as those of people": scanners,
};
