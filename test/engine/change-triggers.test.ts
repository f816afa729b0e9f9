// Triggers that a change of a contact, an open or a click starts.
import { beforeAll, describe, expect, test } from "vitest";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import {
  type EngagementEvent,
  recordEngagement,
} from "../../shared/domain/audience/contacts/engagement.ts";
import { upsert } from "../../shared/domain/audience/contacts/upserts.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as enrollmentListing from "../../shared/domain/automation/enrollment-listing.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import type { SequenceChanges } from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import { newContact } from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { measureUnits } from "../support/request-units.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  expectBalanced,
  minutes,
  runFor,
  type SequenceSender,
  useVirtualQueues,
} from "../support/sequences.ts";

beforeAll(useVirtualQueues);

const createWaiting = (sender: SequenceSender, fields: SequenceChanges) =>
  createSequence(sender, [7 * 24 * 60], fields);

/** How often a contact was in the sequence. */
async function countEntries(sender: SequenceSender, id: number, contactId: number) {
  const { active, finished } = await expectBalanced(sender, id, []);
  return [...active, ...finished].filter((one) => one.contactId === contactId).length;
}

describe("changes of contacts", () => {
  test("contact_created starts new contacts once, after a crash at any step", async () => {
    const sender = await createSequenceSender();
    const { id } = await createWaiting(sender, { triggerType: "contact_created" });
    const { caller, siteId } = sender;
    let n = 0;
    await crashAtSomeSteps(async (crash) => {
      const rows = [0, 1, 2].map((i) => newContact(`p${n}-${i}@example.com`));
      n++;
      await crash(() => upsert({ caller, siteId }, rows));
      const saved = await upsert({ caller, siteId }, rows);
      await runFor(minutes(3));
      for (const one of saved)
        expect(await countEntries(sender, id, one.outcome === "failed" ? 0 : one.id)).toBe(1);
    });
    await sender.provider.stop();
  });

  test("a worker that crashes at any step starts a contact once", async () => {
    const sender = await createSequenceSender();
    const { id } = await createWaiting(sender, { triggerType: "contact_created" });
    await crashAtSomeSteps(async (crash) => {
      let isFirst = true;
      const all = await createContacts(sender, 2);
      await runFor(minutes(10), (work) => {
        if (!isFirst) return work();
        isFirst = false;
        return crash(work);
      });
      for (const contactId of all) expect(await countEntries(sender, id, contactId)).toBe(1);
    });
    await sender.provider.stop();
  });

  test("field_changed compares the values before and after", async () => {
    const sender = await createSequenceSender();
    const create = (triggerConfig: SequenceChanges["triggerConfig"]) =>
      createWaiting(sender, { triggerType: "field_changed", triggerConfig });
    const any = await create({ field: "customFields.Plan" });
    const upgraded = await create({ field: "customFields.plan", from: "free", to: "PRO" });
    const cleared = await create({ field: "customFields.plan", to: null });
    const [ann = 0] = await createContacts(sender, 1);
    const setPlan = async (plan: string | null) => {
      await contacts.change(sender.caller, ann, { customFields: { plan } });
      await runFor(0);
      const entered = [];
      for (const { id } of [any, upgraded, cleared]) {
        entered.push(await countEntries(sender, id, ann));
        await enrollments.cancel(sender.caller, id, { contactId: ann }).catch(() => {});
      }
      return entered;
    };
    expect(await setPlan("free")).toEqual([1, 0, 0]);
    await contacts.change(sender.caller, ann, { firstName: "Ann" });
    expect(await setPlan("free")).toEqual([1, 0, 0]);
    expect(await setPlan("pro")).toEqual([2, 1, 0]);
    expect(await setPlan(null)).toEqual([3, 1, 1]);
    await sender.provider.stop();
  });

  test("unsubscribed starts internal work, and refuses email steps", async () => {
    const sender = await createSequenceSender();
    const { id } = await createWaiting(sender, { triggerType: "unsubscribed" });
    const [ann = 0, bob = 0] = await createContacts(sender, 2);
    await contacts.change(sender.caller, ann, { status: "unsubscribed" });
    await runFor(minutes(1));
    expect(await countEntries(sender, id, ann)).toBe(1);
    expect(await countEntries(sender, id, bob)).toBe(0);
    // Its steps run although the contact is unsubscribed.
    await runFor(8 * 24 * 3600);
    const { items } = await enrollmentListing.list(
      sender.caller,
      { limit: 10 },
      { sequenceId: id },
    );
    expect(items).toMatchObject([{ contactId: ann, status: "completed" }]);
    await expect(
      createSequence(sender, ["Stay!"], { triggerType: "unsubscribed" }),
    ).rejects.toThrow(/sends no email/);
    const mailing = await createSequence(sender, ["Hello"]);
    await expect(
      sequences.change(sender.caller, mailing.id, { triggerType: "unsubscribed" }),
    ).rejects.toThrow(/sends no email/);
    await sender.provider.stop();
  });

  test("an address that is suppressed is no unsubscribe of its contact", async () => {
    const sender = await createSequenceSender();
    const { id } = await createWaiting(sender, { triggerType: "unsubscribed" });
    const [ann = 0] = await createContacts(sender, 1);
    const { email } = await contacts.find(sender.caller, ann);
    await suppressions.suppress(sender.orgId, { email, reason: "manual", source: "api" });
    await runFor(minutes(1));
    expect(await countEntries(sender, id, ann)).toBe(0);
    await sender.provider.stop();
  });

  test("contacts of sites without such a trigger cost no write more", async () => {
    const sender = await createSequenceSender();
    const [ann = 0] = await createContacts(sender, 1);
    const change = (company: string) => contacts.change(sender.caller, ann, { company });
    await change("First");
    const before = await measureUnits(() => change("Second"));
    await createWaiting(sender, {
      triggerType: "field_changed",
      triggerConfig: { field: "lastName" },
    });
    const other = await measureUnits(() => change("Third"));
    expect(other.usage.writeUnits).toBe(before.usage.writeUnits);
    await sender.provider.stop();
  });
});

