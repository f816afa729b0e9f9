import { beforeAll, describe, expect, test } from "vitest";
import { put, write } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as customEvents from "../../shared/domain/audience/tracking/custom-events.ts";
import * as recordCustomEvents from "../../shared/domain/audience/tracking/record-custom-events.ts";
import * as playbooks from "../../shared/domain/automation/playbooks/playbooks.ts";
import { getDetail } from "../../shared/domain/automation/sequence-detail.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { withReservedIds } from "../../shared/ids.ts";
import * as records from "../../shared/kernel/records.ts";
import { keys } from "../../shared/keys.ts";
import { createTestSite } from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import {
  createContacts,
  createSequenceSender,
  days,
  expectBalanced,
  listSubjectsTo,
  minutes,
  runFor,
  type SequenceSender,
  useVirtualQueues,
} from "../support/sequences.ts";

beforeAll(useVirtualQueues);

async function listCreated(caller: Caller) {
  const [made, mails] = await Promise.all([
    sequences.list(caller, { limit: 100 }, {}),
    templates.list(caller, { limit: 100 }),
  ]);
  const counts = await Promise.all([
    records.count(caller.orgId, "SEQUENCE"),
    records.count(caller.orgId, "TEMPLATE"),
  ]);
  expect(counts).toEqual([made.items.length, mails.items.length]);
  return { sequences: made.items, templates: mails.items };
}

test("after a crash at any step, a playbook is complete or missing", async () => {
  const steps = await crashAtSomeSteps(async (crash) => {
    const { caller, siteId } = await createTestSite();
    const request = playbooks.NewFromPlaybook.parse({ siteId });
    const memory = () => ({ key: keys.idempotency(caller.orgId, "k"), taken: usedIds });
    const usedIds: Record<string, number[]> = {};
    await write(put(memory().key, {}));
    const make = () => withReservedIds(memory(), () => playbooks.create(caller, 2, request));
    await crash(make);
    const { sequences: made, templates: mails } = await listCreated(caller);
    expect([made.length, mails.length]).toBeOneOf([
      [0, 0],
      [1, 4],
    ]);
    if (made[0]) expect((await sequences.listSteps(caller, made[0].id)).steps).toHaveLength(7);
    const again = await make();
    const now = await listCreated(caller);
    expect(now.sequences.map(({ id }) => id)).toEqual([again.sequence.id]);
    expect(now.templates.map(({ id }) => id).toSorted()).toEqual(
      again.templates.map(({ id }) => id).toSorted(),
    );
    const emails = (await sequences.listSteps(caller, again.sequence.id)).steps.flatMap(
      ({ templateId }) => templateId ?? [],
    );
    expect(emails.toSorted()).toEqual(again.templates.map(({ id }) => id).toSorted());
  });
  expect(steps.length).toBeGreaterThan(5);
});

describe("the playbook", () => {
  async function createActive(playbookId: number) {
    const sender = await createSequenceSender();
    const request = playbooks.NewFromPlaybook.parse({ siteId: sender.siteId });
    const { sequence, steps } = await playbooks.create(sender.caller, playbookId, request);
    await sequences.change(sender.caller, sequence.id, { status: "active" });
    return { sender, id: sequence.id, steps };
  }
  const record = (
    { caller }: SequenceSender,
    contactId: number,
    eventName: string,
    properties = {},
  ) =>
    recordCustomEvents.create(
      caller,
      customEvents.NewCustomEvent.parse({ contactId, eventName, properties }),
    );
  const items = [{ name: "Shoe <b>", price: 40 }, { name: "Sock" }];

  test("for abandoned carts shows their items, and ends with an order", async () => {
    const { sender, id, steps } = await createActive(4);
    const [ann = 0, bob = 0] = await createContacts(sender, 2);
    for (const one of [ann, bob]) await record(sender, one, "cart_abandoned", { items });
    await runFor(minutes(70));
    expect(await listSubjectsTo(sender, ann)).toEqual(["You left something behind"]);
    expect(sender.provider.mails[0]!.html).toContain("Shoe &lt;b&gt;: 40<br>Sock");
    await record(sender, ann, "order_placed", { total: 40 });
    await runFor(days(4));
    expect(await listSubjectsTo(sender, ann)).toHaveLength(1);
    expect(await listSubjectsTo(sender, bob)).toHaveLength(3);
    const { stats } = await getDetail(sender.caller, id);
    expect(stats).toMatchObject({ completed: 2, converted: 1, value: 40 });
    await expectBalanced(sender, id, steps);
    await sender.provider.stop();
  });

  test("for orders asks for a review, or reminds of what is used up", async () => {
    const { sender } = await createActive(5);
    const [ann = 0, bob = 0] = await createContacts(sender, 2);
    await record(sender, ann, "order_placed", { items });
    await record(sender, bob, "order_placed", { items, category: "refill" });
    await runFor(days(30));
    const common = ["Thank you for your order", "Making the most of Shoe <b>"];
    expect(await listSubjectsTo(sender, ann)).toEqual([...common, "How is it, really?"]);
    expect(await listSubjectsTo(sender, bob)).toEqual([...common, "Time for more?"]);
    await sender.provider.stop();
  });

  test("for birthdays writes every year", async () => {
    const { sender } = await createActive(9);
    await runFor(minutes(10));
    const [ann = 0] = await createContacts(sender, 1);
    const tomorrow = clock.addSeconds(days(1)).toISOString().slice(5, 10);
    await contacts.change(sender.caller, ann, { customFields: { birthday: `1990-${tomorrow}` } });
    await runFor(days(3));
    expect(await listSubjectsTo(sender, ann)).toEqual(["Happy birthday"]);
    await sender.provider.stop();
  });

  test("for renewals writes before the date, until the contact renews", async () => {
    const { sender } = await createActive(10);
    await runFor(minutes(10));
    const [ann = 0, bob = 0] = await createContacts(sender, 2);
    const renewal = clock.addSeconds(days(16)).toISOString().slice(0, 10);
    for (const one of [ann, bob])
      await contacts.change(sender.caller, one, { customFields: { renewal } });
    await runFor(days(5));
    await record(sender, ann, "renewed", { total: 9 });
    await runFor(days(13));
    expect(await listSubjectsTo(sender, ann)).toEqual(["Your contract ends in two weeks"]);
    expect(await listSubjectsTo(sender, bob)).toEqual([
      "Your contract ends in two weeks",
      "One week left",
      "Today is the last day",
    ]);
    await sender.provider.stop();
  });
});
