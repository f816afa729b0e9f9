// Charges for validations and sender checks. The first 100 results of a calendar month (UTC) are
// free; each further one costs one cent. A result `unknown` is free. One transaction per request
// updates the monthly usage, the credits and the ledger, and then the response is sent. A retried
// request is charged once.
import { setMaxListeners } from "node:events";
import * as z from "zod";
import { absent, any, equals } from "../../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  get,
  getMany,
  put,
  update,
  type Write,
  write,
} from "../../../adapters/dynamodb/table.ts";
import { epochSeconds, now } from "../../../clock.ts";
import * as ids from "../../../ids.ts";
import { Count } from "../../../kernel/record-fields.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { keys } from "../../../keys.ts";
import * as credits from "../../billing/credits.ts";

export const freePerMonth = 100;

export const Usage = z
  .object({
    free: Count.describe("Results of this request that were free."),
    paid: Count.describe("Results of this request that were paid with credits."),
    costCents: z.number().describe("US cents taken from the credits for this request."),
    freeLeft: Count.describe(
      `Free results left in this calendar month (UTC), of ${freePerMonth}. Shared by ` +
        "validations and sender checks.",
    ),
  })
  .describe("What the request cost.")
  .meta({ id: "ValidationUsage" });
export type Usage = z.output<typeof Usage>;

interface MonthUsage {
  free: number;
  paid: number;
}

interface MeteredRequest {
  orgId: number;
  requestId: number;
  /** YYYY-MM */
  month: string;
}

interface EmailCheck<V extends string, R> {
  /** All verdicts, in the order of the summary. */
  verdicts: readonly V[];
  /** Time for all lookups together. Checks without a result by then are `unknown`. */
  timeoutMs: number;
  /** Checks distinct addresses. Returns the results in the same order. */
  check(distinct: string[], signal: AbortSignal): Promise<R[]>;
}

/**
 * Checks addresses and charges for the results. Returns them in the given order. An address that
 * occurs twice is checked and charged once; a result with the verdict `unknown` is free.
 */
export async function checkEmails<V extends string, R extends { email: string; verdict: V }>(
  orgId: number,
  emails: string[],
  { verdicts, timeoutMs, check }: EmailCheck<V, R>,
) {
  const distinct = [...new Set(emails.map((email) => email.trim()))];
  return withMetering(orgId, distinct.length, async () => {
    const signal = AbortSignal.timeout(timeoutMs);
    setMaxListeners(0, signal);
    const checked = await check(distinct, signal);
    const byEmail = new Map(distinct.map((email, i) => [email, checked[i]!]));
    const results = emails.map((email): R => ({ ...byEmail.get(email.trim())!, email }));
    const summary = Object.fromEntries(
      verdicts.map((verdict) => [verdict, results.filter((r) => r.verdict === verdict).length]),
    ) as Record<V, number>;
    const billable = checked.filter(({ verdict }) => (verdict as string) !== "unknown").length;
    return { result: { results, summary }, billable };
  });
}

/**
 * Does work that yields up to `maxResults` results and charges for the billable ones. Throws 402
 * before the work if there are not enough credits for all results, and after it if another request
 * has spent them since; then no result is returned and nothing is charged.
 */
async function withMetering<T>(
  orgId: number,
  maxResults: number,
  work: () => Promise<{ result: T; billable: number }>,
): Promise<T & { usage: Usage }> {
  const requestId = await ids.nextId("VALIDATION");
  const request = { orgId, requestId, month: now().toISOString().slice(0, 7) };
  await requireCredits(request, maxResults);
  const { result, billable } = await work();
  const { free, paid, left } = await recordUsage(request, billable);
  return { ...result, usage: { free, paid, costCents: paid * centsEach, freeLeft: left } };
}

const centsEach = 1;
const splitFreeAndPaid = (billable: number, freeUsed: number): MonthUsage => {
  const free = Math.min(billable, Math.max(0, freePerMonth - freeUsed));
  return { free, paid: billable - free };
};

async function requireCredits(
  { orgId, requestId, month }: MeteredRequest,
  maxResults: number,
): Promise<void> {
  const usageKeys = [keys.validationMonth(orgId, month), keys.validationCall(orgId, requestId)];
  const [[used, counted], balance] = await Promise.all([
    getMany<Partial<MonthUsage>>(usageKeys, { consistent: true }),
    credits.getBalance(orgId),
  ]);
  const { paid } = splitFreeAndPaid(maxResults, used?.free ?? 0);
  // A retried request was charged at its first attempt.
  if (!counted && paid * centsEach * credits.millicentsPerCent > balance)
    throw notEnoughCredits(used?.free ?? 0, maxResults, paid);
}

function notEnoughCredits(freeUsed: number, maxResults: number, paid: number) {
  const left = Math.max(0, freePerMonth - freeUsed);
  const free = left
    ? `${left} of this month's ${freePerMonth} free validations are left`
    : `This month's ${freePerMonth} free validations are used up`;
  const price = paid * centsEach === 1 ? "1 cent" : `${paid * centsEach} cents`;
  return credits.outOfCredits(
    `${free}, and ${paidResults(paid, maxResults)} ${price}. There are not enough credits: ` +
      "buy more with POST /billing/credits",
  );
}

function paidResults(paid: number, maxResults: number): string {
  if (paid < maxResults) return `the other ${paid} of the ${maxResults} cost`;
  return maxResults === 1 ? "this one costs" : `these ${maxResults} cost`;
}

const monthTtlSeconds = 400 * 24 * 3600;
const requestTtlSeconds = 2 * 24 * 3600;

async function recordUsage(
  request: MeteredRequest,
  billable: number,
): Promise<MonthUsage & { left: number }> {
  const { orgId, requestId, month } = request;
  return retryOnConflict("The month's count of validations", async () => {
    const freeUsed = (await get<MonthUsage>(keys.validationMonth(orgId, month)))?.free ?? 0;
    const usage = splitFreeAndPaid(billable, freeUsed);
    try {
      if (billable) await write(...usageWrites(request, freeUsed, usage));
      return { ...usage, left: Math.max(0, freePerMonth - freeUsed - usage.free) };
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      const charged = await get<MonthUsage>(keys.validationCall(orgId, requestId));
      if (charged)
        return {
          free: charged.free,
          paid: charged.paid,
          left: Math.max(0, freePerMonth - freeUsed),
        };
      throw error;
    }
  });
}

/** The first write fails if the request has been charged before. */
const usageWrites = (
  { orgId, requestId, month }: MeteredRequest,
  freeUsed: number,
  { free, paid }: MonthUsage,
): Write[] => [
  put(
    keys.validationCall(orgId, requestId),
    { free, paid, expires: epochSeconds() + requestTtlSeconds },
    { ifAbsent: true },
  ),
  update(
    keys.validationMonth(orgId, month),
    { add: { free, paid }, setIfAbsent: { expires: epochSeconds() + monthTtlSeconds } },
    { if: freeUsed ? equals("free", freeUsed) : any(absent("free"), equals("free", 0)) },
  ),
  ...(paid
    ? credits.chargeWrites(orgId, {
        what: "validations",
        reference: `validations-${requestId}`,
        amount: paid * centsEach * credits.millicentsPerCent,
      })
    : []),
];
