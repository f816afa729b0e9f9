// Google Postmaster Tools: the key is checked, figures are pulled daily and kept by domain and day.
import { generateKeyPairSync } from "node:crypto";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as jobs } from "../../functions/queue/jobs.ts";
import type { CallerScope } from "../../shared/caller.ts";
import { advanceClock, now } from "../../shared/clock.ts";
import { getAdvice } from "../../shared/domain/analytics/domain-advice.ts";
import { periodEndingOn } from "../../shared/domain/analytics/periods.ts";
import * as domains from "../../shared/domain/senders/domains/domains.ts";
import { pullPostmasterFigures } from "../../shared/domain/senders/postmaster-tools/pull-figures.ts";
import { getPostmasterStats } from "../../shared/domain/senders/postmaster-tools/read-figures.ts";
import {
  findAccess,
  PostmasterAccess,
  removeAccess,
  setAccess,
} from "../../shared/domain/senders/postmaster-tools/settings.ts";
import { findItem } from "../../shared/domain/senders/postmaster-tools/stored-items.ts";
import { addDays } from "../../shared/kernel/calendar-dates.ts";
import { createAccount } from "../support/accounts.ts";
import { interruptedAtSomeSteps, interruptions } from "../support/crash-injection.ts";
import { clientEmail, type FakeGoogle, keyFile, startFakeGoogle } from "../support/fake-google.ts";
import { runWorkers, useVirtualQueues } from "../support/virtual-queues.ts";

let google: FakeGoogle;
beforeAll(useVirtualQueues);
beforeEach(async () => {
  google = await startFakeGoogle();
  vi.stubEnv("PROVIDER_URL_GOOGLE", google.url);
  vi.stubEnv("DNS_SERVERS", "127.0.0.1:9");
});
afterEach(() => google.close());

const today = () => now().toISOString().slice(0, 10);
const daysAgo = (n: number) => addDays(today(), -n);
const span = () => periodEndingOn("30d", today());
const access = (serviceAccountKey = keyFile()) => PostmasterAccess.parse({ serviceAccountKey });
const run = () => runWorkers([jobs, drain]);
const nextDay = async () => {
  advanceClock(86_400);
  await run();
};

/** Figures of Gmail on several days: days ago, spam rate. */
const showDays = (name: string, ...days: [number, number][]) =>
  google.days.set(
    name,
    new Map([
      ...(google.days.get(name) ?? []),
      ...days.map(([n, rate]): [string, Record<string, number>] => [
        daysAgo(n),
        {
          ...{ SPAM_RATE: rate, "AUTH_SUCCESS_RATE spf": 0.9, "AUTH_SUCCESS_RATE dkim": 1 },
          ...{ "AUTH_SUCCESS_RATE dmarc": 0.95, "TLS_ENCRYPTION_RATE inbound": 0.99 },
          DELIVERY_ERROR_RATE: 0.02,
        },
      ]),
    ]),
  );

async function createDomain(caller?: CallerScope) {
  const owner = caller ?? (await createAccount()).caller;
  const name = `d${crypto.randomUUID().slice(0, 8)}.com`;
  const { id } = await domains.add(owner, domains.NewDomain.parse({ name }));
  const readStats = () => getPostmasterStats(owner, id, span());
  const readDates = async () => (await readStats()).days.map(({ date }) => date);
  return { caller: owner, orgId: owner.orgId, id, name, readStats, readDates };
}

