// Validates addresses: syntax, mail servers of the domain, and signs of a bad address.
import * as z from "zod";
import type { Caller } from "../../../caller.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { Count } from "../../../kernel/record-fields.ts";
import { parseAddress } from "./address-syntax.ts";
import { Check, type CheckResult, fail, inconclusive, pass, warn } from "./check.ts";
import { isDisposable } from "./disposable-domains.ts";
import { checkMailExchangers } from "./mail-exchangers.ts";
import { checkEmails } from "./metering.ts";
import { isRoleAccount } from "./role-accounts.ts";
import { suggestDomain } from "./typos.ts";

const Verdict = z.enum(["valid", "risky", "invalid", "unknown"]);

const ValidationChecks = z
  .object({
    syntax: Check.describe(
      "RFC 5321 and RFC 6531. `warn`: well formed, and accepted by hardly any server.",
    ),
    mx: Check.describe(
      "MX records, else the address record of the domain. `fail` for a null MX (RFC 7505). " +
        "`unknown`: DNS did not answer.",
    ),
    disposable: Check.describe("`fail`: the domain offers disposable mailboxes."),
    role: Check.describe("`warn`: the address belongs to a role, such as info@, not to a person."),
    typo: Check.describe("`warn`: the domain looks like a typo of a well-known one."),
  })
  .meta({ id: "ValidationChecks" });

export const Validation = z
  .object({
    email: z.string().describe("Email address as given."),
    normalized: z
      .string()
      .nullable()
      .describe(
        "Email address with its domain in lower case and ASCII. `null` if the syntax is wrong.",
      ),
    verdict: Verdict.describe(
      "`valid`: no check warns or fails. `risky`: email can arrive, and a check warns. " +
        "`invalid`: email cannot arrive, because syntax or mail servers fail. `unknown`: DNS " +
        "did not answer; try again.",
    ),
    suggestion: z
      .string()
      .nullable()
      .describe("Corrected email address for a likely typo, or `null`."),
    checks: ValidationChecks.describe("Result of each check."),
  })
  .meta({ id: "Validation" });
export type Validation = z.output<typeof Validation>;

export const ValidationSummary = z
  .record(Verdict, Count.describe("Number of results with this verdict."))
  .describe("Number of results per verdict.");

/** Largest number of addresses of one request, also of sender checks. */
export const maxEmails = 100;
const timeoutMs = 18_000;

export const validate = ({ orgId }: Pick<Caller, "orgId">, emails: string[]) =>
  checkEmails(orgId, emails, {
    verdicts: Verdict.options,
    timeoutMs,
    check: (distinct, signal) =>
      inParallel(maxEmails, distinct, (email) => validateAddress(email, signal)),
  });

async function validateAddress(email: string, signal: AbortSignal): Promise<Validation> {
  const { check: syntax, address } = parseAddress(email);
  if (!address)
    return {
      email,
      normalized: null,
      verdict: "invalid",
      suggestion: null,
      checks: { syntax, ...uncheckedResults },
    };
  const { local, domain } = address;
  const suggestion = suggestDomain(domain);
  const checks = {
    syntax,
    mx: await checkMailExchangers(domain, { signal }),
    disposable: isDisposable(domain)
      ? fail(`${domain} provides disposable mailboxes`)
      : pass(`${domain} is not a known provider of disposable mailboxes`),
    role: isRoleAccount(local)
      ? warn(`${local}@ is a role address, not the address of a person`)
      : pass("The address is not a known role address"),
    typo: suggestion
      ? warn(`${suggestion} was probably meant`)
      : pass("The domain does not look mistyped"),
  };
  return {
    email,
    normalized: `${local}@${domain}`,
    verdict: verdictOf(checks),
    suggestion: suggestion ? `${local}@${suggestion}` : null,
    checks,
  };
}

const notChecked = inconclusive("Not checked, because the address is not valid");
const uncheckedResults = {
  mx: notChecked,
  disposable: notChecked,
  role: notChecked,
  typo: notChecked,
};

function verdictOf({
  syntax,
  mx,
  disposable,
  role,
  typo,
}: Validation["checks"]): Validation["verdict"] {
  if (mx.result === "fail") return "invalid";
  if (mx.result === "unknown") return "unknown";
  const isDoubt = (result: CheckResult) => result === "fail" || result === "warn";
  return [syntax, mx, disposable, role, typo].some(({ result }) => isDoubt(result))
    ? "risky"
    : "valid";
}
