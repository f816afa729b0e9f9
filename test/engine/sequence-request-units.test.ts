// DynamoDB request units of sequences. They are the same on any machine, so a change that raises
// the cost fails here.
import { beforeAll, expect, test } from "vitest";
import { upsert } from "../../shared/domain/audience/contacts/upserts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import * as enrollmentListing from "../../shared/domain/automation/enrollment-listing.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { splitIntoBatches } from "../../shared/kernel/parallel.ts";
import { newContact, readAllContacts } from "../support/contacts.ts";
import { measureUnits } from "../support/request-units.ts";
import {
  createSequence,
  createSequenceSender,
  minutes,
  runFor,
  type SequenceSender,
  useVirtualQueues,
} from "../support/sequences.ts";

beforeAll(useVirtualQueues);

const people = 400;

async function upsertContacts({ caller, siteId }: SequenceSender, lists: number[]): Promise<void> {
  const rows = [...Array(people).keys()].map((i) => ({
    ...newContact(`p${i}-${lists}@example.com`),
    lists,
  }));
  for (const batch of splitIntoBatches(rows, 100)) await upsert({ caller, siteId }, batch);
}

/** Measures per contact. */
async function measureEach(work: () => Promise<unknown>): Promise<number> {
  const { usage } = await measureUnits(work);
  return usage.writeUnits / people;
}

test("a wait costs 4 write units a contact, an enrollment 5, a mail 6, the end 9", async () => {
  const sender = await createSequenceSender();
  await upsertContacts(sender, []);
  const { id } = await createSequence(sender, [60, 60, "Mail", 60]);
  const contactIds = (await readAllContacts(sender)).map((contact) => contact.id);
  const enrolling = await measureEach(async () => {
    for (const batch of splitIntoBatches(contactIds, 100))
      await enrollments.enroll(sender.caller, id, { contactIds: batch });
  });
  await runFor(minutes(5));
  const waiting = await measureEach(() => runFor(minutes(60)));
  const mailing = await measureEach(() => runFor(minutes(60)));
  const ending = await measureEach(() => runFor(minutes(60)));
  console.info({ enrolling, waiting, mailing, ending });
  const { byStatus } = await enrollmentListing.getCounts(sender.orgId, id);
  expect(byStatus).toMatchObject({ active: 0, completed: people });
  expect(enrolling).toBeLessThanOrEqual(5.2);
  expect(waiting).toBeLessThanOrEqual(4.3);
  expect(mailing).toBeLessThanOrEqual(6);
  expect(ending).toBeLessThanOrEqual(9.5);
  await sender.provider.stop();
});

test("new contacts start the sequence of their list for 3 write units more", async () => {
  const sender = await createSequenceSender();
  const { caller, siteId } = sender;
  const [plain, starting] = [
    await groups.create("LIST", caller, { siteId, name: "Plain" }),
    await groups.create("LIST", caller, { siteId, name: "Starting" }),
  ];
  const trigger = { triggerType: "list_join" as const, triggerConfig: { listId: starting.id } };
  const { id } = await createSequence(sender, [60], trigger);
  const without = await measureEach(() => upsertContacts(sender, [plain.id]));
  const withStart = await measureEach(() => upsertContacts(sender, [starting.id]));
  console.info({ without, withStart });
  const { byStatus } = await enrollmentListing.getCounts(sender.orgId, id);
  expect(byStatus).toMatchObject({ active: people });
  expect(withStart - without).toBeLessThanOrEqual(3.5);
  await sender.provider.stop();
});
