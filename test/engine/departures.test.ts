// Contacts that become unreachable while a campaign is being sent get no mail that is claimed
// after the change was answered.
import { afterEach, beforeAll, expect, test } from "vitest";
import { worker as advance } from "../../functions/queue/advance.ts";
import { queryAll } from "../../shared/adapters/dynamodb/table.ts";
import { advanceClock, now } from "../../shared/clock.ts";
import * as bulkUpsert from "../../shared/domain/audience/contacts/bulk-upsert.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { setSubscription } from "../../shared/domain/audience/contacts/contact-status.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { createDepartureReader } from "../../shared/domain/audience/contacts/departures.ts";
import { createTokenMaker } from "../../shared/domain/audience/contacts/link-tokens.ts";
import * as suppressionImports from "../../shared/domain/audience/suppressions/suppression-imports.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import { NewTopic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import {
  type ActionType,
  actionTypes,
  type ContactActionItem,
} from "../../shared/domain/automation/contact-actions/action-schema.ts";
import { applyAction } from "../../shared/domain/automation/contact-actions/apply-action.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import * as state from "../../shared/domain/campaigns/campaign-actions.ts";
import { runFanOut } from "../../shared/domain/campaigns/engine/fan-out.ts";
import {
  leaveEverywhere,
  suppressRecipients,
  suppressReported,
} from "../../shared/domain/delivery-events/event-reactions.ts";
import * as unsubscribes from "../../shared/domain/delivery-events/unsubscribes.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { erase } from "../../shared/domain/privacy/erasure.ts";
import { leaseSeconds } from "../../shared/domain/sending/bulk/lanes.ts";
import { emailShards, ranges } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  expectNoDuplicates,
  readConsistentNumbers,
  runWorkers,
  sendingWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { createContact, newContact } from "../support/contacts.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import { runLane } from "../support/sending.ts";
import { createSequence, createSequenceSender, days } from "../support/sequences.ts";
import * as virtual from "../support/virtual-queues.ts";

beforeAll(useVirtualQueues);
afterEach(removePauses);

/** All campaigns are on the topic. */
interface TopicSender extends CampaignSender {
  topicId: number;
}
type Departure = (sender: TopicSender, contact: ContactItem) => Promise<unknown>;

const tokenOf = async (
  { orgId, siteId, id, email }: ContactItem,
  topicId?: number,
): Promise<string> =>
  (await createTokenMaker("unsubscribe"))({ orgId, siteId, contactId: id, email, topicId });
const suppressAs =
  (reason: suppressions.SuppressionReason): Departure =>
  ({ caller }, { email }) =>
    suppressions.suppress(caller.orgId, { email, reason, source: "api" });
const providerEvents = (email: string, type: "bounce" | "spam_report" | "unsubscribe") => [
  { email, type, provider: "postmark" },
];
const upsertOptions = { startSequences: false, resubscribe: false };
const leaveTopic = ({ topicId }: TopicSender) => [{ id: topicId, subscribed: false }];
const softBounceLimit = 2;

const doesActionLeave: Record<ActionType, boolean> = {
  add_tag: false,
  remove_tag: false,
  add_to_list: false,
  remove_from_list: false,
  join_topic: false,
  leave_topic: true,
  enroll: false,
  unsubscribe: true,
  suppress: true,
  delete: true,
};
const leavingActions = actionTypes.filter((action) => doesActionLeave[action]);

const applyLeavingAction =
  (action: ActionType): Departure =>
  ({ caller: { orgId }, siteId, topicId }, { id }) => {
    const target = { id: topicId, name: "Topic" };
    const item = { orgId, siteId, action, target, source: "test" };
    return applyAction(item as ContactActionItem, [id]);
  };

