// Who gets an email and who does not: audiences, people who leave, and bounces.
import { expect } from "vitest";
import { compliance } from "../../../functions/http/compliance.ts";
import { worker as drain } from "../../../functions/queue/drain.ts";
import { worker as fanOut } from "../../../functions/queue/fan-out.ts";
import * as clock from "../../../shared/clock.ts";
import * as contacts from "../../../shared/domain/audience/contacts/contacts.ts";
import { createTokenMaker } from "../../../shared/domain/audience/contacts/link-tokens.ts";
import * as groups from "../../../shared/domain/audience/groups/groups.ts";
import { NewImport } from "../../../shared/domain/audience/imports/import-record.ts";
import * as imports from "../../../shared/domain/audience/imports/imports.ts";
import { runImport } from "../../../shared/domain/audience/imports/run-import.ts";
import * as suppressions from "../../../shared/domain/audience/suppressions/suppressions.ts";
import * as enrollments from "../../../shared/domain/automation/enrollments.ts";
import * as actions from "../../../shared/domain/campaigns/campaign-actions.ts";
import {
  CampaignAudience,
  CampaignSchedule,
} from "../../../shared/domain/campaigns/campaign-schema.ts";
import * as unsubscribes from "../../../shared/domain/delivery-events/unsubscribes.ts";
import { emailShardOf } from "../../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  expectNoDuplicates,
  runWorkers,
} from "../../support/campaigns.ts";
import { newContact } from "../../support/contacts.ts";
import { createEvent } from "../../support/delivery-events.ts";
import { invokeRoute } from "../../support/lambda-requests.ts";
import * as mailTest from "../../support/sending.ts";
import * as sequences from "../../support/sequences.ts";
import {
  applyEvents,
  expectAllMailedOnce,
  hours,
  readStatus,
  type Story,
  startDraft,
} from "./story.ts";

const addContact = ({ caller, siteId, listId }: CampaignSender, name: string, more: object = {}) =>
  contacts.create(caller, newContact(`${name}@example.com`, { siteId, lists: [listId], ...more }));

type Contact = Awaited<ReturnType<typeof addContact>>;

/** The token of the unsubscribe links in the contact's emails. */
const tokenOf = async ({ caller: { orgId }, siteId }: CampaignSender, { id, email }: Contact) =>
  (await createTokenMaker("unsubscribe"))({ orgId, siteId, contactId: id, email });

async function severalLists(): Promise<void> {
  const sender = await createCampaignSender();
  const { caller, siteId, listId } = sender;
  const other = await groups.create("LIST", caller, { siteId, name: "Offers" });
  await addContact(sender, "both", { lists: [listId, other.id], tags: ["vip"] });
  await addContact(sender, "one");
  await addContact(sender, "two", { lists: [other.id] });
  const tag = (await groups.getOrCreateTags(caller, siteId, ["vip"])).get("vip")!;
  const audience = CampaignAudience.parse({ lists: [listId, other.id], tags: [tag] });
  const campaign = await startDraft(sender, { listId: null, audience });
  await runWorkers(hours(1));
  await expectAllMailedOnce(campaign, 3);
  await sender.provider.stop();
}

/** Addresses in one partition, so that the audience has several pages. */
function* addressesOfOneShard(): Generator<string> {
  for (let i = 0; ; i++) {
    const email = `reader${i}@example.com`;
    if (emailShardOf(email) === "0") yield email;
  }
}

async function pagesOfContacts(): Promise<void> {
  const sender = await createCampaignSender();
  const { caller, siteId, listId } = sender;
  const n = 1100;
  const rows = addressesOfOneShard().take(n);
  const file = Buffer.from(["email", ...rows].join("\n"));
  const request = NewImport.parse({ siteId, lists: [listId] });
  const { id } = await imports.start(caller, request, { bytes: file });
  await runImport(caller.orgId, id);
  const campaign = await startDraft(sender);
  await runWorkers(hours(1));
  await expectAllMailedOnce(campaign, n);
  await sender.provider.stop();
}

async function leftBetweenCampaigns(): Promise<void> {
  const sender = await createCampaignSender();
  const { caller } = sender;
  const [ann] = [await addContact(sender, "ann"), await addContact(sender, "bob")];
  const later = await createDraft(sender);
  const scheduledAt = clock.addSeconds(3600).toISOString();
  await actions.schedule(caller, later.id, CampaignSchedule.parse({ scheduledAt }));
  await startDraft(sender);
  await runWorkers({}, [fanOut, drain]);
  await unsubscribes.unsubscribe(await tokenOf(sender, ann));
  await runWorkers(hours(3));
  expect(await readStatus({ sender, id: later.id })).toBe("sent");
  expect(sender.provider.mails.map(({ to }) => to)).toEqual(["bob@example.com", "bob@example.com"]);
  await sender.provider.stop();
}

