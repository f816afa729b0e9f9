// Whether a sender domain meets what Gmail and Yahoo ask of senders, and which optional standards
// it uses. It warns before their limits are reached.
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import { rate } from "../../kernel/rates.ts";
import { Count, Day, Timestamp } from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { addUp } from "../../kernel/sharded-counters.ts";
import * as organizations from "../identity/organizations.ts";
import * as sites from "../identity/sites.ts";
import { type DmarcReports, getDmarcReports } from "../senders/domain-reports/read-reports.ts";
import type { DomainRecord } from "../senders/domains/check-domain.ts";
import { type DomainDetail, findDetail } from "../senders/domains/domains.ts";
import { standardNames } from "../senders/domains/standards.ts";
import { getPostmasterStats } from "../senders/postmaster-tools/read-figures.ts";
import * as dailyTotals from "./daily-totals.ts";
import { adviceMessages, adviceReasons, type OwnReason } from "./domain-advice-texts.ts";
import { toMetrics } from "./mail-metrics.ts";
import { mailboxProviderOf } from "./mailbox-providers.ts";
import { periodEndingOn } from "./periods.ts";

/**
 * What Gmail and Yahoo publish for senders (2024): support.google.com/a/answer/81126 and
 * senders.yahooinc.com/best-practices.
 */
const limits = {
  /** Complaints per delivered email that senders should stay below. */
  complaintRateGoal: 0.001,
  /** Complaints per delivered email from which email is refused. */
  complaintRateLimit: 0.003,
  /** Emails a day to Gmail from which the rules for bulk senders apply, for ever. */
  bulkMessages: 5000,
  /** When the service warns that this is near. */
  nearBulkMessages: 4000,
};
// With fewer emails, a single complaint changes the rate too much.
const minDelivered = 1000;
const goodPassRate = 0.98;

const adviceNames = [
  ...["dkim", "spf", "dmarc", "alignment", "one_click_unsubscribe", "spam_rate", "volume"],
  ...standardNames,
] as const;

const AdviceCheck = z
  .object({
    name: z.enum(adviceNames).describe("What was checked."),
    result: z
      .enum(["pass", "warn", "fail", "absent", "unknown"])
      .describe(
        "`warn`: email may be refused soon. `fail`: Gmail or Yahoo may refuse email. " +
          "`absent`: an optional standard that the domain does not use. `unknown`: there are no " +
          "figures yet.",
      ),
    reason: z.enum(adviceReasons).describe("Key of the message."),
    message: z.string().describe("What it means, in English."),
    isRequired: z.boolean().describe("Whether Gmail or Yahoo requires it of bulk senders."),
    found: z.string().nullable().describe("What DNS has or was counted, or `null`."),
  })
  .meta({ id: "AdviceCheck" });
type AdviceCheck = z.output<typeof AdviceCheck>;

export const DomainAdvice = z
  .object({
    checkedAt: Timestamp.nullable().describe("When DNS was last checked. `null`: not yet."),
    dailyPeak: z
      .object({
        date: Day.describe("The day, in the organization's time zone."),
        messages: Count.describe("Emails to Gmail, estimated from its share of the period."),
      })
      .nullable()
      .describe("The day of the last 30 with the most email to Gmail, or `null`."),
    complaintRates: z
      .array(
        z
          .object({
            mailboxProvider: z.string().describe("Mailbox provider, such as Yahoo."),
            delivered: Count.describe("Emails that it accepted."),
            complained: Count.describe("Emails that its users reported as spam."),
            complaintRate: z.number().describe("complained / delivered, 0 to 1"),
          })
          .meta({ id: "ProviderComplaints" }),
      )
      .describe(
        "Complaints of the last 30 days in all sites that the caller can see, highest rate " +
          "first, at most 20. Gmail does not report single complaints.",
      ),
    gmailSpamRate: z
      .number()
      .nullable()
      .describe(
        "Highest spam rate of the last 7 days for which Gmail reported one to Postmaster Tools, " +
          "0 to 1, or `null`.",
      ),
    checks: z.array(AdviceCheck).describe("Required checks first."),
  })
  .meta({ id: "DomainAdvice" });
