import { beforeAll, expect, test, vi } from "vitest";
import { put, write } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import * as playbooks from "../../shared/domain/automation/playbooks/playbooks.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { withReservedIds } from "../../shared/ids.ts";
import * as records from "../../shared/kernel/records.ts";
import { keys } from "../../shared/keys.ts";
import { createTestSite } from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { useVirtualQueues } from "../support/sequences.ts";

vi.setConfig({ testTimeout: 60_000 });
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