async function leftSequence(): Promise<void> {
  const sender = await sequences.createSequenceSender();
  const { id, steps } = await sequences.createSequence(sender, [
    "First",
    60,
    "Second",
    60,
    "Third",
  ]);
  const [ann = 0, bob = 0, cid = 0] = await sequences.createContacts(sender, 3);
  await enrollments.enroll(sender.caller, id, { contactIds: [ann, bob, cid] });
  await sequences.runFor(sequences.minutes(90));
  await contacts.change(sender.caller, ann, { status: "unsubscribed" });
  await sequences.runFor(sequences.days(1));
  const subjects = (contactId: number) => sequences.listSubjectsTo(sender, contactId);
  expect(await subjects(ann)).toEqual(["First", "Second"]);
  for (const contactId of [bob, cid])
    expect(await subjects(contactId)).toEqual(["First", "Second", "Third"]);
  await sequences.expectBalanced(sender, id, steps);
  await sender.provider.stop();
}

async function scannedLinks(): Promise<void> {
  const sender = await createCampaignSender();
  const ann = await addContact(sender, "ann");
  const token = await tokenOf(sender, ann);
  const statusOf = async () => (await contacts.find(sender.caller, ann.id)).status;
  for (const userAgent of ["Mozilla/5.0", "Barracuda", "python-requests/2.32"]) {
    const headers = { "user-agent": userAgent };
    const footer = { params: { token }, headers };
    const header = { query: { token }, headers };
    const looks = [
      await invokeRoute(compliance, "GET /unsubscribe/:token", footer),
      await invokeRoute(compliance, "GET /unsubscribe", header),
    ];
    expect(looks.map(({ status }) => status)).toEqual([200, 200]);
  }
  expect(await statusOf()).toBe("subscribed");
  const oneClick = await invokeRoute(compliance, "POST /unsubscribe", { query: { token } });
  expect([oneClick.status, await statusOf()]).toEqual([200, "unsubscribed"]);
  await sender.provider.stop();
}

async function transactionalMail(): Promise<void> {
  const sender = await createCampaignSender();
  const ann = await addContact(sender, "ann");
  await addContact(sender, "bob");
  await unsubscribes.unsubscribeFromEverything(await tokenOf(sender, ann));
  const campaign = await startDraft(sender);
  await mailTest.send(sender, { to: ann.email, subject: "Your password" });
  await runWorkers(hours(1));
  expect(await readStatus(campaign)).toBe("sent");
  const mailed = expectNoDuplicates(sender).map(({ to, subject }) => [to, subject]);
  expect(mailed.toSorted()).toEqual([
    [ann.email, "Your password"],
    ["bob@example.com", expect.stringContaining("News")],
  ]);
  await sender.provider.stop();
}

async function bouncedElsewhere(): Promise<void> {
  const sender = await createCampaignSender();
  const ann = await addContact(sender, "ann");
  await addContact(sender, "bob");
  const { id: sendId } = await mailTest.send(sender, { to: ann.email, subject: "Welcome" });
  await runWorkers();
  const bounce = createEvent(sendId, "bounce", 5, {
    email: ann.email,
    data: { bounceType: "hard" },
  });
  await applyEvents(sender, [bounce]);
  expect((await contacts.find(sender.caller, ann.id)).status).toBe("suppressed");
  await startDraft(sender);
  await runWorkers(hours(1));
  expect(sender.provider.mails.map(({ to }) => to)).toEqual([ann.email, "bob@example.com"]);
  await sender.provider.stop();
}

async function importedAgain(): Promise<void> {
  const sender = await createCampaignSender();
  const { caller, siteId, listId } = sender;
  const [ann, bounced] = [await addContact(sender, "ann"), await addContact(sender, "bounced")];
  await unsubscribes.unsubscribe(await tokenOf(sender, ann));
  await suppressions.suppress(caller.orgId, {
    ...{ email: bounced.email, reason: "bounce", detail: null, source: "test" },
  });
  const file = "email,status\nann@example.com,subscribed\nbounced@example.com,\nnew@example.com,\n";
  const request = NewImport.parse({ siteId, lists: [listId] });
  const { id } = await imports.start(caller, request, { bytes: Buffer.from(file) });
  await runImport(caller.orgId, id);
  expect((await contacts.find(caller, ann.id)).status).toBe("unsubscribed");
  await startDraft(sender);
  await runWorkers(hours(1));
  expect(sender.provider.mails.map(({ to }) => to)).toEqual(["new@example.com"]);
  await sender.provider.stop();
}

export const recipients: Record<string, Story> = {
  "a contact on several lists gets one email": severalLists,
  "contacts of one import, over several pages, all get the email": pagesOfContacts,
  "a contact that leaves during a campaign gets neither its email nor the next":
    leftBetweenCampaigns,
  "a contact that leaves a sequence gets no further email, and all others do": leftSequence,
  "a scanner that opens the unsubscribe link unsubscribes nobody": scannedLinks,
  "a password reset reaches a contact that left all newsletters": transactionalMail,
  "an address that bounced a single email gets no campaign": bouncedElsewhere,
  "an import subscribes nobody again": importedAgain,
};
