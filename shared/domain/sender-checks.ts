// Whether a sender is who they seem to be: known or posing as somebody known, what their domain says in SPF and DMARC, and how old it is.
import { setMaxListeners } from "node:events";
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { inParallel } from "../parallel.ts";
import { Check, pass, unknown } from "./validation/check.ts";
import { type DmarcFound, dmarc } from "./validation/dmarc.ts";
import { type Age, domainAge } from "./validation/domain-age.ts";
import { known } from "./validation/known-senders.ts";
import { type Likeness, likeness } from "./validation/lookalikes.ts";
import * as metering from "./validation/metering.ts";
import { type Spf, spf } from "./validation/spf.ts";
import { read } from "./validation/syntax.ts";

const Verdict = z.enum(["trusted", "caution", "dangerous", "unknown"]);
const Alignment = z.enum(["relaxed", "strict"]).nullable();

export const SenderCheck = z
  .object({
    email: z.string().describe("As given"),
    domain: z.string().nullable().describe("In ASCII; null when the address has no form"),
    verdict: Verdict.describe(
      "dangerous: no sender's address, or it poses as somebody else. caution: a check failed or warns. trusted: SPF and DMARC hold and nothing speaks against it. unknown: too little could be found out",
    ),
    sender: z
      .object({ name: z.string(), kind: z.enum(["company", "mailbox"]).describe("mailbox: gives addresses to anybody") })
      .nullable()
      .describe("Whose domain it is, when we know"),
    checks: z.object({
      syntax: Check,
      knownSender: Check.describe("unknown: it is not among the senders that we know, which says nothing against it"),
      lookalike: Check.extend({ resembles: z.string().nullable() }).describe(
        "Other letters, misspellings, borrowed names, mixed alphabets",
      ),
      spf: Check.extend({
        record: z.string().nullable(),
        lookups: z.int().nullable().describe("DNS lookups that it costs receivers; beyond 10 they give up. null when it was not followed"),
      }),
      dmarc: Check.extend({
        record: z.string().nullable(),
        domain: z.string().nullable().describe("Where it stands: at the domain, or at its organizational domain"),
        policy: z.enum(["none", "quarantine", "reject"]).nullable().describe("What holds for this domain"),
        dkimAlignment: Alignment,
        spfAlignment: Alignment,
      }),
      domainAge: Check.extend({
        registeredAt: z.string().nullable(),
        ageDays: z.int().nullable().describe("Below 30 fails, below 180 warns"),
      }),
    }),
  })
  .meta({ id: "SenderCheck" });
export type SenderCheck = z.output<typeof SenderCheck>;

export const Summary = z.record(Verdict, z.int()).describe("How many of each verdict");

const patienceMs = 20_000;
/** Registries dislike to be asked much at once. */
const sideBySide = 20;

/** In the order given. Each domain is looked at once; each address that is given is counted once, unless nothing could be found out. */
export async function check({ orgId }: Pick<Caller, "orgId">, emails: string[]) {
  const distinct = [...new Set(emails.map((email) => email.trim()))];
  return metering.metered(orgId, distinct.length, async () => {
    const signal = AbortSignal.timeout(patienceMs);
    setMaxListeners(0, signal);
    const domains = [...new Set(distinct.flatMap((email) => read(email).address?.domain ?? []))];
    const found = new Map(await inParallel(sideBySide, domains, async (domain) => [domain, await look(domain, signal)] as const));
    const results = emails.map((email) => one(email, found));
    const byEmail = new Map(results.map((result) => [result.email.trim(), result]));
    const worth = [...byEmail.values()].filter(({ verdict }) => verdict !== "unknown").length;
    return { result: { results, summary: summed(results) }, worth };
  });
}

function summed(results: SenderCheck[]) {
  const summary = { trusted: 0, caution: 0, dangerous: 0, unknown: 0 };
  for (const { verdict } of results) summary[verdict]++;
  return summary;
}

interface Looked {
  likeness: Likeness;
  spf: Spf;
  dmarc: DmarcFound;
  age: Age;
}

async function look(domain: string, signal: AbortSignal): Promise<Looked> {
  const [sent, asked, age] = await Promise.all([spf(domain, { signal }), dmarc(domain, { signal }), domainAge(domain, signal)]);
  return { likeness: likeness(domain), spf: sent, dmarc: asked, age };
}

const flat = <T extends { check: Check }>({ check, ...rest }: T): Check & Omit<T, "check"> => ({ ...check, ...rest });

function one(email: string, found: Map<string, Looked>): SenderCheck {
  const { check: syntax, address } = read(email);
  const looked = address && found.get(address.domain);
  if (!looked) return { email, domain: null, verdict: "dangerous", sender: null, checks: { syntax, ...unasked } };
  const sender = known(address.domain);
  const checks = {
    syntax,
    knownSender: sender ? pass(`${address.domain} belongs to ${sender.name}`) : unknown(`We do not know who ${address.domain} belongs to`),
    lookalike: flat(looked.likeness),
    spf: flat(looked.spf),
    dmarc: flat(looked.dmarc),
    domainAge: flat(looked.age),
  };
  return {
    email,
    domain: address.domain,
    verdict: verdictOf(checks),
    sender: sender ? { name: sender.name, kind: sender.kind } : null,
    checks,
  };
}

const nothing = unknown("Not looked at: the form is wrong");
const unasked = {
  knownSender: nothing,
  lookalike: { ...nothing, resembles: null },
  spf: { ...nothing, record: null, lookups: null },
  dmarc: { ...nothing, record: null, domain: null, policy: null, dkimAlignment: null, spfAlignment: null },
  domainAge: { ...nothing, registeredAt: null, ageDays: null },
};

function verdictOf({ syntax, lookalike, spf, dmarc, domainAge }: SenderCheck["checks"]): SenderCheck["verdict"] {
  if (lookalike.result === "fail") return "dangerous";
  if (spf.result === "unknown" || dmarc.result === "unknown") return "unknown";
  const doubts = [syntax, lookalike, spf, dmarc, domainAge].some(({ result }) => result === "fail" || result === "warn");
  return doubts ? "caution" : "trusted";
}