describe("opens and clicks", () => {
  const event = (
    { siteId }: SequenceSender,
    contactId: number,
    more: Partial<EngagementEvent> & { key: number },
  ): EngagementEvent => ({
    siteId,
    contactId,
    toEmail: "earlier@example.com",
    type: "open",
    at: new Date(Date.UTC(2026, 10, 20)).toISOString(),
    campaignId: 7,
    isFirst: true,
    ...more,
  });

  test("start the sequences of the mail and the link once, after a crash at any step", async () => {
    const sender = await createSequenceSender();
    const opened = await createWaiting(sender, { triggerType: "email_opened" });
    const clicked = await createWaiting(sender, {
      triggerType: "email_clicked",
      triggerConfig: { url: "https://shop.example/sale?utm_source=mail" },
    });
    let key = 1;
    await crashAtSomeSteps(async (crash) => {
      const [ann = 0] = await createContacts(sender, 1);
      const events = [
        event(sender, ann, { key: key++ }),
        event(sender, ann, { key: key++, type: "click", url: "https://shop.example/other" }),
        event(sender, ann, { key: key++, type: "click", url: "https://shop.example/sale" }),
      ];
      const [open, other, sale] = events as [EngagementEvent, EngagementEvent, EngagementEvent];
      await crash(() => recordEngagement(sender.orgId, [open, other]));
      await recordEngagement(sender.orgId, [open, other]);
      expect(await countEntries(sender, opened.id, ann)).toBe(1);
      expect(await countEntries(sender, clicked.id, ann)).toBe(0);
      await enrollments.cancel(sender.caller, opened.id, { contactId: ann });
      await crash(() => recordEngagement(sender.orgId, events));
      await recordEngagement(sender.orgId, events);
      expect(await countEntries(sender, opened.id, ann)).toBe(1);
      expect(await countEntries(sender, clicked.id, ann)).toBe(1);
      // A repeated click is not the first.
      await enrollments.cancel(sender.caller, clicked.id, { contactId: ann });
      await recordEngagement(sender.orgId, [{ ...sale, key: key++, isFirst: false }]);
      expect(await countEntries(sender, clicked.id, ann)).toBe(1);
      expect((await contacts.find(sender.caller, ann)).clickCount).toBe(3);
    });
    await sender.provider.stop();
  });

  test("of another campaign start nothing", async () => {
    const sender = await createSequenceSender();
    const other = await createSequence(sender, [60]);
    const { id } = await createWaiting(sender, {
      triggerType: "email_opened",
      triggerConfig: { sequenceId: other.id, stepId: other.steps[0]!.id },
    });
    const [ann = 0] = await createContacts(sender, 1);
    await recordEngagement(sender.orgId, [event(sender, ann, { key: 1 })]);
    expect(await countEntries(sender, id, ann)).toBe(0);
    const ofStep = { sequenceId: other.id, stepId: other.steps[0]!.id };
    await recordEngagement(sender.orgId, [event(sender, ann, { key: 2, ...ofStep })]);
    expect(await countEntries(sender, id, ann)).toBe(1);
    await expect(
      createWaiting(sender, {
        triggerType: "email_opened",
        triggerConfig: { sequenceId: other.id, stepId: 999_999_999 },
      }),
    ).rejects.toThrow(/has no step/);
    await sender.provider.stop();
  });
});
