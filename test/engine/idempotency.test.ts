import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import * as z from "zod";
import { account as accountGroup } from "../../functions/http/account.ts";
import { sites as sitesGroup } from "../../functions/http/sites.ts";
import * as clock from "../../shared/clock.ts";
import * as apiKeys from "../../shared/domain/api-keys.ts";
import * as sites from "../../shared/domain/sites.ts";
import { get, put, update, write } from "../../shared/doors/table.ts";
import { limited, missing, unavailable } from "../../shared/errors.ts";
import { sessionCookie } from "../../shared/http/authenticate.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import * as ids from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import { account } from "../support/callers.ts";
import { ask } from "../support/events.ts";

const as = (token: string, key: string) => ({ cookies: [`${sessionCookie}=${token}`], headers: { "idempotency-key": key } });

/** As if the function had died after its writes and before it could note its answer. */
const forget = (orgId: number, key: string, more: { lease?: number } = {}) =>
  write(update(keys.idempotency(orgId, key), { set: more, remove: ["answer"] }));

test("a request that died is made again under the same id, once the first can no longer be alive", async () => {
  const { token, caller } = await account();
  const asked = { ...as(token, "one site"), body: { name: "Shop" } };
  const first = await ask<{ id: number }>(sitesGroup, "POST /sites", asked);
  expect(first.status).toBe(201);
  await forget(caller.orgId, "one site");
  expect((await ask(sitesGroup, "POST /sites", asked)).body.code).toBe("idempotency_in_progress");
  clock.advance(36);
  const again = await ask<{ id: number }>(sitesGroup, "POST /sites", asked);
  expect(again).toMatchObject({ status: 201, body: { data: { id: first.body.data.id } } });
  expect(again.headers).not.toHaveProperty("idempotent-replayed");
  expect(await sites.visible(caller)).toEqual([first.body.data.id]);
  expect(await sites.resolve(caller)).toBe(first.body.data.id);
});

test("of many that would take over, one does", async () => {
  const { token, caller } = await account();
  const asked = { ...as(token, "race"), body: { name: "Shop" } };
  await ask(sitesGroup, "POST /sites", asked);
  await forget(caller.orgId, "race", { lease: 0 });
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => ask<{ id: number }>(sitesGroup, "POST /sites", asked)));
  const worked = outcomes.filter(({ status, headers }) => status === 201 && !headers["idempotent-replayed"]);
  expect(worked).toHaveLength(1);
  expect(await sites.visible(caller)).toHaveLength(1);
});

test("an API key whose creation died gets a key that works, and the one nobody saw works no more", async () => {
  const { token, caller } = await account();
  const asked = { ...as(token, "one key"), body: { name: "CI" } };
  const first = await ask<{ id: number; key: string }>(accountGroup, "POST /api-keys", asked);
  await forget(caller.orgId, "one key", { lease: 0 });
  const again = await ask<{ id: number; key: string; prefix: string }>(accountGroup, "POST /api-keys", asked);
  expect(again.body.data.id).toBe(first.body.data.id);
  const me = (key: string) => ask(accountGroup, "GET /auth/me", { headers: { authorization: `Bearer ${key}` } });
  expect((await me(first.body.data.key)).status).toBe(401);
  expect((await me(again.body.data.key)).status).toBe(200);
  const { items } = await apiKeys.list(caller, { limit: 50 });
  expect(items).toMatchObject([{ id: first.body.data.id, prefix: again.body.data.prefix }]);
});

test.each([
  [503, () => unavailable("had")],
  [429, () => limited("had")],
])("after a %i the same request may run again at once, under the ids it had taken", async (status, refusal) => {
  const { token } = await account();
  let runs = 0;
  let had: number[] = [];
  const flaky = group("flaky", [
    route("POST /flaky", "Fails the first time", {
      returns: z.object({ ids: z.array(z.int()) }),
      handle: async () => {
        const taken = [await ids.take("FLAKY"), await ids.take("FLAKY")];
        if (++runs === 1) {
          had = taken;
          throw refusal();
        }
        return { ids: [...taken, await ids.take("FLAKY")] };
      },
    }),
  ]);
  const failed = await ask(flaky, "POST /flaky", { ...as(token, "flaky"), body: {} });
  expect(failed.status).toBe(status);
  const done = await ask<{ ids: number[] }>(flaky, "POST /flaky", { ...as(token, "flaky"), body: {} });
  expect(done.body.data.ids.slice(0, 2)).toEqual(had);
  expect(new Set(done.body.data.ids).size).toBe(3);
  const replay = await ask<{ ids: number[] }>(flaky, "POST /flaky", { ...as(token, "flaky"), body: {} });
  expect(replay).toMatchObject({ headers: { "idempotent-replayed": "true" }, body: done.body });
  expect(runs).toBe(2);
});

