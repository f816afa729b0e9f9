// Mails of a plan and credits beyond, as the accepting of mail spends them.
import { beforeAll, describe, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as allowance from "../../shared/domain/allowance.ts";
import * as credits from "../../shared/domain/credits.ts";
import * as sends from "../../shared/domain/sends.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import { get, queryAll, update, write } from "../../shared/doors/table.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { plans, priceOfMail } from "../../shared/plans.ts";
import { atEveryStep } from "../support/killer.ts";
import * as mailroom from "../support/mailroom.ts";

beforeAll(mailroom.opened);

const included = plans.free.mailsPerMonth;
const each = priceOfMail(false);

/** An organization on the free plan that has so much left. */
async function shop({ mailsLeft = included, credit = 0 }: { mailsLeft?: number; credit?: number }) {
  const from = await mailroom.sender("postmark");
  const { orgId } = from.caller;
  const { period } = await allowance.standing(orgId);
  await write(update(keys.account(orgId), { set: { period: period.start, mails: included - mailsLeft, charged: 0 } }));
  if (credit) await credits.grant(orgId, { what: "purchase", reference: "p", amount: credit });
  return from;
}

/** The books: the balance is the sum of the ledger, and the mails are those that are listed. */
async function books({ caller }: mailroom.Sender, before: number) {
  const account = (await get<allowance.Account>(keys.account(caller.orgId)))!;
  const entries = await queryAll<{ what: string; amount: number }>(ranges.ledger(caller.orgId), { consistent: true });
  const all = await mailroom.listed({ caller });
  expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(account.balance ?? 0);
  expect(account.mails).toBe(before + all.filter(({ error }) => error !== "suppressed").length);
  const costs = all.reduce((sum, { cost }) => sum + Math.round(cost * credits.amountPerCent), 0);
  expect(account.charged).toBe(costs);
  expect(entries.filter(({ what }) => what === "mails").reduce((sum, { amount }) => sum - amount, 0)).toBe(costs);
  return { account, sends: all };
}

const unpaid = { kind: "unpaid", message: expect.stringContaining("POST /billing/credits") };

describe("single mails", () => {
  test("those the plan includes cost nothing, those beyond are charged, and then they are refused and leave nothing", async () => {
    const from = await shop({ mailsLeft: 1, credit: each });
    const ids = [await mailroom.send(from, { to: "a@x.com" }), await mailroom.send(from, { to: "b@x.com" })].map(({ id }) => id);
    await expect(mailroom.send(from, { to: "c@x.com" })).rejects.toMatchObject(unpaid);
    const costs = await Promise.all(ids.map(async (id) => (await sends.detail(from.caller, id)).cost));
    expect(costs).toEqual([0, 0.1]);
    expect((await books(from, included - 1)).sends).toHaveLength(2);
    await mailroom.settle();
    expect(from.provider.mails).toHaveLength(2);
    await from.provider.stop();
  });

  test("a suppressed one is recorded even when nothing is left, and not charged", async () => {
    const from = await shop({ mailsLeft: 0 });
    await suppressions.suppress(from.caller.orgId, { email: "no@x.com", reason: "manual", source: "test" });
    expect((await mailroom.send(from, { to: "no@x.com" })).status).toBe("failed");
    const { account } = await books(from, included);
    expect(account.mails).toBe(included);
    await from.provider.stop();
  });

  test("of 20 at once for 7 in the plan and 5 in the credits, 12 are taken", async () => {
    const from = await shop({ mailsLeft: 7, credit: 5 * each });
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => mailroom.send(from, { to: `r${i}@x.com` })));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(12);
    for (const outcome of outcomes) if (outcome.status === "rejected") expect(outcome.reason).toMatchObject(unpaid);
    const { account, sends } = await books(from, included - 7);
    expect(account.balance).toBe(0);
    expect(sends.filter(({ cost }) => cost === 0.1)).toHaveLength(5);
    await from.provider.stop();
  });

  test("whoever dies while taking one has charged for what is listed, and for nothing else", async () => {
    const from = await shop({ mailsLeft: 0, credit: 1000 * each });
    await atEveryStep(async (kill) => {
      await kill(() => mailroom.send(from, { to: "a@x.com", html: `<p>${"words ".repeat(500)}</p>` }));
      await books(from, included);
    });
    await mailroom.settle();
    const { sends } = await books(from, included);
    const mailed = from.provider.mails.map(({ sendId }) => sendId);
    expect(mailed).toEqual(expect.arrayContaining(sends.map(({ id }) => id)));
    expect(new Set(mailed).size).toBe(mailed.length);
    await from.provider.stop();
  });
});

