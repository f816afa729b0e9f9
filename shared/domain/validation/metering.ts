// Validations and sender checks, counted as they happen: the first 100 of a calendar month (UTC) are free, each further one costs a
// cent of the credits. What we could not find out is not counted. Counted are results that are answered: one transaction, made once
// for each call whoever dies or repeats it, moves the month, the credits and the ledger; only then does the answer leave.
import * as z from "zod";
import { epochSeconds, now } from "../../clock.ts";
import { absent, any, equals } from "../../conditions.ts";
import { get, getMany, put, Unmet, update, type Write, write } from "../../doors/table.ts";
import * as ids from "../../ids.ts";
import { keys } from "../../keys.ts";
import * as credits from "../credits.ts";

export const freePerMonth = 100;

export const Usage = z
  .object({
    free: z.int().describe("Of this call, counted against the free ones of the month"),
    paid: z.int().describe("Of this call, paid from credits"),
    costCents: z.number().describe("What was taken from the credits, in US cents"),
    freeLeft: z.int().describe(`Of the ${freePerMonth} free ones of this calendar month (UTC), shared by validations and sender checks`),
  })
  .meta({ id: "ValidationUsage" });
export type Usage = z.output<typeof Usage>;

interface Month {
  free: number;
  paid: number;
}
type Counted = Pick<Month, "free" | "paid">;

/**
 * Does the work for up to `n` results and counts those of them that it says are worth it. Throws 402 before the work when the credits
 * do not suffice for all of them, and after it when somebody else spent them meanwhile: then nothing is answered and nothing counted.
 */
export async function metered<T>(
  orgId: number,
  n: number,
  work: () => Promise<{ result: T; worth: number }>,
): Promise<T & { usage: Usage }> {
  const call = await ids.take("VALIDATION");
  const month = now().toISOString().slice(0, 7);
  await afford(orgId, call, month, n);
  const { result, worth } = await work();
  const { free, paid, left } = await count(orgId, call, month, worth);
  return { ...result, usage: { free, paid, costCents: paid * centsEach, freeLeft: left } };
}

const centsEach = 1;
const split = (worth: number, taken: number): Counted => {
  const free = Math.min(worth, Math.max(0, freePerMonth - taken));
  return { free, paid: worth - free };
};

async function afford(orgId: number, call: number, month: string, n: number): Promise<void> {
  const addresses = [keys.validationMonth(orgId, month), keys.validationCall(orgId, call), keys.account(orgId)];
  const [used, counted, account] = await getMany<Partial<Month> & { balance?: number }>(addresses, { consistent: true });
  const { paid } = split(n, used?.free ?? 0);
  // A call that is made again was paid the first time.
  if (!counted && paid * centsEach * credits.amountPerCent > (account?.balance ?? 0)) throw refusal(used?.free ?? 0, n, paid);
}

function refusal(taken: number, n: number, paid: number) {
  const left = Math.max(0, freePerMonth - taken);
  const free = left
    ? `${left} of this month's ${freePerMonth} free validations are left`
    : `This month's ${freePerMonth} free validations are used up`;
  const which = paid < n ? `the other ${paid} of the ${n} cost` : n === 1 ? "this one costs" : `these ${n} cost`;
  const price = paid * centsEach === 1 ? "1 cent" : `${paid * centsEach} cents`;
  return credits.unpaid(`${free}, and ${which} ${price}: the credits do not suffice, buy more with POST /billing/credits`);
}

const keptMonthSeconds = 400 * 24 * 3600;
const keptCallSeconds = 2 * 24 * 3600;
const mostAttempts = 50;

async function count(orgId: number, call: number, month: string, worth: number): Promise<Counted & { left: number }> {
  for (let attempt = 1; ; attempt++) {
    const taken = (await get<Month>(keys.validationMonth(orgId, month)))?.free ?? 0;
    const counted = split(worth, taken);
    try {
      if (worth) await write(...counting(orgId, call, month, taken, counted));
      return { ...counted, left: Math.max(0, freePerMonth - taken - counted.free) };
    } catch (error) {
      if (!(error instanceof Unmet) || attempt >= mostAttempts) throw error;
      const before = await get<Counted>(keys.validationCall(orgId, call));
      if (before) return { free: before.free, paid: before.paid, left: Math.max(0, freePerMonth - taken) };
    }
  }
}

/** The call first: that is what a repetition fails on. */
const counting = (orgId: number, call: number, month: string, taken: number, { free, paid }: Counted): Write[] => [
  put(keys.validationCall(orgId, call), { free, paid, expires: epochSeconds() + keptCallSeconds }, { new: true }),
  update(
    keys.validationMonth(orgId, month),
    { add: { free, paid }, initialize: { expires: epochSeconds() + keptMonthSeconds } },
    { if: taken ? equals("free", taken) : any(absent("free"), equals("free", 0)) },
  ),
  ...(paid
    ? credits.charging(orgId, { what: "validations", reference: `validations-${call}`, amount: paid * centsEach * credits.amountPerCent })
    : []),
];