test("a key is kept for 24 hours and free afterwards", async () => {
  const { token, caller } = await account();
  const asked = { ...as(token, "daily"), body: { name: "Shop" } };
  const first = await ask<{ id: number }>(sitesGroup, "POST /sites", asked);
  clock.advance(24 * 3600 - 60);
  expect((await ask(sitesGroup, "POST /sites", asked)).headers["idempotent-replayed"]).toBe("true");
  clock.advance(61);
  const next = await ask<{ id: number }>(sitesGroup, "POST /sites", asked);
  expect(next.status).toBe(201);
  expect(await sites.visible(caller)).toEqual([first.body.data.id, next.body.data.id]);
});

test("what was answered when there still was what it named is repeated for 24 hours, and then refused", async () => {
  const { token } = await account();
  let there = true;
  const gone = group("gone", [
    route("POST /gone", "Names what may be gone", {
      returns: z.object({ done: z.boolean() }),
      prepare: async () => {
        if (!there) throw missing("It is gone");
      },
      handle: async () => ({ done: true }),
    }),
  ]);
  const again = async () => (await ask(gone, "POST /gone", { ...as(token, "gone"), body: {} })).status;
  expect(await again()).toBe(200);
  there = false;
  expect(await again()).toBe(200);
  clock.advance(24 * 3600 + 1);
  expect(await again()).toBe(404);
});

test("a key bound to one site never gets the answer that a key of another site was given", async () => {
  const { caller } = await account();
  const [one, two] = await Promise.all(["One", "Two"].map((name) => sites.create(caller, sites.NewSite.parse({ name }))));
  const bound = await Promise.all([one!, two!].map(({ id }) => apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "k", siteId: id }))));
  const echo = group("echo", [
    route("POST /echo", "Tells the caller's site", {
      level: "site",
      returns: z.object({ siteId: z.int().optional() }),
      handle: async ({ caller: { siteId } }) => ({ siteId }),
    }),
  ]);
  const answers = await Promise.all(
    bound.map(({ key }) =>
      ask<{ siteId: number }>(echo, "POST /echo", { headers: { authorization: `Bearer ${key}`, "idempotency-key": "order-1" }, body: {} }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const winner = answers.findIndex(({ status }) => status === 200);
  expect(answers[winner]!.body.data.siteId).toBe([one, two][winner]!.id);
  expect(answers[1 - winner]!.body.code).toBe("idempotency_mismatch");
});

test("ids that a request takes side by side are all remembered, each in its place, however long a write takes", async () => {
  const { caller } = await account();
  const address = keys.idempotency(caller.orgId, "side by side");
  await write(put(address, {}));
  // The first two calls, whatever they are, take longer than all others.
  const { send } = DynamoDBDocumentClient.prototype;
  let calls = 0;
  const slow = vi.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(async function (this: unknown, ...given) {
    if (++calls <= 2) await sleep(30 * (3 - calls));
    return (send as (...all: unknown[]) => Promise<never>).apply(this, given);
  });
  const takeAll = (taken: ids.Memory["taken"]) =>
    ids.remembering({ address, taken }, () => Promise.all([ids.take("A"), ids.take("A"), ids.take("B"), ids.take("C")]));
  const first = await takeAll({}).finally(() => slow.mockRestore());
  const { taken } = (await get<ids.Memory>(address))!;
  expect(taken).toEqual({ A: first.slice(0, 2), B: [first[2]], C: [first[3]] });
  expect(await takeAll(taken)).toEqual(first);
});

test("ids are not noted on what was removed meanwhile: it would come back", async () => {
  const { caller } = await account();
  const address = keys.submission(caller.orgId, 1, "removed");
  await expect(ids.remembering({ address, taken: {} }, () => ids.takeSend())).rejects.toThrow();
  expect(await get(address)).toBeUndefined();
});
