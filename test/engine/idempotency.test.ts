import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { account as accountGroup } from "../../functions/http/account.ts";
import { sites as sitesGroup } from "../../functions/http/sites.ts";
import { get, put, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import {
  conflict,
  forbidden,
  invalid,
  limited,
  missing,
  Problem,
  tooLarge,
  unavailable,
  unsupported,
} from "../../shared/errors.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { route } from "../../shared/http/route.ts";
import * as ids from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import { createAccount } from "../support/accounts.ts";
import { interceptCalls } from "../support/aws-calls.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import { addMember } from "../support/members.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";

useDynamoDbEngine();

const as = (token: string, key: string) => ({
  cookies: [`${sessionCookieName}=${token}`],
  headers: { "idempotency-key": key },
});

/** The state after a crash between the writes of the request and that of its response. */
const forget = (orgId: number, key: string, more: { lease?: number } = {}) =>
  write(update(keys.idempotency(orgId, key), { set: more, remove: ["answer"] }));

test("a repeated request gets the same id after the lease of a crashed first request has expired", async () => {
  const { token, caller } = await createAccount();
  const request = { ...as(token, "one site"), body: { name: "Shop" } };
  const first = await invokeRoute<{ id: number }>(sitesGroup, "POST /sites", request);
  expect(first.status).toBe(201);
  await forget(caller.orgId, "one site");
  expect((await invokeRoute(sitesGroup, "POST /sites", request)).body.code).toBe(
    "idempotency_in_progress",
  );
  clock.advanceClock(36);
  const again = await invokeRoute<{ id: number }>(sitesGroup, "POST /sites", request);
  expect(again).toMatchObject({ status: 201, body: { data: { id: first.body.data.id } } });
  expect(again.headers).not.toHaveProperty("idempotent-replayed");
  expect(await sites.listVisibleSiteIds(caller)).toEqual([first.body.data.id]);
  expect(await sites.resolveSiteId(caller)).toBe(first.body.data.id);
});

test("only one of many repeated requests takes over", async () => {
  const { token, caller } = await createAccount();
  const request = { ...as(token, "race"), body: { name: "Shop" } };
  await invokeRoute(sitesGroup, "POST /sites", request);
  await forget(caller.orgId, "race", { lease: 0 });
  const outcomes = await Promise.all(
    Array.from({ length: 5 }, () =>
      invokeRoute<{ id: number }>(sitesGroup, "POST /sites", request),
    ),
  );
  const worked = outcomes.filter(
    ({ status, headers }) => status === 201 && !headers["idempotent-replayed"],
  );
  expect(worked).toHaveLength(1);
  expect(await sites.listVisibleSiteIds(caller)).toHaveLength(1);
});

test("a request that stood still until another took over changes nothing", async () => {
  const { token, caller } = await createAccount();
  const request = { ...as(token, "asleep"), body: { name: "Shop" } };
  const isRecord = (input: object) => JSON.stringify(input).includes('"taken"');
  const [paused, resume] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const end = interceptCalls("dynamodb", async ({ input }, passThrough) => {
    if (isRecord(input)) {
      end();
      paused.resolve();
      await resume.promise;
    }
    return passThrough();
  });
  const first = invokeRoute<{ id: number }>(sitesGroup, "POST /sites", request);
  await paused.promise;
  clock.advanceClock(36);
  const second = await invokeRoute<{ id: number }>(sitesGroup, "POST /sites", request);
  expect(second.status).toBe(201);
  resume.resolve();
  expect((await first).body.code).toBe("idempotency_in_progress");
  expect(await sites.listVisibleSiteIds(caller)).toEqual([second.body.data.id]);
});

test("a request that continues while another takes over shares its ids with it", async () => {
  const { token, caller } = await createAccount();
  const request = { ...as(token, "overtaken"), body: { name: "Shop" } };
  const create = () => invokeRoute<{ id: number }>(sitesGroup, "POST /sites", request);
  // The first request stops before it records its id, and again before it stores the site.
  const gates = ["taken", "site"].map(() => ({
    reached: Promise.withResolvers<void>(),
    opened: Promise.withResolvers<void>(),
  }));
  let stops = 0;
  const end = interceptCalls("dynamodb", async ({ input }, passThrough) => {
    const text = JSON.stringify(input);
    const gate = gates[stops];
    if (gate && (stops ? text.includes('"Shop"') : text.includes('"taken"'))) {
      stops++;
      gate.reached.resolve();
      await gate.opened.promise;
    } else if (stops === 1 && /^\{.*"UpdateExpression":"SET #\w+ ?= ?:\w+"/.test(text)) {
      // The second request is about to take over.
      gates[0]!.opened.resolve();
      await gates[1]!.reached.promise;
    }
    return passThrough();
  });
  const first = create();
  await gates[0]!.reached.promise;
  clock.advanceClock(36);
  const second = await create();
  gates[1]!.opened.resolve();
  expect((await first).body.code).toBe("idempotency_in_progress");
  end();
  expect(second.status).toBe(201);
  expect(await sites.listVisibleSiteIds(caller)).toEqual([second.body.data.id]);
});

/** The first call that `isGated` accepts waits for the gate, and then fails with `error`. */
function gateFirst(isGated: (input: string) => boolean, error?: Error) {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isClosed = true;
  const end = interceptCalls("dynamodb", async ({ input }, passThrough) => {
    if (isClosed && isGated(JSON.stringify(input))) {
      isClosed = false;
      reached.resolve();
      await opened.promise;
      if (error) throw error;
    }
    return passThrough();
  });
  return { reached: reached.promise, open: opened.resolve, end };
}

test("a request that fails after another has taken over gets 409", async () => {
  const { token } = await createAccount();
  const request = { ...as(token, "failing"), body: { name: "Shop" } };
  const isAuditEntry = (input: string) => input.includes('"outcome":"unknown"');
  const gate = gateFirst(isAuditEntry, new Error("the entry was not written"));
  const first = invokeRoute(sitesGroup, "POST /sites", request);
  await gate.reached;
  clock.advanceClock(36);
  const second = await invokeRoute(sitesGroup, "POST /sites", request);
  gate.open();
  expect([(await first).status, second.status]).toEqual([409, 201]);
  gate.end();
});

test("a request that was taken over does not change the large response of the other", async () => {
  const { token } = await createAccount();
  const answers = [1, 2].map(() => randomBytes(500_000).toString("hex"));
  let runs = 0;
  const large = routeGroup("large", [
    route("POST /large", "Answers with a large body", {
      body: z.object({}),
      returns: z.object({ text: z.string() }),
      handle: async () => ({ text: answers[runs++]! }),
    }),
  ]);
  const request = { ...as(token, "large"), body: {} };
  const post = () => invokeRoute<{ text: string }>(large, "POST /large", request);
  const gate = gateFirst((input) => input.includes('"bytes"'));
  const first = post();
  await gate.reached;
  clock.advanceClock(36);
  expect((await post()).status).toBe(200);
  gate.open();
  expect((await first).status).toBe(409);
  gate.end();
  expect((await post()).body.data.text === answers[1]).toBe(true);
});

test("a request repeated after a crash returns a working API key, and the first key stops working", async () => {
  const { token, caller } = await createAccount();
  const request = { ...as(token, "one key"), body: { name: "CI" } };
  const first = await invokeRoute<{ id: number; key: string }>(
    accountGroup,
    "POST /api-keys",
    request,
  );
  await forget(caller.orgId, "one key", { lease: 0 });
  const again = await invokeRoute<{ id: number; key: string; prefix: string }>(
    accountGroup,
    "POST /api-keys",
    request,
  );
  expect(again.body.data.id).toBe(first.body.data.id);
  const me = (key: string) =>
    invokeRoute(accountGroup, "GET /auth/me", { headers: { authorization: `Bearer ${key}` } });
  expect((await me(first.body.data.key)).status).toBe(401);
  expect((await me(again.body.data.key)).status).toBe(200);
  const { items } = await apiKeys.list(caller, { limit: 50 });
  expect(items).toMatchObject([{ id: first.body.data.id, prefix: again.body.data.prefix }]);
});

test.each([
  [503, () => unavailable("had")],
  [429, () => limited("had")],
])(
  "after a %i the same request can run again at once and gets the same ids",
  async (status, refusal) => {
    const { token } = await createAccount();
    let runs = 0;
    let had: number[] = [];
    const flaky = routeGroup("flaky", [
      route("POST /flaky", "Fails at the first request", {
        returns: z.object({ ids: z.array(z.int()) }),
        handle: async () => {
          const takenIds = [await ids.nextId("FLAKY"), await ids.nextId("FLAKY")];
          if (++runs === 1) {
            had = takenIds;
            throw refusal();
          }
          return { ids: [...takenIds, await ids.nextId("FLAKY")] };
        },
      }),
    ]);
    const failed = await invokeRoute(flaky, "POST /flaky", { ...as(token, "flaky"), body: {} });
    expect(failed.status).toBe(status);
    const done = await invokeRoute<{ ids: number[] }>(flaky, "POST /flaky", {
      ...as(token, "flaky"),
      body: {},
    });
    expect(done.body.data.ids.slice(0, 2)).toEqual(had);
    expect(new Set(done.body.data.ids).size).toBe(3);
    const replay = await invokeRoute<{ ids: number[] }>(flaky, "POST /flaky", {
      ...as(token, "flaky"),
      body: {},
    });
    expect(replay).toMatchObject({ headers: { "idempotent-replayed": "true" }, body: done.body });
    expect(runs).toBe(2);
  },
);

test("an idempotency key expires after 24 hours", async () => {
  const { token, caller } = await createAccount();
  const request = { ...as(token, "daily"), body: { name: "Shop" } };
  const first = await invokeRoute<{ id: number }>(sitesGroup, "POST /sites", request);
  clock.advanceClock(24 * 3600 - 60);
  expect(
    (await invokeRoute(sitesGroup, "POST /sites", request)).headers["idempotent-replayed"],
  ).toBe("true");
  clock.advanceClock(61);
  const next = await invokeRoute<{ id: number }>(sitesGroup, "POST /sites", request);
  expect(next.status).toBe(201);
  expect(await sites.listVisibleSiteIds(caller)).toEqual([first.body.data.id, next.body.data.id]);
});

test("a stored response is replayed for 24 hours, even if the record was deleted meanwhile", async () => {
  const { token } = await createAccount();
  let exists = true;
  const goneGroup = routeGroup("gone", [
    route("POST /gone", "Names what may be gone", {
      returns: z.object({ done: z.boolean() }),
      handle: async () => {
        if (!exists) throw missing("It is gone");
        return { done: true };
      },
    }),
  ]);
  const again = async () =>
    (await invokeRoute(goneGroup, "POST /gone", { ...as(token, "gone"), body: {} })).status;
  expect(await again()).toBe(200);
  exists = false;
  expect(await again()).toBe(200);
  clock.advanceClock(24 * 3600 + 1);
  expect(await again()).toBe(404);
});

test("an API key bound to one site never gets the stored response of a key of another site", async () => {
  const { caller } = await createAccount();
  const [one, two] = await Promise.all(
    ["One", "Two"].map((name) => sites.create(caller, sites.NewSite.parse({ name }))),
  );
  const bound = await Promise.all(
    [one!, two!].map(({ id }) =>
      apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "k", siteId: id })),
    ),
  );
  const echo = routeGroup("echo", [
    route("POST /echo", "Tells the caller's site", {
      level: "site",
      returns: z.object({ siteId: z.int().optional() }),
      handle: async ({ caller: { siteIds } }) => ({ siteId: siteIds?.[0] }),
    }),
  ]);
  const answers = await Promise.all(
    bound.map(({ key }) =>
      invokeRoute<{ siteId: number }>(echo, "POST /echo", {
        headers: { authorization: `Bearer ${key}`, "idempotency-key": "order-1" },
        body: {},
      }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const winner = answers.findIndex(({ status }) => status === 200);
  expect(answers[winner]!.body.data.siteId).toBe([one, two][winner]!.id);
  expect(answers[1 - winner]!.body.code).toBe("idempotency_mismatch");
});

test("a member never gets the stored response of another member's session", async () => {
  const { caller, token } = await createAccount();
  const other = await addMember(caller, { role: "owner" });
  const request = { body: { organizationId: caller.orgId } };
  const switched = await invokeRoute<{ user: { id: number } }>(accountGroup, "POST /auth/switch", {
    ...as(token, "switch"),
    ...request,
  });
  expect(switched.body.data.user.id).toBe(caller.userId);
  const refused = await invokeRoute(accountGroup, "POST /auth/switch", {
    ...as(other.token, "switch"),
    ...request,
  });
  expect(refused.body.code).toBe("idempotency_mismatch");
});

test("an API key never gets the stored response of another API key", async () => {
  const { caller } = await createAccount();
  const withKey = async (name: string) => {
    const { key } = await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name }));
    return { authorization: `Bearer ${key}`, "idempotency-key": "one site" };
  };
  const headers = await withKey("one");
  const body = { name: "Shop" };
  const create = (of: Record<string, string>) =>
    invokeRoute(sitesGroup, "POST /sites", { headers: of, body });
  expect((await create(headers)).status).toBe(201);
  expect((await create(await withKey("two"))).body.code).toBe("idempotency_mismatch");
  expect((await create(headers)).headers["idempotent-replayed"]).toBe("true");
});

