// Charging accepted mail to the plan's quota and to credits.
import { beforeAll, describe, expect, test } from "vitest";
import { queryAll, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as branding from "../../shared/domain/billing/branding.ts";
import * as credits from "../../shared/domain/billing/credits.ts";
import * as allowance from "../../shared/domain/billing/quota.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import * as sends from "../../shared/domain/sending/sends.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { mailPriceInMillicents, plans } from "../../shared/plans.ts";
import { crashAtEveryStep } from "../support/crash-injection.ts";
import * as mailTest from "../support/sending.ts";

beforeAll(mailTest.useOwnTableAndQueues);

const included = plans.free.mailsPerMonth;
const each = mailPriceInMillicents(false);

/** An organization on the free plan with this much left. */
async function shop({ mailsLeft = included, credit = 0 }: { mailsLeft?: number; credit?: number }) {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  const { period } = await allowance.getQuota(orgId);
  await write(
    update(keys.quotaAndCredits(orgId), {
      set: { period: period.start, mails: included - mailsLeft, charged: 0 },
    }),
  );
  if (credit) await credits.grant(orgId, { what: "purchase", reference: "p", amount: credit });
  return from;
}

/** The balance must be the sum of the ledger, and the mails must be those that are listed. */
async function expectBalanced({ caller }: mailTest.TestSender, before: number) {
  const { account } = await allowance.getQuota(caller.orgId);
  const entries = await queryAll<{ what: string; amount: number }>(ranges.ledger(caller.orgId), {
    consistent: true,
  });
  const all = await mailTest.listAllSends({ caller });
  expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(account.balance ?? 0);
  expect(account.mails).toBe(before + all.filter(({ error }) => error !== "suppressed").length);
  const costs = all.reduce(
    (sum, { cost }) => sum + Math.round(cost * credits.millicentsPerCent),
    0,
  );
  expect(account.charged).toBe(costs);
  expect(
    entries.filter(({ what }) => what === "mails").reduce((sum, { amount }) => sum - amount, 0),
  ).toBe(costs);
  return { account, sends: all };
}

const unpaid = { kind: "unpaid", message: expect.stringContaining("POST /billing/credits") };

describe("single mails", () => {
  test("are included, then charged to credits, then refused without a trace", async () => {
    const from = await shop({ mailsLeft: 1, credit: each });
    const ids = [
      await mailTest.send(from, { to: "a@x.com" }),
      await mailTest.send(from, { to: "b@x.com" }),
    ].map(({ id }) => id);
    await expect(mailTest.send(from, { to: "c@x.com" })).rejects.toMatchObject(unpaid);
    const costs = await Promise.all(
      ids.map(async (id) => (await findDetail(from.caller, id)).cost),
    );
    expect(costs).toEqual([0, 0.1]);
    expect((await expectBalanced(from, included - 1)).sends).toHaveLength(2);
    await mailTest.runWorkers();
    expect(from.provider.mails).toHaveLength(2);
    await from.provider.stop();
  });

  test("to a suppressed address are recorded and not charged, even if nothing is left", async () => {
    const from = await shop({ mailsLeft: 0 });
    await suppressions.suppress(from.caller.orgId, {
      email: "no@x.com",
      reason: "manual",
      source: "test",
    });
    expect((await mailTest.send(from, { to: "no@x.com" })).status).toBe("failed");
    const { account } = await expectBalanced(from, included);
    expect(account.mails).toBe(included);
    await from.provider.stop();
  });

  test("are accepted 12 times by 20 concurrent requests with 7 in the plan and 5 in credits", async () => {
    const from = await shop({ mailsLeft: 7, credit: 5 * each });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => mailTest.send(from, { to: `r${i}@x.com` })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(12);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject(unpaid);
    const { account, sends } = await expectBalanced(from, included - 7);
    expect(account.balance).toBe(0);
    expect(sends.filter(({ cost }) => cost === 0.1)).toHaveLength(5);
    await from.provider.stop();
  });

  test.each([
    ["to the plan", { mailsLeft: included }],
    ["to the credits", { mailsLeft: 0, credit: 1000 * each }],
  ])(
    "after a crash while a mail is charged %s, only listed mails are charged",
    async (_, quota) => {
      const from = await shop(quota);
      await crashAtEveryStep(async (crash) => {
        await crash(() =>
          mailTest.send(from, { to: "a@x.com", html: `<p>${"words ".repeat(500)}</p>` }),
        );
        await expectBalanced(from, included - quota.mailsLeft);
      });
      await mailTest.runWorkers();
      const { sends } = await expectBalanced(from, included - quota.mailsLeft);
      const mailed = from.provider.mails.map(({ sendId }) => sendId);
      expect(mailed).toEqual(expect.arrayContaining(sends.map(({ id }) => id)));
      expect(new Set(mailed).size).toBe(mailed.length);
      await from.provider.stop();
    },
  );
});

describe("mails set aside for single sends", () => {
  const sendMany = (from: mailTest.TestSender, n: number) =>
    Promise.all(Array.from({ length: n }, (_, i) => mailTest.send(from, { to: `r${i}@x.com` })));
  const setAside = async ({ caller }: mailTest.TestSender) =>
    (await allowance.getQuota(caller.orgId)).shares.reduce((sum, { left = 0 }) => sum + left, 0);

  test("are used to the last one, then the credits", async () => {
    const from = await shop({ mailsLeft: 64, credit: 3 * each });
    await mailTest.send(from, { to: "first@x.com" });
    expect(await setAside(from)).toBe(1);
    await sendMany(from, 15);
    for (let i = 0; i < 51; i++) await mailTest.send(from, { to: `s${i}@x.com` });
    await expect(mailTest.send(from, { to: "over@x.com" })).rejects.toMatchObject(unpaid);
    const { account, sends } = await expectBalanced(from, included - 64);
    expect(account).toMatchObject({ mails: included + 3, balance: 0 });
    expect(sends.filter(({ cost }) => cost > 0)).toHaveLength(3);
    expect(await setAside(from)).toBe(0);
    await from.provider.stop();
  });

  test("come from one share if they are sent one after the other, else from several", async () => {
    const from = await shop({ mailsLeft: included });
    const countShares = async () => (await allowance.getQuota(from.caller.orgId)).shares.length;
    for (let i = 0; i < 6; i++) await mailTest.send(from, { to: `s${i}@x.com` });
    // Two, if the ids of this process crossed from one block to the next.
    expect(await countShares()).toBeLessThanOrEqual(2);
    await sendMany(from, 6);
    expect(await countShares()).toBeGreaterThanOrEqual(4);
    await expectBalanced(from, 0);
    await from.provider.stop();
  });

  test("return to the account for a batch or validations that need them", async () => {
    const from = await shop({ mailsLeft: 64, credit: 0 });
    await sendMany(from, 16);
    await mailTest.sendBatch(from, mailTest.uniqueRecipients(48));
    await expectBalanced(from, included - 64);
    await credits.grant(from.caller.orgId, {
      what: "purchase",
      reference: "q",
      amount: 100 * each,
    });
    await sendMany(from, 16);
    expect(await setAside(from)).toBeGreaterThan(0);
    const { account } = await expectBalanced(from, included - 64);
    expect(account.balance).toBe(84 * each);
    await mailTest.sendBatch(from, mailTest.uniqueRecipients(40));
    await sendMany(from, 8);
    await allowance.gatherCredits(from.caller.orgId, 36 * each);
    await write(
      ...credits.chargeWrites(from.caller.orgId, {
        what: "validations",
        reference: "v",
        amount: 36 * each,
      }),
    );
    expect((await allowance.getQuota(from.caller.orgId)).account.balance).toBe(0);
    expect(await credits.getBalance(from.caller.orgId)).toBe(0);
    await from.provider.stop();
  });

  test("are free after an upgrade to a larger plan", async () => {
    const from = await shop({ mailsLeft: 0, credit: 1000 * each });
    const { orgId } = from.caller;
    await sendMany(from, 16);
    expect(await credits.getBalance(orgId)).toBe(984 * each);
    await write(update(keys.organization(orgId), { set: { plan: "growth" } }));
    await sendMany({ ...from, caller: { ...from.caller, plan: "growth" } }, 16);
    const { account } = await expectBalanced(from, included);
    expect(account).toMatchObject({ mails: included + 32, balance: 984 * each });
    await from.provider.stop();
  });

  test("return to the credits at the end of the period if they were paid", async () => {
    const from = await shop({ mailsLeft: 0, credit: 1000 * each });
    await sendMany(from, 16);
    clock.advanceClock(31 * 24 * 3600);
    await sendMany(from, 16);
    const { account, shares } = await allowance.getQuota(from.caller.orgId);
    expect(account).toMatchObject({ mails: 16, charged: 0, balance: 984 * each });
    expect(shares.every(({ each: price }) => price === 0)).toBe(true);
    await from.provider.stop();
  });
});

describe("batches", () => {
  test("that cross the limit are charged for the recipients beyond it, before and after sending", async () => {
    const from = await shop({ mailsLeft: 4, credit: 10 * each });
    const [suppressed = { to: "" }, ...otherRecipients] = mailTest.uniqueRecipients(8);
    await suppressions.suppress(from.caller.orgId, {
      email: suppressed.to,
      reason: "manual",
      source: "test",
    });
    const { batchId } = await mailTest.sendBatch(from, [
      otherRecipients[0]!,
      suppressed,
      ...otherRecipients.slice(1),
    ]);
    const costs = async () => {
      const all = await sends.list(from.caller, { limit: 100 }, { batchId });
      return all.sends.toSorted((a, b) => a.id - b.id).map(({ cost }) => cost);
    };
    expect(await costs()).toEqual([0, 0, 0, 0, 0, 0.1, 0.1, 0.1]);
    const { account } = await expectBalanced(from, included - 4);
    expect(account.balance).toBe(7 * each);
    await mailTest.runWorkers();
    expect(await costs()).toEqual([0, 0, 0, 0, 0, 0.1, 0.1, 0.1]);
    await from.provider.stop();
  });

  test("that cannot be paid completely are refused completely", async () => {
    const from = await shop({ mailsLeft: 4, credit: 5 * each });
    const left = "Of the 3,000 mails a month of the plan Free 4 are left until ";
    const refused = {
      ...unpaid,
      message: expect.stringMatching(
        `^${left}.*\\. The credits pay for 5 more, but this request needs 10: `,
      ),
    };
    await expect(mailTest.sendBatch(from, mailTest.uniqueRecipients(10))).rejects.toMatchObject(
      refused,
    );
    expect((await expectBalanced(from, included - 4)).sends).toEqual([]);
    await from.provider.stop();
  });

  test("that cross the limit concurrently count each mail once", async () => {
    const from = await shop({ mailsLeft: 25, credit: 30 * each });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => mailTest.sendBatch(from, mailTest.uniqueRecipients(10))),
    );
    const accepted = outcomes.filter(({ status }) => status === "fulfilled").length;
    expect(accepted).toBe(5);
    const { account, sends } = await expectBalanced(from, included - 25);
    expect(account.balance).toBe(5 * each);
    expect(sends.filter(({ cost }) => cost > 0)).toHaveLength(25);
    await from.provider.stop();
  });

  test("that are interrupted by a crash are charged for exactly the listed mails", async () => {
    const from = await shop({ mailsLeft: 3, credit: 10_000 * each });
    await crashAtEveryStep(async (crash) => {
      await crash(() => mailTest.sendBatch(from, mailTest.uniqueRecipients(5)));
      await expectBalanced(from, included - 3);
    });
    await mailTest.runWorkers();
    await expectBalanced(from, included - 3);
    await from.provider.stop();
  });
});

