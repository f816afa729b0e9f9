import { describe, expect, test } from "vitest";
import { queryAll, transact } from "../../shared/adapters/dynamodb/table.ts";
import * as credits from "../../shared/domain/billing/credits.ts";
import { ranges } from "../../shared/keys.ts";
import { createAccount } from "../support/accounts.ts";
import { crashAtEveryStep, interceptClients } from "../support/crash-injection.ts";

interceptClients();

const organization = async () => (await createAccount()).caller.orgId;
const charge = (orgId: number, entry: credits.LedgerEntry): Promise<boolean> =>
  transact(...credits.chargeWrites(orgId, entry));
const cents = (n: number) => n * credits.millicentsPerCent;

/** The sum of the ledger, which the balance must be. */
async function sum(orgId: number): Promise<number> {
  const entries = await queryAll<{ amount: number }>(ranges.ledger(orgId), { consistent: true });
  return entries.reduce((total, { amount }) => total + amount, 0);
}

describe("credits", () => {
  test("pay 30 of 50 concurrent charges if the balance is enough for 30", async () => {
    const orgId = await organization();
    await credits.grant(orgId, { what: "purchase", reference: "p1", amount: cents(30) });
    const charges = Array.from({ length: 50 }, (_, i) =>
      charge(orgId, { what: "validations", reference: `v${i}`, amount: cents(1) }).catch(
        (error: { kind: string }) => error.kind,
      ),
    );
    const outcomes = await Promise.all(charges);
    expect(outcomes.filter((outcome) => outcome === true)).toHaveLength(30);
    expect(outcomes.filter((outcome) => outcome === "unpaid")).toHaveLength(20);
    expect([await credits.getBalance(orgId), await sum(orgId)]).toEqual([0, 0]);
  });

  test("a reference is charged once, also concurrently and with an empty balance", async () => {
    const orgId = await organization();
    await credits.grant(orgId, { what: "purchase", reference: "p1", amount: 100 });
    const once = () => charge(orgId, { what: "mails", reference: "send:1", amount: 100 });
    const outcomes = await Promise.all(Array.from({ length: 8 }, once));
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    expect(await once()).toBe(false);
    expect([await credits.getBalance(orgId), await sum(orgId)]).toEqual([0, 0]);
  });

  test("a charge that is repeated after a crash charges once", async () => {
    const steps = await crashAtEveryStep(async (crash) => {
      const orgId = await organization();
      await credits.grant(orgId, { what: "purchase", reference: "p", amount: 500 });
      const once = () => charge(orgId, { what: "mails", reference: "send:1", amount: 200 });
      await crash(once);
      await once();
      expect([await credits.getBalance(orgId), await sum(orgId)]).toEqual([300, 300]);
    });
    expect(steps.length).toBeGreaterThan(1);
  });

  test("a refund is taken from the balance even if it becomes negative, and then charges fail", async () => {
    const orgId = await organization();
    const purchase = { what: "purchase", reference: "p1", amount: 1000 };
    await credits.grant(orgId, purchase);
    await charge(orgId, { what: "mails", reference: "send:1", amount: 700 });
    for (const _ of "12")
      await credits.reverse(orgId, { what: "refund", reference: "refund:p1", amount: 1000 });
    expect([await credits.getBalance(orgId), await sum(orgId)]).toEqual([-700, -700]);
    await expect(
      charge(orgId, { what: "mails", reference: "send:2", amount: 1 }),
    ).rejects.toMatchObject({ kind: "unpaid" });
  });

  test("an amount that is not an integer throws and writes nothing", async () => {
    const orgId = await organization();
    await expect(
      credits.grant(orgId, { what: "grant", reference: "g", amount: 0.5 }),
    ).rejects.toThrow("not a whole number");
    expect(await queryAll(ranges.ledger(orgId))).toEqual([]);
  });
});