const waysToLeave: Record<string, Departure> = {
  ...Object.fromEntries(
    leavingActions.map((action) => [`action ${action}`, applyLeavingAction(action)]),
  ),
  "unsubscribe link of a topic": async ({ topicId }, contact) =>
    unsubscribes.unsubscribe(await tokenOf(contact, topicId)),
  "topic on the preference page": async (sender, contact) =>
    unsubscribes.chooseTopics(
      await tokenOf(contact),
      { source: "preference_page" },
      leaveTopic(sender),
    ),
  "topic by the API": (sender, { id }) =>
    contactTopics.change(sender.caller, id, {
      choices: leaveTopic(sender),
      consent: { source: "api" },
    }),
  "topic of the contact by the API": (sender, { id }) =>
    contacts.change(sender.caller, id, { topics: leaveTopic(sender) }),
  "topic by bulk upsert or import": (sender, { email }) =>
    bulkUpsert.save(sender, [{ email, topics: leaveTopic(sender) }], upsertOptions),
  "unsubscribe link of the site": async (_, contact) =>
    unsubscribes.unsubscribeFromSite(await tokenOf(contact)),
  "soft bounces up to the limit": ({ caller, siteId }, { email }) =>
    suppressReported(
      caller.orgId,
      Array.from({ length: softBounceLimit }, (_, sendId) => ({
        ...providerEvents(email, "bounce")[0]!,
        bounceType: "soft",
        siteId,
        sendId,
        acceptedAt: now().toISOString(),
        at: now().toISOString(),
      })),
    ),
  "erasure of the address": ({ caller }, { email }) =>
    suppressions.suppressByHash(caller.orgId, email),
  "unsubscribe link and one-click": async (_, contact) =>
    unsubscribes.unsubscribe(await tokenOf(contact)),
  "unsubscribe link for all sites": async (_, contact) =>
    unsubscribes.unsubscribeFromEverything(await tokenOf(contact)),
  "status unsubscribed by the API": ({ caller }, { id }) =>
    contacts.change(caller, id, { status: "unsubscribed" }),
  "status pending by the API": ({ caller }, { id }) =>
    contacts.change(caller, id, { status: "pending" }),
  "bulk upsert or import of contacts": (site, { email }) =>
    bulkUpsert.save(site, [{ email, status: "unsubscribed" }], upsertOptions),
  "suppression by the API": suppressAs("manual"),
  "suppression of marketing mail": suppressAs("unsubscribe"),
  "import of suppressions": ({ caller }, { email }) =>
    suppressionImports.importRows(caller.orgId, [{ row: 1, given: { email } }]),
  bounce: ({ caller }, { email }) =>
    suppressRecipients(caller.orgId, providerEvents(email, "bounce")),
  complaint: ({ caller }, { email }) =>
    suppressRecipients(caller.orgId, providerEvents(email, "spam_report")),
  "unsubscribe at the provider": ({ caller }, { email }) =>
    leaveEverywhere(caller.orgId, providerEvents(email, "unsubscribe")),
  removal: ({ caller }, { id }) => contacts.remove(caller, id),
  erasure: ({ caller }, { id }) => erase(caller, id),
  "suppression of the contact's new address": async (sender, contact) => {
    const email = `new-${contact.email}`;
    await contacts.change(sender.caller, contact.id, { email });
    await suppressAs("bounce")(sender, { ...contact, email });
  },
  "change to a suppressed address": async ({ caller }, contact) => {
    await suppressions.suppress(caller.orgId, {
      email: `gone-${contact.email}`,
      reason: "bounce",
      source: "api",
    });
    await contacts.change(caller, contact.id, { email: `gone-${contact.email}` });
  },
};

interface CampaignOptions {
  topic?: "subscribed" | "unsubscribed";
  capDays?: number | null;
  provider?: "postmark" | "resend";
}

/** Starts a campaign with `n` recipients, all queued in the lane. */
async function startCampaign(
  n: number,
  { topic = "subscribed", capDays = null, provider }: CampaignOptions = {},
) {
  const sender = await createCampaignSender(provider);
  const { caller, siteId, listId } = sender;
  await sites.change(caller, siteId, { sendFrequencyCapDays: capDays, softBounceLimit });
  const topicFields = { siteId, name: "News", defaultSubscription: topic };
  const { id: topicId } = await topics.create(caller, NewTopic.parse(topicFields));
  const prefix = crypto.randomUUID().slice(0, 8);
  const recipients = await Promise.all(
    Array.from({ length: n }, async (_, i) => {
      const fields = newContact(`${prefix}-${i}@example.com`, {
        lists: [listId],
        topics: topic === "unsubscribed" ? [{ id: topicId, subscribed: true }] : [],
      });
      const { id } = await contacts.create(caller, { siteId, ...fields });
      return contacts.findItem(caller, id);
    }),
  );
  const { id } = await createDraft(sender, { topicId });
  await state.sendNow(sender.caller, id);
  const key = { orgId: sender.caller.orgId, kind: "campaign" as const, id };
  for (const shard of emailShards) await runFanOut(key, shard);
  expect(await readConsistentNumbers(sender, id)).toMatchObject({ accepted: n, queued: n });
  return { sender: { ...sender, topicId }, recipients, id };
}

test.each<[string, CampaignOptions]>([
  ["", {}],
  [" of a site with a frequency cap", { capDays: 1 }],
  [" of an opt-in topic", { topic: "unsubscribed" }],
])(
  "contacts%s that become unreachable in any way after the fan-out get no mail; all others do",
  async (_, options) => {
    const ways = Object.entries(waysToLeave);
    const { sender, recipients, id } = await startCampaign(ways.length + 2, options);
    for (const [i, [, leave]] of ways.entries()) await leave(sender, recipients[i]!);
    await runWorkers({ forSeconds: 600 });
    const mailed = expectNoDuplicates(sender).map(({ to }) => to);
    const reached = ways
      .filter((_, i) => mailed.includes(recipients[i]!.email))
      .map(([way]) => way);
    expect(reached).toEqual([]);
    expect(mailed.sort()).toEqual(
      recipients
        .slice(ways.length)
        .map(({ email }) => email)
        .sort(),
    );
    const numbers = await readConsistentNumbers(sender, id);
    const { sent, accepted, unsubscribed, suppressed, notInTopic } = numbers;
    const left = unsubscribed + suppressed + notInTopic;
    expect([sent, accepted, left]).toEqual([2, 2, ways.length]);
    await sender.provider.stop();
  },
);

