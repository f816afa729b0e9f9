// Imports and exports under a lease: lost responses, unexpected errors and contention.
import { randomUUID } from "node:crypto";
import { parse } from "csv-parse/sync";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { get } from "../../shared/adapters/dynamodb/table.ts";
import * as exports from "../../shared/domain/analytics/exports/exports.ts";
import { runExport } from "../../shared/domain/analytics/exports/run-export.ts";
import { type Import, NewImport } from "../../shared/domain/audience/imports/import-record.ts";
import * as imports from "../../shared/domain/audience/imports/imports.ts";
import * as runs from "../../shared/domain/audience/imports/run-import.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import { conflict, isTransient } from "../../shared/errors.ts";
import { runLeasedJob } from "../../shared/kernel/leased-job.ts";
import * as leases from "../../shared/kernel/leases.ts";
import { installFaultHooks, setFault } from "../support/adapter-faults.ts";
import type { CallInterceptor } from "../support/aws-calls.ts";
import {
  createTestSite,
  insertContacts,
  readContactCount,
  type TestSite,
} from "../support/contacts.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";

useDynamoDbEngine();

beforeAll(installFaultHooks);
afterEach(() => {
  for (const service of ["dynamodb", "s3"] as const) setFault(service, undefined);
});

const rows = (n: number) =>
  `email,firstName\n${Array.from({ length: n }, (_, i) => `p${i}@x.com,Ann ${i}`).join("\n")}\n`;
const begin = (shop: TestSite, file: string, options: Partial<NewImport> = {}) =>
  imports.start(shop.caller, NewImport.parse({ siteId: shop.siteId, ...options }), {
    bytes: Buffer.from(file),
  });
const beginExport = (shop: TestSite) =>
  exports.start(shop.caller, { type: "contacts", format: "csv", filter: { siteId: shop.siteId } });

async function exportedEmails(shop: TestSite, id: number): Promise<string[]> {
  const { downloadUrl } = await exports.find(shop.caller, id);
  const text = await (await fetch(downloadUrl!)).text();
  return (parse(text, { columns: true }) as { email: string }[]).map(({ email }) => email);
}

/** Makes every single-item write twice, like the SDK after a lost response. */
const repeated: CallInterceptor = async ({ operation, input }, go) => {
  const answer = await go();
  if (operation !== "UpdateItem" || !input.ConditionExpression) return answer;
  return go();
};

describe("when the SDK repeats a write after a lost response", () => {
  test("an import counts every batch once and stays in its reserved ids", async () => {
    const shop = await createTestSite();
    const { id } = await begin(shop, rows(2500));
    setFault("dynamodb", repeated);
    await runs.runImport(shop.orgId, id);
    setFault("dynamodb", undefined);
    expect(await imports.find(shop.caller, id)).toMatchObject({
      status: "completed",
      total: 2500,
      processed: 2500,
      created: 2500,
      updated: 0,
      failed: 0,
    });
    expect(await readContactCount(shop)).toBe(2500);
  });

  test("an export recognizes its own lease and ends", async () => {
    const shop = await createTestSite();
    await insertContacts(shop, 20);
    const { id } = await beginExport(shop);
    setFault("dynamodb", repeated);
    await runExport(shop.orgId, id);
    setFault("dynamodb", undefined);
    expect(await exports.find(shop.caller, id)).toMatchObject({ status: "completed", rows: 20 });
    expect(await exportedEmails(shop, id)).toHaveLength(20);
  });
});

describe("a lease", () => {
  async function takeNew() {
    const key = { pk: `LEASE#${randomUUID()}`, sk: "ITEM" };
    const takeAgain = () => leases.take(key, { seconds: 60 });
    return { key, takeAgain, lease: (await takeAgain())!.lease };
  }

  test.each([
    ["paused", ["next message"]],
    ["idle", []],
  ] as const)("is free after a job that is %s", async (outcome, expected) => {
    const { takeAgain, lease } = await takeNew();
    expect(await takeAgain()).toBeUndefined();
    const enqueued: string[] = [];
    const enqueueNext = async () => void enqueued.push("next message");
    await runLeasedJob(lease, { work: async () => outcome, enqueueNext });
    expect(enqueued).toEqual(expected);
    expect(await takeAgain()).toBeDefined();
    expect(await leases.change(lease, { set: { n: 1 } })).toBe(false);
  });

  test("is free after an error", async () => {
    const { takeAgain, lease } = await takeNew();
    const failing = runLeasedJob(lease, {
      work: () => Promise.reject(new Error("The bucket does not answer")),
      enqueueNext: async () => {},
    });
    await expect(failing).rejects.toThrow("The bucket does not answer");
    expect(await takeAgain()).toBeDefined();
  });

  test("is gone after the last change", async () => {
    const { key, takeAgain, lease } = await takeNew();
    expect(await leases.finish(lease, { set: { n: 1 } })).toBe(true);
    expect(await get(key)).toEqual({ ...key, n: 1 });
    expect((await takeAgain())!.item).toMatchObject({ n: 1 });
  });
});