describe("over time", () => {
  test("a new period starts with the full quota, also for concurrent sends", async () => {
    const from = await shop({ mailsLeft: 0 });
    await expect(mailTest.send(from, { to: "a@x.com" })).rejects.toMatchObject(unpaid);
    clock.advanceClock(31 * 24 * 3600);
    await Promise.all(
      Array.from({ length: 6 }, (_, i) => mailTest.send(from, { to: `r${i}@x.com` })),
    );
    expect((await allowance.getQuota(from.caller.orgId)).account.mails).toBe(6);
    await from.provider.stop();
  });

  test("concurrent first mails of an organization are all counted", async () => {
    const from = await mailTest.createSender("postmark");
    await Promise.all(
      Array.from({ length: 6 }, (_, i) => mailTest.send(from, { to: `r${i}@x.com` })),
    );
    expect((await allowance.getQuota(from.caller.orgId)).account.mails).toBe(6);
    await from.provider.stop();
  });

  test("with the branding footer a mail costs 15 % less and ends with the footer", async () => {
    const from = await shop({ mailsLeft: 0, credit: 1000 });
    await branding.change(from.caller, { enabled: true });
    const { id } = await mailTest.send(from, {
      to: "a@x.com",
      html: '<html lang="de"><body><p>Hallo</p></body></html>',
    });
    expect((await findDetail(from.caller, id)).cost).toBe(0.085);
    await mailTest.runWorkers();
    const mail = from.provider.mails.find(({ sendId }) => sendId === id)!;
    expect(mail.html).toMatch(
      /<p>Hallo<\/p><div [^>]*><a href="http[^"]+"[^>]*>Gesendet mit Pennymail<\/a><\/div><\/body><\/html>$/,
    );
    expect(mail.text).toMatch(/^Hallo\n\nGesendet mit Pennymail: http\S+\n$/);
    await from.provider.stop();
  });
});