describe("the key", () => {
  test("is checked, and figures are pulled at once", async () => {
    const { caller, name, readStats } = await createDomain();
    expect(await findAccess(caller)).toBeNull();
    expect(await readStats()).toMatchObject({ state: "off", recentSpamRate: null, days: [] });
    showDays(name, [2, 0.001]);
    google.days.set("none.example", new Map());
    const set = await setAccess(caller, access());
    expect(set).toMatchObject({ clientEmail, state: "waiting", domains: [name] });
    expect(await readStats()).toMatchObject({ state: "waiting" });
    await run();
    expect(await findAccess(caller)).toMatchObject({ state: "working", lastError: null });
    expect(await readStats()).toMatchObject({
      state: "shared",
      recentSpamRate: 0.001,
      days: [
        {
          ...{ date: daysAgo(2), spamRate: 0.001, spfRate: 0.9, dkimRate: 1, dmarcRate: 0.95 },
          ...{ tlsRate: 0.99, deliveryErrorRate: 0.02 },
        },
      ],
    });
    expect(google.claims).toMatchObject({
      aud: "https://oauth2.googleapis.com/token",
      scope: expect.stringContaining("postmaster.traffic.readonly"),
    });
    expect(google.claims).not.toHaveProperty("sub");
  });

  test("can act for a user, and is neither stored in plain text nor returned", async () => {
    const { caller } = await createAccount();
    const delegatedUser = "ada@shop.example";
    const set = await setAccess(caller, { ...access(), delegatedUser });
    expect(set).toMatchObject({ delegatedUser, domains: [] });
    expect(google.claims).toMatchObject({ sub: delegatedUser });
    const stored = JSON.stringify([set, await findItem(caller.orgId)]);
    expect(stored).not.toContain("PRIVATE KEY");
    await removeAccess(caller);
    expect(await findAccess(caller)).toBeNull();
    await run();
    expect(google.queries).toEqual([]);
  });

  test("stays if it is omitted: it is checked again, and figures are pulled at once", async () => {
    const { caller, name, readDates } = await createDomain();
    await expect(setAccess(caller, {})).rejects.toMatchObject({
      message: expect.stringContaining("is required"),
      details: [{ path: "serviceAccountKey" }],
    });
    await setAccess(caller, access());
    await run();
    showDays(name, [2, 0.001]);
    const delegatedUser = "ada@shop.example";
    const set = await setAccess(caller, { delegatedUser });
    expect(set).toMatchObject({ clientEmail, delegatedUser, domains: [name], state: "waiting" });
    await run();
    expect(await readDates()).toEqual([daysAgo(2)]);
  });

  const privateKeyOf = (bits: number) =>
    generateKeyPairSync("rsa", { modulusLength: bits })
      .privateKey.export({ type: "pkcs8", format: "pem" })
      .toString();
  test.each([
    ["no JSON", "{", "must be the JSON file"],
    ["a file without key", "{}", "must be the JSON file"],
    ["no PEM", keyFile({ private_key: "x" }), "RSA key"],
    ["a short key", keyFile({ private_key: privateKeyOf(1024) }), "RSA key"],
    [
      "a key that Google does not know",
      keyFile({ private_key: privateKeyOf(2048) }),
      "invalid_grant",
    ],
    ["another account", keyFile({ client_email: "eve@shop.example" }), "invalid_grant"],
  ])("is refused, and names the field: %s", async (_, text, reason) => {
    const { caller } = await createAccount();
    await expect(setAccess(caller, access(text))).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining(reason),
      details: [{ path: "serviceAccountKey" }],
    });
    expect(await findAccess(caller)).toBeNull();
  });

  test.each([
    [403, "invalid"],
    [429, "upstream"],
    [503, "upstream"],
  ])("is not stored if Google answers %i", async (status, kind) => {
    const { caller } = await createAccount();
    google.fault = { path: "/v2/domains", status, message: "Postmaster Tools API is off" };
    await expect(setAccess(caller, access())).rejects.toMatchObject({
      kind,
      message: expect.stringContaining("Postmaster Tools API is off"),
    });
    google.close();
    expect(await findAccess(caller)).toBeNull();
  });
});

test("days that Gmail completes late are pulled again, and older ones are not", async () => {
  const { caller, name, readStats, readDates } = await createDomain();
  showDays(name, [20, 0.002], [3, 0.001]);
  await setAccess(caller, access());
  await run();
  expect(google.queries.at(-1)).toEqual({ domain: name, from: daysAgo(30) });
  await nextDay();
  expect(google.queries.at(-1)).toEqual({ domain: name, from: daysAgo(9) });
  showDays(name, [3, 0.004], [2, 0], [1, 0.003]);
  await nextDay();
  expect(await readDates()).toEqual([22, 5, 4, 3, 2].map(daysAgo));
  expect((await readStats()).days.map(({ spamRate }) => spamRate)).toEqual([
    0.002, 0.001, 0.004, 0, 0.003,
  ]);
});

test("many days come in several pages", async () => {
  const { caller, name, readDates } = await createDomain();
  showDays(name, ...Array.from({ length: 30 }, (_, i): [number, number] => [i + 1, 0.001]));
  await setAccess(caller, access());
  await run();
  expect(await readDates()).toHaveLength(29);
  expect(google.queries.length).toBeGreaterThan(5);
});

