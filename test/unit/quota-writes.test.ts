import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import * as quotas from "../../shared/domain/billing/quota.ts";
import { Problem } from "../../shared/errors.ts";
import { mailPriceInMillicents, plans } from "../../shared/plans.ts";

beforeAll(() => {
  process.env.TABLE_NAME = "none";
});

const period = { start: "2026-11-01T00:00:00.000Z", end: "2026-12-01T00:00:00.000Z" };
const included = plans.free.mailsPerMonth;
const at = new Date("2026-11-20T00:00:00.000Z");
const quotaOf = (account: quotas.BillingAccount): quotas.QuotaState =>
  quotas.computeQuota("free", at, { account, shares: [] });

/** Charges `n` mails and applies the writes like DynamoDB. Returns the account. */
function after(
  account: quotas.BillingAccount,
  n: number,
): { account: quotas.BillingAccount; amount: number } {
  const { writes, cost } = quotas.prepareCharge(quotaOf(account), { orgId: 1, n, reference: "r" });
  const amount = cost ? (n - cost.includedMails) * cost.pricePerMail : 0;
  const writesOfCharge = amount ? 2 : 1;
  expect(writes.length).toBe(n === 0 ? 0 : writesOfCharge);
  const used = quotas.usedInPeriod(quotaOf(account));
  const counted = { period: period.start, mails: used.mails + n, charged: used.charged + amount };
  return {
    account: { ...account, ...(n && counted), balance: (account.balance ?? 0) - amount },
    amount,
  };
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
  test("cost 0.1 cent each, and 15 % less with the branding footer", () => {
    expect([mailPriceInMillicents(false), mailPriceInMillicents(true)]).toEqual([100, 85]);
  });

  test("cost the same in any batches, and amounts stay integers", () => {
    fc.assert(
      fc.property(
        accounts,
        fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 20 }),
        (first, batches) => {
          const rich = { ...first, balance: 1_000_000_000 };
          let account: quotas.BillingAccount = rich;
          for (const n of batches) {
            account = after(account, n).account;
            expect(Number.isSafeInteger(account.balance)).toBe(true);
          }
          const total = batches.reduce((sum, n) => sum + n, 0);
          expect(account.balance).toBe(after(rich, total).account.balance);
        },
      ),
    );
  });

  test("are rejected exactly if plan and credits are used up", () => {
    fc.assert(
      fc.property(accounts, fc.integer({ min: 1, max: 5000 }), (account, n) => {
        const { mails } = quotas.usedInPeriod(quotaOf(account));
        const beyond = Math.max(0, mails + n - Math.max(included, mails));
        const price = beyond * mailPriceInMillicents(account.branded ?? false);
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