test("ids that a request allocates in parallel are all recorded in the order of the calls", async () => {
  const { caller } = await createAccount();
  const key = keys.idempotency(caller.orgId, "side by side");
  await write(put(key, {}));
  // The first two calls take longer than the others.
  let calls = 0;
  const end = interceptCalls("dynamodb", async (_, passThrough) => {
    if (++calls <= 2) await sleep(30 * (3 - calls));
    return passThrough();
  });
  const takeAll = (taken: ids.ReservedIds["taken"]) =>
    ids.withReservedIds({ key, taken }, () =>
      Promise.all([ids.nextId("A"), ids.nextId("A"), ids.nextId("B"), ids.nextId("C")]),
    );
  const first = await takeAll({}).finally(end);
  const { taken } = (await get<ids.ReservedIds>(key))!;
  expect(taken).toEqual({ A: first.slice(0, 2), B: [first[2]], C: [first[3]] });
  expect(await takeAll(taken)).toEqual(first);
});

test("recording ids does not create a deleted item again", async () => {
  const { caller } = await createAccount();
  const key = keys.submission(caller.orgId, 1, "removed");
  await expect(ids.withReservedIds({ key, taken: {} }, () => ids.nextSendId())).rejects.toThrow();
  expect(await get(key)).toBeUndefined();
});

