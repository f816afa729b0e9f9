// Checks senders: whether the domain is known or imitates a known one, its SPF and DMARC records,
// and its age.
import * as z from "zod";
import type { Caller } from "../../../caller.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { Count } from "../../../kernel/record-fields.ts";
import { parseAddress } from "./address-syntax.ts";
import { Check, inconclusive, pass } from "./check.ts";
import { checkDmarc, type DmarcCheck } from "./dmarc.ts";
import { checkDomainAge, type DomainAgeCheck } from "./domain-age.ts";
import { knownSenderOf } from "./known-senders.ts";
import { checkLookalike, type LookalikeCheck } from "./lookalikes.ts";
import { checkEmails } from "./metering.ts";
import { checkSpf, type SpfCheck } from "./spf.ts";

const Verdict = z.enum(["trusted", "caution", "dangerous", "unknown"]);
const Alignment = z.enum(["relaxed", "strict"]).nullable();

const KnownSender = z
  .object({
    name: z.string().describe("Name of the owner."),
    kind: z
      .enum(["company", "mailbox"])
      .describe("`mailbox`: a provider where anyone can get an address."),
  })
  .meta({ id: "KnownSender" });
const SenderChecks = z
  .object({
    syntax: Check.describe("Whether the address is well formed."),
    knownSender: Check.describe(
      "`unknown`: not in the list of known senders, which says nothing against it.",
    ),
    lookalike: Check.extend({
      resembles: z
        .string()
        .nullable()
        .describe("Well-known sender that the domain looks like, or `null`."),
    }).describe("Similar letters, misspellings, borrowed names and mixed alphabets."),
    spf: Check.extend({
      record: z.string().nullable().describe("SPF record of the domain, or `null`."),
      lookups: Count.nullable().describe(
        "DNS lookups that the record needs; receivers give up after 10. `null` if the " +
          "record was not followed.",
      ),
    }).describe("SPF record (RFC 7208), which names the servers that may send."),
    dmarc: Check.extend({
      record: z.string().nullable().describe("DMARC record that applies to the domain, or `null`."),
      domain: z
        .string()
        .nullable()
        .describe("Domain that has the record: the domain itself or its organizational domain."),
      policy: z
        .enum(["none", "quarantine", "reject"])
        .nullable()
        .describe("Policy that applies to this domain."),
      dkimAlignment: Alignment.describe(
        "`strict`: the DKIM signature must have exactly this domain. `relaxed`: or a " +
          "related one. `null`: there is no record.",
      ),
      spfAlignment: Alignment.describe("As `dkimAlignment`, for the domain that SPF checks."),
    }).describe("DMARC record (RFC 7489), which says what happens to forged email."),
    domainAge: Check.extend({
      registeredAt: z
        .string()
        .nullable()
        .describe("When the domain was registered, as its registry says. `null`: not known."),
      ageDays: Count.nullable().describe(
        "Age of the domain in days. Below 30 fails, below 180 warns. `null`: not known.",
      ),
    }).describe("Age of the domain: imitations are often young."),
  })
  .meta({ id: "SenderChecks" });

export const SenderCheck = z
  .object({
    email: z.string().describe("Email address as given."),
    domain: z
      .string()
      .nullable()
      .describe("Domain of the address in ASCII. `null`: the address is not valid."),
    verdict: Verdict.describe(
      "`trusted`: SPF and DMARC pass, and no check warns or fails. `caution`: a check warns " +
        "or fails. `dangerous`: not an address that sends, or it imitates another sender. " +
        "`unknown`: too few checks could be made.",
    ),
    sender: KnownSender.nullable().describe("Owner of the domain, if it is a known sender."),
    checks: SenderChecks.describe("Result of each check."),
  })
  .meta({ id: "SenderCheck" });
export type SenderCheck = z.output<typeof SenderCheck>;

export const SenderCheckSummary = z
  .record(Verdict, Count.describe("Number of results with this verdict."))
  .describe("Number of results per verdict.");

const timeoutMs = 20_000;
// Domain registries limit parallel requests.
const concurrency = 20;

/** Checks senders. Looks up each domain once. */
export const checkSenders = ({ orgId }: Pick<Caller, "orgId">, emails: string[]) =>
  checkEmails(orgId, emails, {
    verdicts: Verdict.options,
    timeoutMs,
    check: async (distinct, signal) => {
      const domains = new Set(
        distinct.flatMap((email) => parseAddress(email).address?.domain ?? []),
      );
      const findings = await inParallel(
        concurrency,
        [...domains],
        async (domain) => [domain, await inspectDomain(domain, signal)] as const,
      );
      const findingsByDomain = new Map(findings);
      return distinct.map((email) => assessSender(email, findingsByDomain));
    },
  });

interface DomainFindings {
  likeness: LookalikeCheck;
  spf: SpfCheck;
  dmarc: DmarcCheck;
  age: DomainAgeCheck;
}

async function inspectDomain(domain: string, signal: AbortSignal): Promise<DomainFindings> {
  const [spfCheck, dmarcCheck, age] = await Promise.all([
    checkSpf(domain, { signal }),
    checkDmarc(domain, { signal }),
    checkDomainAge(domain, signal),
  ]);
  return { likeness: checkLookalike(domain), spf: spfCheck, dmarc: dmarcCheck, age };
}

const flattenCheck = <T extends { check: Check }>({
  check,
  ...rest
}: T): Check & Omit<T, "check"> => ({ ...check, ...rest });

function assessSender(email: string, findingsByDomain: Map<string, DomainFindings>): SenderCheck {
  const { check: syntax, address } = parseAddress(email);
  const findings = address && findingsByDomain.get(address.domain);
  if (!findings)
    return {
      email,
      domain: null,
      verdict: "dangerous",
      sender: null,
      checks: { syntax, ...uncheckedResults },
    };
  const sender = knownSenderOf(address.domain);
  const checks = {
    syntax,
    knownSender: sender
      ? pass(`${address.domain} belongs to ${sender.name}`)
      : inconclusive(`The owner of ${address.domain} is unknown`),
    lookalike: flattenCheck(findings.likeness),
    spf: flattenCheck(findings.spf),
    dmarc: flattenCheck(findings.dmarc),
    domainAge: flattenCheck(findings.age),
  };
  return {
    email,
    domain: address.domain,
    verdict: verdictOf(checks),
    sender: sender ? { name: sender.name, kind: sender.kind } : null,
    checks,
  };
}

const notChecked = inconclusive("Not checked, because the address is not valid");
const uncheckedResults = {
  knownSender: notChecked,
  lookalike: { ...notChecked, resembles: null },
  spf: { ...notChecked, record: null, lookups: null },
  dmarc: {
    ...notChecked,
    record: null,
    domain: null,
    policy: null,
    dkimAlignment: null,
    spfAlignment: null,
  },
  domainAge: { ...notChecked, registeredAt: null, ageDays: null },
};

function verdictOf({
  syntax,
  lookalike,
  spf,
  dmarc,
  domainAge,
}: SenderCheck["checks"]): SenderCheck["verdict"] {
  if (lookalike.result === "fail") return "dangerous";
  if (spf.result === "unknown" || dmarc.result === "unknown") return "unknown";
  const hasDoubts = [syntax, lookalike, spf, dmarc, domainAge].some(
    ({ result }) => result === "fail" || result === "warn",
  );
  return hasDoubts ? "caution" : "trusted";
}
