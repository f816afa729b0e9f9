// Many concurrent writers of one item: all succeed, or get 503 with Retry-After.
import { expect, test } from "vitest";
import { equals } from "../../shared/adapters/dynamodb/conditions.ts";
import { ConditionFailed, get, put, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { upsert } from "../../shared/domain/audience/contacts/upserts.ts";
import * as listMembers from "../../shared/domain/audience/groups/group-members.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { applyTag } from "../../shared/domain/audience/groups/tags.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import { contended } from "../../shared/errors.ts";
import { createReply, errorResponse } from "../../shared/http/responses.ts";
import { retryInTurn, retryOnConflict } from "../../shared/kernel/retry-on-conflict.ts";
import { keys } from "../../shared/keys.ts";
import {
  createContact,
  createTestSite,
  newContact,
  readContactCount,
  readGroupMembers,
} from "../support/contacts.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";

useDynamoDbEngine();

const range = (n: number) => Array.from({ length: n }, (_, i) => i);
const runInParallel = <T>(n: number, work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(range(n).map(work));

test("50 concurrent changes of one contact all succeed, and none is lost", async () => {
  const shop = await createTestSite();
  const { id } = await createContact(shop, "ann@x.com");
  await runInParallel(50, (i) =>
    contacts.change(shop.caller, id, { customFields: { [`field${i}`]: i } }),
  );
  const { customFields } = await contacts.find(shop.caller, id);
  expect(customFields).toEqual(Object.fromEntries(range(50).map((i) => [`field${i}`, i])));
});

test("concurrent tags, scores and bulk rows of one contact all succeed", async () => {
  const shop = await createTestSite();
  const { caller, siteId } = shop;
  const { id } = await createContact(shop, "ann@x.com");
  const tags = await runInParallel(20, (i) =>
    groups.create("TAG", caller, { siteId, name: `t${i}` }),
  );
  const row = (i: number) => ({ ...newContact("ann@x.com"), customFields: { [`bulk${i}`]: true } });
  const otherRows = range(5).map((i) => newContact(`other${i}@x.com`));
  const [saved] = await Promise.all([
    runInParallel(20, (i) => upsert({ caller: caller, siteId: siteId }, [...otherRows, row(i)])),
    runInParallel(20, (i) => applyTag(caller, id, tags[i]!)),
    runInParallel(20, () => scores.changeByHand(caller, id, { delta: 1 })),
  ]);
  expect(saved.flat().filter(({ outcome }) => outcome === "failed")).toEqual([]);
  const contact = await contacts.find(caller, id);
  expect([contact.tags.length, contact.score, Object.keys(contact.customFields).length]).toEqual([
    20, 20, 20,
  ]);
  expect(await readContactCount(shop)).toBe(6);
});

test("a contact is found by its id while its address changes, alone and in a list", async () => {
  const shop = await createTestSite();
  const { caller, siteId, orgId } = shop;
  const { id } = await createContact(shop, "ann@x.com");
  const list = await groups.create("LIST", caller, { siteId, name: "News" });
  let moves = true;
  const moving = (async () => {
    for (let i = 0; moves; i++)
      await contacts.change(caller, id, { email: i % 2 ? "ann@x.com" : "ann@y.com" });
  })();
  for (let n = 0; n < 40; n++) {
    expect(await contacts.find(caller, id)).toMatchObject({ id });
    const result = await (n % 2 ? listMembers.removeMembers : listMembers.addMembers)(
      caller,
      { kind: "LIST", id: list.id },
      [id],
    );
    expect(result).toMatchObject({ changed: 1, failed: [] });
  }
  moves = false;
  await moving;
  expect(await readGroupMembers(shop, "LIST", list.id)).toEqual({ ids: [], count: 0 });
  expect(await contacts.getByIds(orgId, [id, id, 4711])).toHaveLength(2);
});

test("30 writers that are not queued by this process all succeed", async () => {
  const address = keys.contactLog(4711, 1, "contention");
  await write(put(address, { v: 0 }));
  await runInParallel(30, () =>
    retryOnConflict("The item", async () => {
      const { v } = (await get<{ v: number }>(address))!;
      await write(update(address, { set: { v: v + 1 } }, { if: equals("v", v) }));
    }),
  );
  expect(await get(address)).toMatchObject({ v: 30 });
});

test("contention that outlasts its retries is 503 with Retry-After", async () => {
  let tries = 0;
  const losing = retryInTurn("key", "The contact", async () => {
    tries++;
    throw new ConditionFailed(0);
  });
  const next = retryInTurn("key", "The contact", async (isFirst) => isFirst);
  await expect(losing).rejects.toEqual(contended("The contact"));
  expect(tries).toBeGreaterThan(10);
  // The next in line reads the item again, because its earlier read is stale.
  expect(await next).toBe(false);
  const answer = errorResponse(contended("The contact"), "r", createReply("r"));
  expect([answer.statusCode, answer.headers?.["retry-after"]]).toEqual([503, "1"]);
});

test("nested work under a key that is already held does not wait, so no deadlock occurs", async () => {
  const inner = retryInTurn("a", "A", () =>
    retryInTurn("b", "B", () => retryInTurn("a", "A", async () => "done")),
  );
  const outer = retryInTurn("b", "B", () => retryInTurn("a", "A", async () => "done"));
  expect(await Promise.all([inner, outer])).toEqual(["done", "done"]);
});
