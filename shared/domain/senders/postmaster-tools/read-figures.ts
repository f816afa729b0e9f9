// What Gmail said about a domain in a period, by Postmaster Tools.
import * as z from "zod";
import { queryAll } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { epochSeconds } from "../../../clock.ts";
import type { DateRange } from "../../../kernel/calendar-dates.ts";
import { Day } from "../../../kernel/record-fields.ts";
import * as records from "../../../kernel/records.ts";
import { type Key, ranges } from "../../../keys.ts";
import type { DomainRecord } from "../domains/check-domain.ts";
import {
  findItem,
  type PostmasterDayItem,
  type PostmasterToolsItem,
  postmasterKind,
} from "./stored-items.ts";

const rateOf = (what: string) =>
  z.number().nullable().describe(`${what}, 0 to 1. \`null\`: Gmail does not say.`);

const PostmasterDay = z
  .object({
    date: Day.describe("The day, as Gmail counts it."),
    spamRate: rateOf("Share of the email in inboxes that users reported as spam"),
    spfRate: rateOf("Share of the email that passed SPF"),
    dkimRate: rateOf("Share of the email that passed DKIM"),
    dmarcRate: rateOf("Share of the email that passed DMARC"),
    tlsRate: rateOf("Share of the email that came encrypted"),
    deliveryErrorRate: rateOf("Share of the email that was refused or deferred"),
  })
  .meta({ id: "PostmasterDay" });

export const PostmasterStats = z
  .object({
    from: Day.describe("First day of the period (UTC)."),
    to: Day.describe("Last day of the period."),
    state: z
      .enum(["off", "waiting", "not_shared", "shared"])
      .describe(
        "`off`: no key of a service account was entered. `waiting`: nothing was pulled yet. " +
          "`not_shared`: Google does not show this domain to the account. `shared`: it does.",
      ),
    recentSpamRate: rateOf("Highest spam rate of the last 7 days for which Gmail has one"),
    days: z
      .array(PostmasterDay)
      .describe("Days for which Gmail has figures, oldest first. It has none of little email."),
  })
  .meta({ id: "PostmasterStats" });
export type PostmasterStats = z.output<typeof PostmasterStats>;

/** Email is treated better again after seven days below the limit (support.google.com). */
const recentDays = 7;

/** Throws 404. */
export async function getPostmasterStats(
  caller: CallerScope,
  id: number,
  span: DateRange,
): Promise<PostmasterStats> {
  const { name } = await records.find<DomainRecord>("DOMAIN", caller, id);
  const [settings, items] = await Promise.all([
    findItem(caller.orgId),
    queryAll<PostmasterDayItem & Key>(ranges.domainReportDays(caller.orgId, id), {
      between: [`${postmasterKind}#${span.from}`, `${postmasterKind}#${span.to}`],
    }),
  ]);
  const days = items.filter(({ expires }) => expires > epochSeconds()).map(toDay);
  const rates = days.flatMap(({ spamRate }) => spamRate ?? []).slice(-recentDays);
  return {
    ...span,
    state: stateOf(settings, name),
    recentSpamRate: rates.length ? Math.max(...rates) : null,
    days,
  };
}

function stateOf(
  settings: PostmasterToolsItem | undefined,
  name: string,
): PostmasterStats["state"] {
  if (!settings) return "off";
  if (!settings.domains.includes(name)) return "not_shared";
  return settings.lastPulledAt === undefined ? "waiting" : "shared";
}

const toDay = (item: PostmasterDayItem & Key): z.output<typeof PostmasterDay> => ({
  date: item.sk.slice(postmasterKind.length + 1),
  spamRate: item.spamRate ?? null,
  spfRate: item.spfRate ?? null,
  dkimRate: item.dkimRate ?? null,
  dmarcRate: item.dmarcRate ?? null,
  tlsRate: item.tlsRate ?? null,
  deliveryErrorRate: item.deliveryErrorRate ?? null,
});