export type DomainAdvice = z.output<typeof DomainAdvice>;

/** Throws 404. */
export async function getAdvice(caller: CallerScope, id: number): Promise<DomainAdvice> {
  const span = periodEndingOn("30d", now().toISOString().slice(0, 10));
  const [domain, detail, reports, figures, { recentSpamRate }] = await Promise.all([
    records.find<DomainRecord>("DOMAIN", caller, id),
    findDetail(caller, id),
    getDmarcReports(caller, id, span),
    readFigures(caller),
    getPostmasterStats(caller, id, span),
  ]);
  const { dailyPeak, complaintRates } = figures;
  return {
    checkedAt: domain.lastCheckedAt,
    dailyPeak,
    complaintRates: complaintRates.slice(0, maxProviders),
    gmailSpamRate: recentSpamRate,
    checks: [
      checkDkim(detail, reports),
      checkSpf(detail),
      checkDmarc(detail),
      checkAlignment(reports),
      checkOneClick(),
      checkComplaints(complaintRates, recentSpamRate),
      checkVolume(dailyPeak),
      ...checkStandards(domain),
    ],
  };
}

const maxProviders = 20;

async function readFigures(caller: CallerScope) {
  const [{ today }, siteIds] = await Promise.all([
    organizations.getCalendar(caller.orgId),
    sites.listVisibleSiteIds(caller),
  ]);
  const { days, domains } = await dailyTotals.getTotalsWithDomains(
    caller.orgId,
    siteIds.slice(0, dailyTotals.maxSites),
    periodEndingOn("30d", today),
  );
  const groups = Map.groupBy([...domains], ([domain]) => mailboxProviderOf(domain));
  const providers = [...groups].map(([mailboxProvider, ofProvider]) => {
    const { delivered, complained } = toMetrics(addUp(ofProvider.map(([, sum]) => sum)));
    return { mailboxProvider, delivered, complained, complaintRate: rate(complained, delivered) };
  });
  const all = providers.reduce((sum, { delivered }) => sum + delivered, 0);
  const gmail = providers.find(({ mailboxProvider }) => mailboxProvider === "Gmail");
  const share = rate(gmail?.delivered ?? 0, all);
  const [peak] = [...days]
    .map(([date, sum]) => ({ date, messages: Math.round(toMetrics(sum).delivered * share) }))
    .toSorted((a, b) => b.messages - a.messages);
  return {
    dailyPeak: peak?.messages ? peak : null,
    complaintRates: providers.toSorted((a, b) => b.complaintRate - a.complaintRate),
  };
}

const required = (
  name: AdviceCheck["name"],
  result: AdviceCheck["result"],
  { reason, found = null }: { reason: OwnReason; found?: string | null },
): AdviceCheck => ({
  name,
  result,
  reason,
  message: adviceMessages[reason],
  isRequired: name !== "volume",
  found,
});

type Records = Pick<DomainDetail, "dnsRecords">;

const recordsFor = ({ dnsRecords }: Records, ...purposes: string[]) =>
  dnsRecords.filter(({ purpose }) => purposes.includes(purpose));

/** Emails that receivers saw with a valid signature prove more than DNS. */
function checkDkim(domain: Records, { dkimAligned }: DmarcReports): AdviceCheck {
  const dkim = recordsFor(domain, "dkim");
  if (dkimAligned > 0 || dkim.some(({ state }) => state === "found"))
    return required("dkim", "pass", { reason: "dkim_found" });
  return dkim.some(({ name }) => name !== null)
    ? required("dkim", "fail", { reason: "dkim_missing" })
    : required("dkim", "unknown", { reason: "dkim_unknown" });
}

