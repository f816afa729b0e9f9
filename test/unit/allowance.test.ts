import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import * as allowance from "../../shared/domain/allowance.ts";
import { Problem } from "../../shared/errors.ts";
import { plans, priceOfMail } from "../../shared/plans.ts";

beforeAll(() => {
  process.env.TABLE_NAME = "none";
});

const period = { start: "2026-11-01T00:00:00.000Z", end: "2026-12-01T00:00:00.000Z" };
const included = plans.free.mailsPerMonth;
const standing = (account: allowance.Account): allowance.Standing => ({ plan: "free", period, account });

/** What an account is after it: the writes as DynamoDB would make them. */
function after(account: allowance.Account, n: number): { account: allowance.Account; amount: number } {
  const { writes, cost } = allowance.spending(1, standing(account), n, "r");
  const amount = cost ? (n - cost.free) * cost.each : 0;
  expect(writes.length).toBe(n === 0 ? 0 : amount ? 2 : 1);
  const used = allowance.used(standing(account));
  const counted = { period: period.start, mails: used.mails + n, charged: used.charged + amount };
  return { account: { ...account, ...(n && counted), balance: (account.balance ?? 0) - amount }, amount };
}

const accounts = fc.record(
  {
    balance: fc.integer({ min: 0, max: 1_000_000 }),
    period: fc.constantFrom(period.start, "2026-10-01T00:00:00.000Z"),
    mails: fc.integer({ min: 0, max: included * 2 }),
    charged: fc.nat(1_000_000),
    branded: fc.boolean(),
  },
  { requiredKeys: [] },
);

describe("mails", () => {
  test("a mail costs 0.1 cent, and 15 % less with the branding footer, in whole thousandths", () => {
    expect([priceOfMail(false), priceOfMail(true)]).toEqual([100, 85]);
  });

  test("however they are cut into batches, the same is charged, in whole numbers, and the balance is never below zero", () => {
    fc.assert(
      fc.property(accounts, fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 20 }), (first, batches) => {
        const rich = { ...first, balance: 1_000_000_000 };
        let account: allowance.Account = rich;
        for (const n of batches) {
          account = after(account, n).account;
          expect(Number.isSafeInteger(account.balance)).toBe(true);
        }
        const total = batches.reduce((sum, n) => sum + n, 0);
        expect(account.balance).toBe(after(rich, total).account.balance);
      }),
    );
  });

  test("they are refused exactly where the plan and the credits do not suffice", () => {
    fc.assert(
      fc.property(accounts, fc.integer({ min: 1, max: 5000 }), (account, n) => {
        const { mails } = allowance.used(standing(account));
        const beyond = Math.max(0, mails + n - Math.max(included, mails));
        const price = beyond * priceOfMail(account.branded ?? false);
        const attempt = () => after(account, n);
        if (price > (account.balance ?? 0)) {
          expect(attempt).toThrow(Problem);
          return;
        }
        const { amount, account: left } = attempt();
        expect(amount).toBe(price);
        expect(left.balance).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
