// Whether mail to an address can arrive: its form, who takes mail for its domain, and what speaks against it.
import { setMaxListeners } from "node:events";
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { inParallel } from "../parallel.ts";
import { Check, fail, type Outcome, pass, unknown, warn } from "./validation/check.ts";
import { isDisposable } from "./validation/disposable.ts";
import { mailExchangers } from "./validation/mail-exchangers.ts";
import * as metering from "./validation/metering.ts";
import { isRole } from "./validation/roles.ts";
import { read } from "./validation/syntax.ts";
import { meant } from "./validation/typos.ts";

const Verdict = z.enum(["valid", "risky", "invalid", "unknown"]);

export const Validation = z
  .object({
    email: z.string().describe("As given"),
    normalized: z.string().nullable().describe("Domain in lower case and ASCII; null when the form is wrong"),
    verdict: Verdict.describe(
      "invalid: mail cannot arrive (syntax or mx failed). risky: it can, and something speaks against it. unknown: DNS did not answer, ask again",
    ),
    suggestion: z.string().nullable().describe("What was probably meant"),
    checks: z.object({
      syntax: Check.describe("RFC 5321 and 6531; warn: well-formed, and hardly any server takes it"),
      mx: Check.describe("MX records, else the address of the domain; fail for a null MX (RFC 7505). unknown: DNS did not answer"),
      disposable: Check.describe("fail: the domain hands out mailboxes for minutes"),
      role: Check.describe("warn: the address is of a task, such as info@, and not of a person"),
      typo: Check.describe("warn: the domain looks like a slip of the finger"),
    }),
  })
  .meta({ id: "Validation" });
export type Validation = z.output<typeof Validation>;

export const Summary = z.record(Verdict, z.int()).describe("How many of each verdict");

/** To a call, here and for sender checks. */
export const mostEmails = 100;
/** All lookups of a call together: what is not told by then is unknown. */
const patienceMs = 18_000;

/** In the order given. The same address twice is looked at and counted once; what ends `unknown` is not counted. */
export async function validate({ orgId }: Pick<Caller, "orgId">, emails: string[]) {
  const distinct = [...new Set(emails.map((email) => email.trim()))];
  return metering.metered(orgId, distinct.length, async () => {
    const signal = AbortSignal.timeout(patienceMs);
    setMaxListeners(0, signal);
    const found = await inParallel(mostEmails, distinct, (email) => one(email, signal));
    const byEmail = new Map(distinct.map((email, i) => [email, found[i]!]));
    const results = emails.map((email): Validation => ({ ...byEmail.get(email.trim())!, email }));
    const worth = found.filter(({ verdict }) => verdict !== "unknown").length;
    return { result: { results, summary: summed(results) }, worth };
  });
}

function summed(results: Validation[]) {
  const summary = { valid: 0, risky: 0, invalid: 0, unknown: 0 };
  for (const { verdict } of results) summary[verdict]++;
  return summary;
}

async function one(email: string, signal: AbortSignal): Promise<Validation> {
  const { check: syntax, address } = read(email);
  if (!address) return { email, normalized: null, verdict: "invalid", suggestion: null, checks: { syntax, ...unasked } };
  const { local, domain } = address;
  const typed = meant(domain);
  const checks = {
    syntax,
    mx: await mailExchangers(domain, { signal }),
    disposable: isDisposable(domain)
      ? fail(`${domain} hands out mailboxes for minutes`)
      : pass(`${domain} is not known for disposable mailboxes`),
    role: isRole(local) ? warn(`${local}@ is of a task, and not of a person`) : pass("It looks like the address of a person"),
    typo: typed ? warn(`${typed} was probably meant`) : pass("The domain does not look mistyped"),
  };
  return { email, normalized: `${local}@${domain}`, verdict: verdictOf(checks), suggestion: typed ? `${local}@${typed}` : null, checks };
}

const nothing = unknown("Not looked at: the form is wrong");
const unasked = { mx: nothing, disposable: nothing, role: nothing, typo: nothing };

function verdictOf({ syntax, mx, disposable, role, typo }: Validation["checks"]): Validation["verdict"] {
  if (mx.result === "fail") return "invalid";
  if (mx.result === "unknown") return "unknown";
  const against = (result: Outcome) => result === "fail" || result === "warn";
  return [syntax, mx, disposable, role, typo].some(({ result }) => against(result)) ? "risky" : "valid";
}