describe("batches", () => {
  test("one that crosses the border pays for what lies beyond, line by line, before and after it is sent", async () => {
    const from = await shop({ mailsLeft: 4, credit: 10 * each });
    const [gone = { to: "" }, ...others] = mailroom.recipients(8);
    await suppressions.suppress(from.caller.orgId, { email: gone.to, reason: "manual", source: "test" });
    const { batchId } = await mailroom.sendBatch(from, [others[0]!, gone, ...others.slice(1)]);
    const costs = async () => {
      const all = await sends.list(from.caller, { limit: 100 }, { batchId });
      return all.sends.toSorted((a, b) => a.id - b.id).map(({ cost }) => cost);
    };
    expect(await costs()).toEqual([0, 0, 0, 0, 0, 0.1, 0.1, 0.1]);
    const { account } = await books(from, included - 4);
    expect(account.balance).toBe(7 * each);
    await mailroom.settle();
    expect(await costs()).toEqual([0, 0, 0, 0, 0, 0.1, 0.1, 0.1]);
    await from.provider.stop();
  });

  test("one that cannot be paid whole is refused whole", async () => {
    const from = await shop({ mailsLeft: 4, credit: 5 * each });
    const left = "Of the 3,000 mails a month of the plan Free 4 are left until ";
    const refused = { ...unpaid, message: expect.stringMatching(`^${left}.*, and the credits pay for 5 more, which is too few for 10: `) };
    await expect(mailroom.sendBatch(from, mailroom.recipients(10))).rejects.toMatchObject(refused);
    expect((await books(from, included - 4)).sends).toEqual([]);
    await from.provider.stop();
  });

  test("many at once across the border: each mail of them is free or paid once", async () => {
    const from = await shop({ mailsLeft: 25, credit: 30 * each });
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => mailroom.sendBatch(from, mailroom.recipients(10))));
    const taken = outcomes.filter(({ status }) => status === "fulfilled").length;
    expect(taken).toBe(5);
    const { account, sends } = await books(from, included - 25);
    expect(account.balance).toBe(5 * each);
    expect(sends.filter(({ cost }) => cost > 0)).toHaveLength(25);
    await from.provider.stop();
  });

  test("whoever dies while taking one has charged for what is listed, and for nothing else", async () => {
    const from = await shop({ mailsLeft: 3, credit: 10_000 * each });
    await atEveryStep(async (kill) => {
      await kill(() => mailroom.sendBatch(from, mailroom.recipients(5)));
      await books(from, included - 3);
    });
    await mailroom.settle();
    await books(from, included - 3);
    await from.provider.stop();
  });
});

describe("as time goes by", () => {
  test("a new period begins with the whole allowance, once for all who send at that moment", async () => {
    const from = await shop({ mailsLeft: 0 });
    await expect(mailroom.send(from, { to: "a@x.com" })).rejects.toMatchObject(unpaid);
    clock.advance(31 * 24 * 3600);
    await Promise.all(Array.from({ length: 6 }, (_, i) => mailroom.send(from, { to: `r${i}@x.com` })));
    expect((await get<allowance.Account>(keys.account(from.caller.orgId)))!.mails).toBe(6);
    await from.provider.stop();
  });

  test("the first mails of an organization, all at the same moment, are each counted", async () => {
    const from = await mailroom.sender("postmark");
    await Promise.all(Array.from({ length: 6 }, (_, i) => mailroom.send(from, { to: `r${i}@x.com` })));
    expect((await get<allowance.Account>(keys.account(from.caller.orgId)))!.mails).toBe(6);
    await from.provider.stop();
  });

  test("with the branding footer a mail costs 15 % less and ends with a line that says so", async () => {
    const from = await shop({ mailsLeft: 0, credit: 1000 });
    await write(update(keys.account(from.caller.orgId), { set: { branded: true } }));
    const { id } = await mailroom.send(from, { to: "a@x.com", html: '<html lang="de"><body><p>Hallo</p></body></html>' });
    expect((await sends.detail(from.caller, id)).cost).toBe(0.085);
    await mailroom.settle();
    const mail = from.provider.mails.find(({ sendId }) => sendId === id)!;
    expect(mail.html).toMatch(/<p>Hallo<\/p><div [^>]*><a href="http[^"]+"[^>]*>Gesendet mit Pennymail<\/a><\/div><\/body><\/html>$/);
    expect(mail.text).toMatch(/^Hallo\n\nGesendet mit Pennymail: http\S+\n$/);
    await from.provider.stop();
  });
});
