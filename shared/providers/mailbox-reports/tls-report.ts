// Reads SMTP TLS reports (RFC 8460, section 4). What does not fit is left out.
import * as z from "zod";
import { cleanText, type ReportHead, toBoundedCount, toDomain } from "./report-fields.ts";

/** Sessions that failed in the same way. */
export interface TlsFailure {
  /** In the words of RFC 8460, section 4.3, such as `certificate-expired`. */
  result: string;
  /** The mail server that received the session. */
  host?: string | undefined;
  count: number;
}

/** What happened under the policies of one domain. */
export interface TlsDomainResult {
  domain: string;
  successful: number;
  failed: number;
  failures: TlsFailure[];
}

export interface TlsReport extends ReportHead {
  kind: "tls";
  domains: TlsDomainResult[];
}

const maxCharacters = 2_000_000;
const maxPolicies = 100;
const maxFailures = 1000;

const Text = z.unknown().transform(cleanText);
const BoundedCount = z.unknown().transform(toBoundedCount);
const listOf = <T extends z.ZodType>(item: T, max: number) =>
  z
    .array(z.unknown())
    .catch([])
    .transform((all) =>
      all.slice(0, max).flatMap((one) => {
        const parsed = item.safeParse(one);
        return parsed.success ? [parsed.data as z.output<T>] : [];
      }),
    );

const Failure = z.object({
  "result-type": Text,
  "receiving-mx-hostname": Text,
  "failed-session-count": BoundedCount,
});

const Policy = z.object({
  policy: z.object({ "policy-domain": Text }),
  summary: z.object({
    "total-successful-session-count": BoundedCount,
    "total-failure-session-count": BoundedCount,
  }),
  "failure-details": listOf(Failure, maxFailures),
});

const Report = z.object({
  "organization-name": Text,
  "report-id": Text,
  "date-range": z.object({ "start-datetime": z.string(), "end-datetime": z.string() }),
  policies: listOf(Policy, maxPolicies),
});

/** Undefined if it is no report, or exceeds a limit. */
export function readTlsReport(json: string): TlsReport | undefined {
  if (json.length > maxCharacters || !json.includes('"policies"')) return undefined;
  const { data } = Report.safeParse(parseJson(json));
  if (!data) return undefined;
  const { "organization-name": reporter, "report-id": reportId, "date-range": range } = data;
  const [from, to] = [Date.parse(range["start-datetime"]), Date.parse(range["end-datetime"])];
  const domains = data.policies.flatMap(toResult);
  return reporter && reportId && domains.length && to >= from
    ? { kind: "tls", reporter, reportId, from, to, domains }
    : undefined;
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function toResult({ policy, summary, ...more }: z.output<typeof Policy>): TlsDomainResult[] {
  const domain = toDomain(policy["policy-domain"]);
  if (!domain) return [];
  const failures = more["failure-details"].map((failure) => ({
    result: failure["result-type"] ?? "unknown",
    host: toDomain(failure["receiving-mx-hostname"]),
    count: failure["failed-session-count"],
  }));
  return [
    {
      domain,
      successful: summary["total-successful-session-count"],
      failed: summary["total-failure-session-count"],
      failures: failures.filter(({ count }) => count > 0),
    },
  ];
}
