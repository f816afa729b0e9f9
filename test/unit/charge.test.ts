import { beforeAll, describe, expect, test } from "vitest";
import { prepareCharge } from "../../shared/domain/billing/charge.ts";
import * as quotas from "../../shared/domain/billing/quota.ts";
import { Problem } from "../../shared/errors.ts";
import { counterShards } from "../../shared/keys.ts";
import { mailPriceInMillicents, plans } from "../../shared/plans.ts";
import fc from "../support/fast-check.ts";

beforeAll(() => {
  process.env.TABLE_NAME = "none";
});

const period = { start: "2026-11-01T00:00:00.000Z", end: "2026-12-01T00:00:00.000Z" };
const included = plans.free.mailsPerMonth;
const at = new Date("2026-11-20T00:00:00.000Z");

/** The credits of an organization, and what it has used. */
interface State {
  balance?: number;
  branded?: boolean;
  period?: string;
  mails?: number;
  charged?: number;
}

/** All mails are counted in the account. */
const quotaOf = (account: State): quotas.QuotaState =>
  quotas.computeQuota("free", at, { account, shards: counterShards.map(() => ({})) });

/** Charges `n` mails and applies the writes like DynamoDB. */
function after(state: State, n: number): { state: State; amount: number } {
  const quota = quotaOf(state);
  const { amount } = quotas.priceMails(quota, n);
  if (amount > (state.balance ?? 0)) throw new Problem("unpaid", "no credits");
  const order = { orgId: 1, n, reference: "r" };
  const { writes, cost } = prepareCharge(quota, order);
  expect(cost ? (n - cost.includedMails) * cost.pricePerMail : 0).toBe(amount);
  const writesOfCharge = amount ? 2 : 1;
  expect(writes.length).toBe(n === 0 ? 0 : writesOfCharge);
  const { mails, charged } = quota.used;
  const counted = { period: period.start, mails: mails + n, charged: charged + amount };
  return {
    state: { ...state, ...(n && counted), balance: (state.balance ?? 0) - amount },
    amount,
  };
}

const states = fc.record(
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
        states,
        fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 20 }),
        (first, batches) => {
          const rich = { ...first, balance: 1_000_000_000 };
          let state: State = rich;
          for (const n of batches) {
            ({ state } = after(state, n));
            expect(Number.isSafeInteger(state.balance)).toBe(true);
          }
          const total = batches.reduce((sum, n) => sum + n, 0);
          expect(state.balance).toBe(after(rich, total).state.balance);
        },
      ),
    );
  });

  test("beyond the plan cost their price", () => {
    fc.assert(
      fc.property(states, fc.integer({ min: 1, max: 5000 }), (state, n) => {
        const { mails } = quotaOf(state).used;
        const beyond = Math.max(0, mails + n - Math.max(included, mails));
        const price = beyond * mailPriceInMillicents(state.branded ?? false);
        expect(quotas.priceMails(quotaOf(state), n).amount).toBe(price);
      }),
    );
  });
});