describe("stored responses", () => {
  const groupWith = (answer: () => Promise<{ runs: number }>, more: { preview?: true } = {}) =>
    routeGroup("answering", [
      route("POST /answering", "Answers as told", {
        body: z.object({ name: z.string().optional() }),
        returns: z.object({ runs: z.int() }),
        ...more,
        handle: answer,
      }),
    ]);
  const requestWith = (token: string, name: string) => ({ ...as(token, "stored"), body: { name } });

  test.each([
    [400, () => invalid("wrong")],
    [403, () => forbidden("not yours")],
    [413, () => tooLarge("too large")],
    [415, () => unsupported("what is it")],
  ])("exclude a %i, so a corrected request can use the same key", async (status, problem) => {
    const { token } = await createAccount();
    let runs = 0;
    const one = groupWith(async () => {
      if (++runs === 1) throw problem();
      return { runs };
    });
    expect((await invokeRoute(one, "POST /answering", requestWith(token, "wrong"))).status).toBe(
      status,
    );
    expect(await invokeRoute(one, "POST /answering", requestWith(token, "mended"))).toMatchObject({
      status: 200,
      body: { data: { runs: 2 } },
    });
    expect(
      (await invokeRoute(one, "POST /answering", requestWith(token, "mended"))).headers[
        "idempotent-replayed"
      ],
    ).toBe("true");
  });

  test.each([
    [402, () => new Problem("unpaid", "no credits")],
    [404, () => missing("not there")],
    [409, () => conflict("taken")],
  ])("include a %i", async (status, problem) => {
    const { token } = await createAccount();
    let runs = 0;
    const one = groupWith(async () => {
      runs++;
      throw problem();
    });
    for (const replayed of [undefined, "true"]) {
      const answer = await invokeRoute(one, "POST /answering", requestWith(token, "x"));
      expect([answer.status, answer.headers["idempotent-replayed"]]).toEqual([status, replayed]);
    }
    expect(runs).toBe(1);
  });

  test("exclude previews", async () => {
    const { token } = await createAccount();
    let runs = 0;
    const one = groupWith(async () => ({ runs: ++runs }), { preview: true });
    for (const name of ["a", "a", "b"])
      await invokeRoute(one, "POST /answering", requestWith(token, name));
    expect(runs).toBe(3);
  });
});

test("two multipart requests with different boundaries are the same request", async () => {
  const { token } = await createAccount();
  let runs = 0;
  const one = routeGroup("uploading", [
    route("POST /uploading", "Takes a form", {
      rawBodyTypes: { "multipart/form-data": z.object({}) },
      returns: z.object({ runs: z.int() }),
      handle: async () => ({ runs: ++runs }),
    }),
  ]);
  const attempt = async (text: string) => {
    const form = new FormData();
    form.set("siteId", "1");
    form.set("file", new Blob([text], { type: "text/csv" }), "people.csv");
    const request = new Request("http://localhost", { method: "POST", body: form });
    const { headers, cookies } = as(token, "form");
    return invokeRoute(one, "POST /uploading", {
      cookies,
      headers: { ...headers, "content-type": request.headers.get("content-type")! },
      raw: Buffer.from(await request.arrayBuffer()),
    });
  };
  const [first, again] = [await attempt("email\na@x.com"), await attempt("email\na@x.com")];
  expect([first.status, again.headers["idempotent-replayed"], runs]).toEqual([200, "true", 1]);
  expect((await attempt("email\nb@x.com")).body.code).toBe("idempotency_mismatch");
});