function checkSpf(domain: Records): AdviceCheck {
  const spf = recordsFor(domain, "spf", "return_path");
  const wrong = spf.find(({ purpose, state }) => purpose === "spf" && state === "wrong");
  if (wrong) return required("spf", "fail", { reason: "spf_wrong", found: wrong.found.join("\n") });
  return spf.some(({ state }) => state === "found")
    ? required("spf", "pass", { reason: "spf_found" })
    : required("spf", "unknown", { reason: "spf_of_provider" });
}

function checkDmarc(domain: Records): AdviceCheck {
  const [record] = recordsFor(domain, "dmarc");
  const found = record?.found.join("\n") || null;
  if (record?.state === "found") return required("dmarc", "pass", { reason: "dmarc_found", found });
  const reason = record?.state === "wrong" ? "dmarc_wrong" : "dmarc_missing";
  return required("dmarc", "fail", { reason, found });
}

/** Email of strangers fails, too, so a low rate is only a warning. */
function checkAlignment({ messages: seen, passRate }: DmarcReports): AdviceCheck {
  if (!seen) return required("alignment", "unknown", { reason: "alignment_unknown" });
  const found = toPercent(passRate);
  return passRate >= goodPassRate
    ? required("alignment", "pass", { reason: "alignment_good", found })
    : required("alignment", "warn", { reason: "alignment_low", found });
}

const toPercent = (share: number): string => `${Number((share * 100).toFixed(2))} %`;

/** All marketing email has the headers of RFC 8058, which only an https address fulfils. */
const checkOneClick = (): AdviceCheck =>
  config.publicUrl.startsWith("https://")
    ? required("one_click_unsubscribe", "pass", { reason: "one_click_set" })
    : required("one_click_unsubscribe", "fail", { reason: "one_click_needs_https" });

/** `rates` begin with the highest. Gmail's own rate needs no minimum of emails. */
function checkComplaints(
  rates: DomainAdvice["complaintRates"],
  gmailRate: number | null,
): AdviceCheck {
  const counted = rates.find(({ delivered }) => delivered >= minDelivered);
  const reported =
    gmailRate === null ? undefined : { mailboxProvider: "Gmail", complaintRate: gmailRate };
  const [worst] = [counted, reported]
    .filter((one) => one !== undefined)
    .toSorted((a, b) => b.complaintRate - a.complaintRate);
  if (!worst) return required("spam_rate", "unknown", { reason: "spam_rate_unknown" });
  const { mailboxProvider, complaintRate } = worst;
  const found = `${mailboxProvider}: ${toPercent(complaintRate)}`;
  if (complaintRate >= limits.complaintRateLimit)
    return required("spam_rate", "fail", { reason: "spam_rate_over_limit", found });
  return complaintRate >= limits.complaintRateGoal
    ? required("spam_rate", "warn", { reason: "spam_rate_near_limit", found })
    : required("spam_rate", "pass", { reason: "spam_rate_good", found });
}

function checkVolume(peak: DomainAdvice["dailyPeak"]): AdviceCheck {
  const { messages: count = 0, date } = peak ?? {};
  const found = date ? `${date}: ${count}` : null;
  if (count >= limits.bulkMessages)
    return required("volume", "pass", { reason: "volume_bulk", found });
  return count >= limits.nearBulkMessages
    ? required("volume", "warn", { reason: "volume_near_bulk", found })
    : required("volume", "pass", { reason: "volume_low", found });
}

const resultNames = { pass: "pass", absent: "absent", wrong: "warn", unknown: "unknown" } as const;

const checkStandards = ({ standards }: DomainRecord): AdviceCheck[] =>
  standardNames.map((name) => {
    const { result, reason, found } = standards?.[name] ?? {
      result: "unknown",
      reason: "not_checked",
      found: null,
    };
    const message = adviceMessages[reason];
    return { name, result: resultNames[result], reason, message, isRequired: false, found };
  });