test("a domain that Google does not show or refuses stops no other", async () => {
  const first = await createDomain();
  const others = [await createDomain(first.caller), await createDomain(first.caller)];
  const [refused, unknown] = others as [typeof first, typeof first];
  google.unreadable.add(refused.name);
  showDays(first.name, [1, 0.001]);
  showDays("not-ours.example", [1, 0.5]);
  await setAccess(first.caller, access());
  await run();
  expect(await first.readStats()).toMatchObject({ state: "shared", recentSpamRate: 0.001 });
  expect(await refused.readStats()).toMatchObject({ state: "shared", days: [] });
  expect(await unknown.readStats()).toMatchObject({ state: "not_shared", days: [] });
  expect(await findAccess(first.caller)).toMatchObject({ state: "working" });
  expect(google.queries.map(({ domain }) => domain)).toEqual([first.name]);
});

test("a quota is waited for an hour, and a key that was withdrawn for a day", async () => {
  const { caller, name, readDates } = await createDomain();
  showDays(name, [1, 0.001]);
  await setAccess(caller, access());
  google.fault = { path: "domainStats", status: 429, message: "Quota exceeded" };
  await run();
  const failed = await findAccess(caller);
  expect(failed).toMatchObject({ state: "failing", lastError: "Google refused: Quota exceeded" });
  google.fault = undefined;
  advanceClock(3000);
  await run();
  expect(await readDates()).toEqual([]);
  advanceClock(700);
  await run();
  expect(await readDates()).toHaveLength(1);
  expect(await findAccess(caller)).toMatchObject({ state: "working", failingSince: null });
  google.fault = { path: "/token", status: 401, message: "Deleted" };
  await nextDay();
  const { failingSince, nextPullAt } = (await findAccess(caller))!;
  expect(Date.parse(nextPullAt) - Date.parse(failingSince!)).toBeGreaterThan(86_000_000);
});

test("a pull that takes too long goes on where it stopped", async () => {
  const first = await createDomain();
  const second = await createDomain(first.caller);
  const inOrder = [first, second].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name } of inOrder) showDays(name, [1, 0.001]);
  await setAccess(first.caller, access());
  google.onQuery = () => advanceClock(41);
  await pullPostmasterFigures(first.orgId);
  expect(await findItem(first.orgId)).toMatchObject({ position: inOrder[0]!.name });
  expect(await inOrder[1]!.readDates()).toEqual([]);
  google.onQuery = () => {};
  await run();
  expect(await inOrder[1]!.readDates()).toHaveLength(1);
  expect(google.queries.map(({ domain }) => domain)).toEqual(inOrder.map(({ name }) => name));
  expect(await findItem(first.orgId)).not.toHaveProperty("position");
});

test.each(interruptions)("loses no day wherever a worker crashes: %s", async (how) => {
  await interruptedAtSomeSteps(how, async (interrupt) => {
    const { caller, orgId, name, readDates } = await createDomain();
    google.days.clear();
    showDays(name, [25, 0.002], [12, 0.001], [3, 0.001]);
    await setAccess(caller, access());
    const pull = () => pullPostmasterFigures(orgId);
    await interrupt(pull, pull);
    await pull();
    expect(await readDates()).toEqual([25, 12, 3].map(daysAgo));
    expect(await findAccess(caller)).toMatchObject({ state: "working" });
  });
});

test("the advice warns of the spam rate that Gmail reports", async () => {
  const { caller, id, name } = await createDomain();
  await setAccess(caller, access());
  const adviceFor = async (...days: [number, number][]) => {
    showDays(name, ...days);
    await pullPostmasterFigures(caller.orgId);
    const { checks, gmailSpamRate } = await getAdvice(caller, id);
    const { result, reason, found } = checks.find((one) => one.name === "spam_rate")!;
    return { gmailSpamRate, result, reason, found };
  };
  expect(await adviceFor()).toMatchObject({ gmailSpamRate: null, result: "unknown" });
  expect(await adviceFor([9, 0.0005])).toEqual({
    ...{ gmailSpamRate: 0.0005, result: "pass", reason: "spam_rate_good" },
    found: "Gmail: 0.05 %",
  });
  expect(await adviceFor([8, 0.0015])).toMatchObject({ result: "warn", found: "Gmail: 0.15 %" });
  expect(await adviceFor([7, 0.003])).toMatchObject({ reason: "spam_rate_over_limit" });
  // The limit counts for seven days.
  const good = [6, 5, 4, 3, 2, 1, 0].map((n): [number, number] => [n, 0]);
  expect(await adviceFor(...good)).toMatchObject({ gmailSpamRate: 0, result: "pass" });
});

test("figures of another organization are not found", async () => {
  const { id } = await createDomain();
  const { caller } = await createAccount();
  await expect(getPostmasterStats(caller, id, span())).rejects.toMatchObject({ kind: "missing" });
});
