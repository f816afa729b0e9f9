import { beforeAll, expect, test, vi } from "vitest";
import * as enrollments from "../../shared/domain/sequences/enrollments.ts";
import * as sites from "../../shared/domain/sites.ts";
import { minutes, opened, pass, people, sequence, shop } from "../support/travellers.ts";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(opened);

test("mail of a sequence is copied to whom the sequence names, or else to whom the site names", async () => {
  const one = await shop();
  await sites.change(one.caller, one.siteId, { autoBcc: "site@shop.example" });
  const [own, inherited] = [
    await sequence(one, ["Own"], { autoBcc: "sequence@shop.example" }),
    await sequence(one, ["Inherited"], { autoBcc: null }),
  ];
  const contactIds = await people(one, 2);
  for (const { id } of [own, inherited]) await enrollments.enroll(one.caller, id, contactIds);
  await pass(minutes(2));
  const told = one.provider.mails.map(({ subject, bcc }) => `${subject}: ${bcc}`);
  expect(told.toSorted()).toEqual([
    "Inherited: site@shop.example",
    "Inherited: site@shop.example",
    "Own: sequence@shop.example",
    "Own: sequence@shop.example",
  ]);
  await one.provider.stop();
});
