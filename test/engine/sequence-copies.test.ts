import { beforeAll, expect, test, vi } from "vitest";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  minutes,
  runFor,
  useVirtualQueues,
} from "../support/sequences.ts";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(useVirtualQueues);

test("mail of a sequence gets a blind copy to the address of the sequence, otherwise of the site", async () => {
  const one = await createSequenceSender();
  await sites.change(one.caller, one.siteId, { autoBcc: "site@shop.example" });
  const [own, inherited] = [
    await createSequence(one, ["Own"], { autoBcc: "sequence@shop.example" }),
    await createSequence(one, ["Inherited"], { autoBcc: null }),
  ];
  const contactIds = await createContacts(one, 2);
  for (const { id } of [own, inherited]) await enrollments.enroll(one.caller, id, { contactIds });
  await runFor(minutes(2));
  const copies = one.provider.mails.map(({ subject, bcc }) => `${subject}: ${bcc}`);
  expect(copies.toSorted()).toEqual([
    "Inherited: site@shop.example",
    "Inherited: site@shop.example",
    "Own: sequence@shop.example",
    "Own: sequence@shop.example",
  ]);
  await one.provider.stop();
});