describe("after an unexpected error", () => {
  const broken: CallInterceptor = async () => {
    throw new Error("The bucket does not answer");
  };

  test("an import releases its lease, so the next message continues immediately", async () => {
    const shop = await createTestSite();
    const { id } = await begin(shop, rows(3));
    setFault("s3", broken);
    await expect(runs.runImport(shop.orgId, id)).rejects.toThrow("The bucket does not answer");
    setFault("s3", undefined);
    await runs.runImport(shop.orgId, id);
    expect(await imports.find(shop.caller, id)).toMatchObject({ status: "completed", created: 3 });
  });

  test("an export releases its lease, so the next message continues immediately", async () => {
    const shop = await createTestSite();
    await insertContacts(shop, 3);
    const { id } = await beginExport(shop);
    setFault("s3", broken);
    await expect(runExport(shop.orgId, id)).rejects.toThrow("The bucket does not answer");
    setFault("s3", undefined);
    await runExport(shop.orgId, id);
    expect(await exports.find(shop.caller, id)).toMatchObject({ status: "completed", rows: 3 });
  });
});

describe("on contention", () => {
  test("an import does not fail, and the queue delivers its message again", async () => {
    const shop = await createTestSite();
    const email = "p1@x.com";
    const entry = suppressions.NewSuppression.parse({ email, reason: "unsubscribe" });
    await suppressions.suppress(shop.orgId, { ...entry, source: "test" });
    const { id } = await begin(shop, rows(3), { resubscribe: true });
    const removals: CallInterceptor = async ({ operation, input }, go) => {
      const isRemoval =
        operation === "TransactWriteItems" && JSON.stringify(input).includes('"Delete"');
      if (isRemoval)
        throw conflict("The suppression list is being changed by too many requests at once");
      return go();
    };
    setFault("dynamodb", removals);
    const error = await runs.runImport(shop.orgId, id).catch((thrown: unknown) => thrown);
    setFault("dynamodb", undefined);
    expect(error).toMatchObject({ kind: "conflict" });
    expect(isTransient(error)).toBe(true);
    expect(await imports.find(shop.caller, id)).toMatchObject({ status: "running", error: null });
    await runs.runImport(shop.orgId, id);
    expect(await imports.find(shop.caller, id)).toMatchObject({ status: "completed", created: 3 });
  });

  test("an export does not fail", async () => {
    const shop = await createTestSite();
    await insertContacts(shop, 3);
    const { id } = await beginExport(shop);
    setFault("dynamodb", async ({ operation }, go) => {
      if (operation === "Query")
        throw conflict("The contacts are being changed by too many requests at once");
      return go();
    });
    await expect(runExport(shop.orgId, id)).rejects.toMatchObject({ kind: "conflict" });
    setFault("dynamodb", undefined);
    await runExport(shop.orgId, id);
    expect(await exports.find(shop.caller, id)).toMatchObject({ status: "completed", rows: 3 });
  });

  test("a conflict with its own code is final", () => {
    expect(isTransient(conflict("full", { code: "too_many" }))).toBe(false);
    expect(isTransient(conflict("busy"))).toBe(true);
  });
});

test("a worker that read an import as running cannot take it once it is completed", async () => {
  const shop = await createTestSite();
  const { id } = await begin(shop, rows(3));
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let held = false;
  setFault("dynamodb", async ({ operation }, go) => {
    if (operation === "UpdateItem" && !held) {
      held = true;
      reached.resolve();
      await released.promise;
    }
    return go();
  });
  const slow = runs.runImport(shop.orgId, id);
  await reached.promise;
  await runs.runImport(shop.orgId, id);
  const completed: Import = await imports.find(shop.caller, id);
  released.resolve();
  await slow;
  expect(completed).toMatchObject({ status: "completed" });
  expect(await imports.find(shop.caller, id)).toEqual(completed);
});
