// Charging accepted mail to the plan's quota and to credits.
import { beforeAll, describe, expect, test } from "vitest";
import { queryAll, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as branding from "../../shared/domain/billing/branding.ts";
import * as credits from "../../shared/domain/billing/credits.ts";
import * as allowance from "../../shared/domain/billing/quota.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
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
    update(keys.account(orgId), {
      set: { period: period.start, mails: included - mailsLeft, charged: 0 },
    }),
  );
  if (credit) await credits.grant(orgId, { what: "purchase", reference: "p", amount: credit });
  return from;
}

/** The balance must be the sum of the ledger, and the mails must be those that are listed. */
async function expectBalanced({ caller }: mailTest.TestSender, before: number) {
  const { account, used } = await allowance.getQuota(caller.orgId);
  const entries = await queryAll<{ what: string; amount: number }>(ranges.ledger(caller.orgId), {
    consistent: true,
  });
  const all = await mailTest.listAllSends({ caller });
  expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(account.balance ?? 0);
  expect(used.mails).toBe(before + all.filter(({ error }) => error !== "suppressed").length);
  const costs = all.reduce(
    (sum, { cost }) => sum + Math.round(cost * credits.millicentsPerCent),
    0,
  );
  expect(used.charged).toBe(costs);
  expect(
    entries.filter(({ what }) => what === "mails").reduce((sum, { amount }) => sum - amount, 0),
  ).toBe(costs);
  return { account, used, sends: all };
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
    const { used } = await expectBalanced(from, included);
    expect(used.mails).toBe(included);
    await from.provider.stop();
  });

  test("accepted at the same moment may pass the plan, but never the credits", async () => {
    const from = await shop({ mailsLeft: 7, credit: 5 * each });
    const sendAtOnce = async (n: number) => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: n }, (_, i) => mailTest.send(from, { to: `r${i}@x.com` })),
      );
      for (const outcome of outcomes)
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject(unpaid);
      return outcomes.filter(({ status }) => status === "fulfilled").length;
    };
    const first = await sendAtOnce(20);
    expect(first).toBeGreaterThanOrEqual(12);
    // Now each request sees that the plan is used up, and the credits pay for five.
    expect(first + (await sendAtOnce(20))).toBeLessThanOrEqual(25);
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
      const all = await listSends(from.caller, { limit: 100 }, { batchId });
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
    expect((await allowance.getQuota(from.caller.orgId)).used.mails).toBe(6);
    await from.provider.stop();
  });

  test("concurrent first mails of an organization are all counted", async () => {
    const from = await mailTest.createSender("postmark");
    await Promise.all(
      Array.from({ length: 6 }, (_, i) => mailTest.send(from, { to: `r${i}@x.com` })),
    );
    expect((await allowance.getQuota(from.caller.orgId)).used.mails).toBe(6);
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
