import { beforeAll, expect, test, vi } from "vitest";
import type { Caller } from "../../shared/caller.ts";
import * as playbooks from "../../shared/domain/playbooks.ts";
import * as records from "../../shared/domain/records.ts";
import * as sequences from "../../shared/domain/sequences.ts";
import * as templates from "../../shared/domain/templates.ts";
import { put, write } from "../../shared/doors/table.ts";
import { remembering } from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import { audience } from "../support/audience.ts";
import { atSomeSteps } from "../support/killer.ts";
import { opened } from "../support/travellers.ts";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(opened);

async function there(caller: Caller) {
  const [made, mails] = await Promise.all([sequences.list(caller, { limit: 100 }, {}), templates.list(caller, { limit: 100 })]);
  const counts = await Promise.all([records.count(caller.orgId, "SEQUENCE"), records.count(caller.orgId, "TEMPLATE")]);
  expect(counts).toEqual([made.items.length, mails.items.length]);
  return { sequences: made.items, templates: mails.items };
}

test("dead at any step of making one, all of it is there or nothing; the same request again makes no second", async () => {
  const steps = await atSomeSteps(3, async (kill) => {
    const { caller, siteId } = await audience();
    const wish = playbooks.NewFromPlaybook.parse({ siteId });
    const memory = () => ({ address: keys.idempotency(caller.orgId, "k"), taken });
    const taken: Record<string, number[]> = {};
    await write(put(memory().address, {}));
    const make = () => remembering(memory(), () => playbooks.create(caller, 2, wish));
    await kill(make);
    const { sequences: made, templates: mails } = await there(caller);
    expect([made.length, mails.length]).toBeOneOf([
      [0, 0],
      [1, 4],
    ]);
    if (made[0]) expect(await sequences.steps(caller, made[0].id)).toHaveLength(7);
    const again = await make();
    const now = await there(caller);
    expect(now.sequences.map(({ id }) => id)).toEqual([again.sequence.id]);
    expect(now.templates.map(({ id }) => id).toSorted()).toEqual(again.templates.map(({ id }) => id).toSorted());
    const emails = (await sequences.steps(caller, again.sequence.id)).flatMap(({ templateId }) => templateId ?? []);
    expect(emails.toSorted()).toEqual(again.templates.map(({ id }) => id).toSorted());
  });
  expect(steps.length).toBeGreaterThan(5);
});
