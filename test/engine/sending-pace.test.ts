// How fast bulk mail goes beside the pace of its config: a new account warms up, and a domain that defers is waited for.
import { beforeAll, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as slowDomains from "../../shared/domain/sending/slow-domains.ts";
import { limitOn, WarmUp } from "../../shared/domain/sending/warm-up.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import * as sends from "../../shared/domain/sends.ts";
import { query, update, write } from "../../shared/doors/table.ts";
import { keys, ranges } from "../../shared/keys.ts";
import * as mailroom from "../support/mailroom.ts";
import { eventOf, message, work } from "../support/sent-mail.ts";

beforeAll(mailroom.opened);

const day = 24 * 3600;

test("the limit grows by the same factor from the first day to the last, and then there is none", () => {
  const warming = { firstDayMails: 100, lastDayMails: 1600, days: 5, startedAt: "2026-11-21T15:00:00.000Z" };
  const limits = Array.from({ length: 7 }, (_, i) => limitOn(warming, new Date(Date.UTC(2026, 10, 20 + i, 3))));
  expect(limits).toEqual([undefined, 100, 200, 400, 800, 1600, undefined]);
  expect(WarmUp.safeParse({ firstDayMails: 10, lastDayMails: 5, days: 3 }).error?.issues[0]).toMatchObject({ path: ["lastDayMails"] });
});

test("what is over the limit of a day is held for the next ones; a single send goes at once, and counts", async () => {
  const from = await mailroom.sender("postmark");
  await sendingConfigs.update(from.caller, from.configId, { warmUp: { firstDayMails: 4, lastDayMails: 16, days: 3 } });
  await mailroom.send(from, mailroom.recipients(1)[0]!);
  await mailroom.settle({ forSeconds: 1 });
  const { results } = await mailroom.sendBatch(from, mailroom.recipients(20));
  await mailroom.settle({ forSeconds: 600 });
  const today = from.provider.mails.length;
  expect(today).toBeGreaterThanOrEqual(1);
  expect(today).toBeLessThanOrEqual(4);
  const held = results.find(({ id }) => !from.provider.mails.some(({ sendId }) => sendId === id))!;
  expect(await sends.detail(from.caller, held.id!)).toMatchObject({ status: "queued" });
  await mailroom.send(from, mailroom.recipients(1)[0]!);
  await mailroom.settle({ forSeconds: 1 });
  expect(from.provider.mails.length).toBe(today + 1);
  await mailroom.settle({ forSeconds: day });
  expect(from.provider.mails.length).toBeLessThanOrEqual(today + 1 + 8);
  expect(from.provider.mails.length).toBeGreaterThan(today + 1);
  await mailroom.settle({ forSeconds: 4 * day });
  await mailroom.balanced(
    from,
    results.map(({ id }) => id!),
  );
  expect(from.provider.mails.length).toBe(22);
  await from.provider.stop();
});

test("a domain that defers is waited for while mail to all others goes on; then its mail goes too, once", async () => {
  const from = await mailroom.sender("postmark");
  const { orgId } = from.caller;
  const people = (domain: string, n: number) => mailroom.recipients(n).map(({ to }) => ({ to: to.replace("example.com", domain) }));
  await mailroom.sendBatch(from, people("slow.example", 6));
  await mailroom.settle();
  const { results } = await mailroom.sendBatch(from, people("slow.example", 3));
  const deferrals = from.provider.mails.slice(0, 5).map(({ sendId }, i) => eventOf(sendId, "deferred", i));
  await work(await message(orgId, deferrals.slice(0, 4)));
  expect(slowDomains.waitedFor(await laneOf(from), "slow.example")).toBeUndefined();
  await work(await message(orgId, deferrals.slice(4)));
  expect(slowDomains.waitedFor(await laneOf(from), "slow.example")).toBeGreaterThan(clock.now().getTime());
  const mixed = await mailroom.sendBatch(from, [...people("slow.example", 2), ...people("quick.example", 2)]);
  await mailroom.settle({ forSeconds: 60 });
  const mailed = () => new Set(from.provider.mails.map(({ sendId }) => sendId));
  expect(mixed.results.map(({ id }) => mailed().has(id!))).toEqual([false, false, true, true]);
  expect(results.map(({ id }) => mailed().has(id!))).toEqual([false, false, false]);
  await mailroom.settle();
  await mailroom.balanced(
    from,
    [...results, ...mixed.results].map(({ id }) => id!),
  );
  expect(from.provider.mails.length).toBe(6 + 3 + 4);
  await from.provider.stop();
});

test("a domain that defers for ever is written to after a day all the same", async () => {
  const from = await mailroom.sender("postmark");
  const { orgId } = from.caller;
  const { results } = await mailroom.sendBatch(from, mailroom.recipients(2));
  const hours = 3600;
  const deferring = () => write(update(keys.lane(orgId, from.configId), { set: { "slow.example.com": clock.after(4 * hours).getTime() } }));
  for (let waited = 0; waited < 7; waited++) {
    await deferring();
    await mailroom.settle({ forSeconds: 3.9 * hours });
    expect(from.provider.mails).toEqual([]);
  }
  await deferring();
  await mailroom.settle({ forSeconds: hours });
  expect(from.provider.mails).toHaveLength(2);
  expect(
    await mailroom.balanced(
      from,
      results.map(({ id }) => id!),
    ),
  ).toEqual({ sent: 2 });
  await from.provider.stop();
});

async function laneOf({ caller, configId }: mailroom.Sender): Promise<object> {
  const { items } = await query<{ sk: string }>({ ...ranges.waiting(caller.orgId, configId), prefix: "~LANE" });
  return items[0]!;
}