/** Pauses the runner that claims a call. */
function pauseClaim() {
  const claim = pauseCall("UpdateItem", (input) =>
    Object.values(input.ExpressionAttributeNames ?? {}).includes("c0"),
  );
  const write = pauseCall("TransactWriteItems", (input) =>
    (input.TransactItems ?? []).some(({ Update }) =>
      Object.values(Update?.ExpressionAttributeNames ?? {}).includes("c0"),
    ),
  );
  return {
    reached: Promise.race([claim.reached, write.reached]),
    release() {
      claim.release();
      write.release();
    },
  };
}

/** Enrolls a contact in a sequence with one mail. */
async function startSequence(provider: "postmark" | "resend") {
  const sender = await createSequenceSender(provider);
  const contact = await createContact(sender, `${crypto.randomUUID()}@example.com`);
  const { id } = await createSequence(sender, ["Hello"]);
  await enrollments.enroll(sender.caller, id, { contactIds: [contact.id] });
  return { sender, recipient: await contacts.findItem(sender.caller, contact.id) };
}

async function startCampaignForOne(provider: "postmark" | "resend") {
  const { sender, recipients } = await startCampaign(1, { provider });
  return { sender, recipient: recipients[0]! };
}

async function startOldCampaign(provider: "postmark" | "resend") {
  const started = await startCampaignForOne(provider);
  advanceClock(days(8));
  return started;
}

const mailings = [
  ["a campaign", startCampaignForOne],
  ["a campaign that started more than 7 days ago", startOldCampaign],
  ["a sequence", startSequence],
] as const;

const runAllWorkers = () => virtual.runWorkers([advance, ...sendingWorkers], { forSeconds: 600 });

test.each(mailings)(
  "a recipient of %s who unsubscribes between the check and the claim gets no mail",
  async (_, start) => {
    const { sender, recipient } = await start("postmark");
    const claim = pauseClaim();
    const running = runAllWorkers();
    await claim.reached;
    await unsubscribes.unsubscribe(await tokenOf(recipient));
    claim.release();
    await running;
    expect(sender.provider.mails).toEqual([]);
    await sender.provider.stop();
  },
);

test.each(mailings)(
  "a recipient of %s who left gets no repeat of a call whose runner was frozen after that claim",
  async (_, start) => {
    const { sender, recipient } = await start("resend");
    const { caller, provider } = sender;
    const claim = pauseClaim();
    const frozen = runAllWorkers();
    await claim.reached;
    await unsubscribes.unsubscribe(await tokenOf(recipient));
    const look = pauseCall("Query", (input) =>
      Object.values(input.ExpressionAttributeValues ?? {}).includes(
        ranges.departures(caller.orgId).pk,
      ),
    );
    claim.release();
    await look.reached;
    advanceClock(leaseSeconds + 1);
    await runLane(caller.orgId, sender.configId);
    look.release();
    await frozen;
    await runAllWorkers();
    expect(provider.mails).toEqual([]);
    await provider.stop();
  },
);

test("a departure written minutes after its timestamp is found by a reader that read meanwhile", async () => {
  const { sender, recipients } = await startCampaign(2);
  const { orgId } = sender.caller;
  const [leaver, stayer] = recipients as [ContactItem, ContactItem];
  const toLine = ({ email, id }: ContactItem) => ({ to: email, contactId: id });
  const recipientLines = [toLine(leaver), toLine(stayer)];
  const readAt = now().toISOString();
  const reader = createDepartureReader(orgId);
  const write = pauseCall("TransactWriteItems");
  const leaving = setSubscription(leaver, "unsubscribed");
  await write.reached;
  advanceClock(300);
  expect(await reader.filterDeparted(recipientLines, readAt)).toEqual([]);
  write.release();
  await leaving;
  expect(await reader.filterDeparted(recipientLines, readAt)).toEqual([recipientLines[0]]);
  await sender.provider.stop();
});

test("concurrent readers share one read of the log, and each sees the departures before its call", async () => {
  const { sender, recipients } = await startCampaign(6);
  const reader = createDepartureReader(sender.caller.orgId);
  const readAt = now().toISOString();
  const recipientLines = recipients.map(({ email, id }) => ({ to: email, contactId: id }));
  const answers = await Promise.all(
    recipients.map(async (recipient, i) => {
      await setSubscription(recipient, "unsubscribed");
      return (await reader.filterDeparted(recipientLines, readAt)).includes(recipientLines[i]!);
    }),
  );
  expect(answers).toEqual(recipients.map(() => true));
  expect(await queryAll(ranges.departures(sender.caller.orgId))).toHaveLength(recipients.length);
  await sender.provider.stop();
});
