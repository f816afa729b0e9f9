// Validations and sender checks through the routes, with a local DNS server and registry.
import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { validation } from "../../functions/http/validation.ts";
import { queryAll } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as credits from "../../shared/domain/billing/credits.ts";
import type { Usage } from "../../shared/domain/senders/validation/metering.ts";
import type { SenderCheck } from "../../shared/domain/senders/validation/sender-checks.ts";
import type { Validation } from "../../shared/domain/senders/validation/validations.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { ranges } from "../../shared/keys.ts";
import { createAccount, type TestAccount } from "../support/accounts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { invokeRoute } from "../support/lambda-requests.ts";

interceptClients();

let dns: DnsServer;
let registry: Server;
/** Responses of the registry by path. A number is a status. */
const registered: Record<string, unknown> = {};
const registryRequests: string[] = [];

beforeAll(async () => {
  dns = await startDnsServer({ records: {} });
  registry = createServer((request, response) => {
    registryRequests.push(`${request.method} ${request.url} ${request.headers.accept}`);
    const answer = registered[request.url!];
    if (typeof answer === "string") return response.writeHead(302, { location: answer }).end();
    if (answer === "never") return;
    if (typeof answer === "number" || answer === undefined)
      return response.writeHead((answer as number) ?? 404).end("{}");
    response
      .writeHead(200, { "content-type": "application/rdap+json" })
      .end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  process.env.DNS_SERVERS = dns.address;
  process.env.RDAP_URL = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
});
afterAll(async () => {
  registry.closeAllConnections();
  registry.close();
  await dns.close();
});
beforeEach(() => {
  dns.zone = { records: {} };
  registryRequests.length = 0;
});

type Batch<T> = { results: T[]; summary: Record<string, number>; usage: Usage };
const post =
  (path: "/validate" | "/sender-check") =>
  <T>({ token }: TestAccount, body: object, headers: Record<string, string> = {}) =>
    invokeRoute<T>(validation, `POST ${path}`, {
      body,
      headers,
      cookies: [`${sessionCookieName}=${token}`],
    });
const validate = post("/validate");
const senderCheck = post("/sender-check");

/** A new domain name, because DNS answers are cached. */
const fresh = (): string => `d${randomUUID().slice(0, 8)}.com`;
const mx = (domain: string) => ({
  [`MX ${domain}`]: [{ preference: 10, exchange: `mail.${domain}` }],
});
const resultsOf = ({ checks }: { checks: Record<string, { result: string }> }) =>
  Object.fromEntries(Object.entries(checks).map(([name, { result }]) => [name, result]));

describe("validation", () => {
  test("returns valid for an address that can receive mail, and invalid for one that cannot", async () => {
    const [good, plain, six, none, refusing, noMail] = [
      fresh(),
      fresh(),
      fresh(),
      fresh(),
      fresh(),
      fresh(),
    ];
    dns.zone.records = {
      ...mx(good),
      [`A ${plain}`]: ["192.0.2.1"],
      [`AAAA ${six}`]: ["2001:db8::1"],
      [`TXT ${none}`]: ["words"],
      [`MX ${refusing}`]: [{ preference: 0, exchange: "." }],
    };
    const emails = [good, plain, six, none, refusing, noMail].map((domain) => `ada@${domain}`);
    const { status, body } = await validate<Batch<Validation>>(await createAccount(), {
      emails: [...emails, "ada", `info@${good}`],
    });
    expect(status).toBe(200);
    expect(
      body.data.results.map(({ email, verdict, checks }) => [email, verdict, checks.mx.result]),
    ).toEqual([
      [emails[0], "valid", "pass"],
      [emails[1], "risky", "warn"],
      [emails[2], "risky", "warn"],
      [emails[3], "invalid", "fail"],
      [emails[4], "invalid", "fail"],
      [emails[5], "invalid", "fail"],
      ["ada", "invalid", "unknown"],
      [`info@${good}`, "risky", "pass"],
    ]);
    expect(body.data.summary).toEqual({ valid: 1, risky: 3, invalid: 4, unknown: 0 });
    expect(body.data.usage).toEqual({ free: 8, paid: 0, costCents: 0, freeLeft: 92 });
  });

  test("returns a suggestion for a likely typo in a single address", async () => {
    dns.zone.records = mx("iclould.com");
    const { status, body } = await validate<Validation & { usage: Usage }>(await createAccount(), {
      email: " Ada@ICLOULD.com ",
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      email: " Ada@ICLOULD.com ",
      normalized: "Ada@iclould.com",
      suggestion: "Ada@icloud.com",
      verdict: "risky",
    });
    expect(resultsOf(body.data)).toEqual({
      syntax: "pass",
      mx: "pass",
      disposable: "pass",
      role: "pass",
      typo: "warn",
    });
    expect(body.data.usage.free).toBe(1);
  });

  test("detects disposable domains, and looks international domains up in ASCII", async () => {
    dns.zone.records = { ...mx("mailinator.com"), ...mx("xn--mnchen-3ya.com") };
    const { body } = await validate<Batch<Validation>>(await createAccount(), {
      emails: ["ada@mailinator.com", "ada@münchen.com"],
    });
    expect(body.data.results.map(({ verdict, normalized }) => [verdict, normalized])).toEqual([
      ["risky", "ada@mailinator.com"],
      ["valid", "ada@xn--mnchen-3ya.com"],
    ]);
  });

  test("returns unknown without charge when DNS does not answer", async () => {
    const names = [fresh(), fresh(), fresh(), fresh()];
    const faults = ["servfail", "silent", "torn", "garbage"] as const;
    dns.zone = {
      records: {},
      faults: Object.fromEntries(names.map((name, i) => [name, faults[i]!])),
    };
    const half = fresh();
    dns.zone.records = { [`TXT ${half}`]: ["words"] };
    dns.zone.faults![`A ${half}`] = "servfail";
    const { body } = await validate<Batch<Validation>>(await createAccount(), {
      emails: [...names, half].map((domain) => `ada@${domain}`),
    });
    expect(body.data.results.map(({ verdict, checks }) => [verdict, checks.mx.result])).toEqual(
      Array(5).fill(["unknown", "unknown"]),
    );
    expect(body.data.usage).toEqual({ free: 0, paid: 0, costCents: 0, freeLeft: 100 });
  });

  test("checks and charges for a repeated address once, and returns it twice", async () => {
    const domain = fresh();
    dns.zone.records = mx(domain);
    const before = dns.queries.length;
    const { body } = await validate<Batch<Validation>>(await createAccount(), {
      emails: [`ada@${domain}`, ` ada@${domain}`, `ada@${domain}`],
    });
    expect(body.data.results).toHaveLength(3);
    expect(body.data.usage.free).toBe(1);
    expect(dns.queries.length - before).toBe(1);
  });

  test.each([
    ["neither", {}],
    ["both", { email: "a@b.co", emails: ["a@b.co"] }],
    ["no address", { emails: [] }],
    ["an empty one", { email: "" }],
    ["one of a novel's length", { email: "a".repeat(1001) }],
  ])("%s is refused", async (_, body) => {
    expect(await validate(await createAccount(), body)).toMatchObject({
      status: 400,
      body: { code: "validation_failed" },
    });
  });

  test("accepts a hundred addresses, and rejects one more", async () => {
    const emails = Array.from({ length: 101 }, (_, i) => `not-an-address-${i}`);
    const caller = await createAccount();
    expect(await validate(caller, { emails })).toMatchObject({
      status: 400,
      body: { code: "limit_exceeded" },
    });
    expect(
      (await validate<Batch<Validation>>(caller, { emails: emails.slice(1) })).body.data.usage,
    ).toMatchObject({
      free: 100,
      freeLeft: 0,
    });
  });
});

const ageOf = (days: number) => ({
  events: [
    { eventAction: "registration", eventDate: clock.addSeconds(-days * 86_400).toISOString() },
  ],
});

describe("sender check", () => {
  test("trusts a sender whose domain passes all checks", async () => {
    const domain = fresh();
    dns.zone.records = {
      [`TXT ${domain}`]: ["words", "v=spf1 include:_spf.example ip4:192.0.2.1 -all"],
      "TXT _spf.example": ["v=spf1 a mx ~all"],
      [`TXT _dmarc.${domain}`]: ["v=DMARC1; p=reject; sp=quarantine; adkim=s"],
    };
    registered[`/domain/${domain}`] = ageOf(1000);
    const { status, body } = await senderCheck<SenderCheck & { usage: Usage }>(
      await createAccount(),
      { email: `news@${domain}` },
    );
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      domain,
      verdict: "trusted",
      sender: null,
      usage: { free: 1 },
    });
    expect(resultsOf(body.data)).toEqual({
      syntax: "pass",
      knownSender: "unknown",
      lookalike: "pass",
      spf: "pass",
      dmarc: "pass",
      domainAge: "pass",
    });
    expect(body.data.checks).toMatchObject({
      spf: { record: "v=spf1 include:_spf.example ip4:192.0.2.1 -all", lookups: 3 },
      dmarc: { domain, policy: "reject", dkimAlignment: "strict", spfAlignment: "relaxed" },
      domainAge: { ageDays: 1000 },
    });
    expect(registryRequests).toEqual([
      `GET /domain/${domain} application/rdap+json, application/json`,
    ]);
    // A subdomain uses the DMARC record and the age of its organizational domain.
    const below = await senderCheck<SenderCheck>(await createAccount(), {
      email: `news@mail.${domain}`,
    });
    expect(below.body.data.checks).toMatchObject({
      spf: { result: "warn" },
      dmarc: { result: "pass", domain, policy: "quarantine" },
      domainAge: { ageDays: 1000 },
    });
    expect(registryRequests).toHaveLength(1);
  });

  test("names known senders, and finds imitations dangerous", async () => {
    const { body } = await senderCheck<Batch<SenderCheck>>(await createAccount(), {
      emails: ["service@paypal.com", "service@paypa1.com", "nobody"],
    });
    expect(
      body.data.results.map(({ verdict, sender, checks }) => [
        verdict,
        sender?.name,
        checks.lookalike.resembles,
      ]),
    ).toEqual([
      ["caution", "PayPal", null],
      ["dangerous", undefined, "paypal.com"],
      ["dangerous", undefined, null],
    ]);
    expect(body.data.usage.free).toBe(3);
  });

  test.each([
    ["lets everybody send", ["v=spf1 +all"], "fail"],
    ["has two policies", ["v=spf1 -all", "v=spf1 ~all"], "fail"],
    ["cannot be read", ["v=spf1 nonsense -all"], "fail"],
    ["is indifferent", ["v=spf1 ?all"], "warn"],
    ["has none", ["hello"], "warn"],
    ["doubts others", ["v=spf1 mx ~all"], "pass"],
  ])("SPF that %s", async (_, texts, result) => {
    const domain = fresh();
    dns.zone.records = { [`TXT ${domain}`]: texts };
    const { body } = await senderCheck<SenderCheck>(await createAccount(), {
      email: `a@${domain}`,
    });
    expect(body.data.checks.spf.result).toBe(result);
  });

  test.each([
    ["only watches", ["v=DMARC1; p=none"], "warn", "none"],
    ["half applies", ["v=DMARC1; p=reject; pct=50"], "warn", "reject"],
    ["is there twice", ["v=DMARC1; p=reject", "v=DMARC1; p=none"], "fail", null],
    ["is no policy", ["v=DMARC1; p=maybe"], "fail", null],
    ["is not there", ["hello"], "warn", null],
  ])("DMARC that %s", async (_, texts, result, policy) => {
    const domain = fresh();
    dns.zone.records = { [`TXT _dmarc.${domain}`]: texts };
    const { body } = await senderCheck<SenderCheck>(await createAccount(), {
      email: `a@${domain}`,
    });
    expect(body.data.checks.dmarc).toMatchObject({ result, policy });
  });

  test("returns unknown without charge when any DNS lookup fails", async () => {
    const [own, deep, policy] = [fresh(), fresh(), fresh()];
    dns.zone = {
      records: {
        [`TXT ${deep}`]: ["v=spf1 include:down.example -all"],
        [`TXT ${policy}`]: ["v=spf1 -all"],
      },
      faults: { [own]: "servfail", "down.example": "servfail", [`_dmarc.${policy}`]: "servfail" },
    };
    const { body } = await senderCheck<Batch<SenderCheck>>(await createAccount(), {
      emails: [own, deep, policy].map((domain) => `a@${domain}`),
    });
    expect(
      body.data.results.map(({ verdict, checks: { spf, dmarc } }) => [
        verdict,
        spf.result,
        dmarc.result,
      ]),
    ).toEqual([
      ["unknown", "unknown", "warn"],
      ["unknown", "unknown", "warn"],
      ["unknown", "pass", "unknown"],
    ]);
    expect(body.data.usage).toMatchObject({ free: 0, freeLeft: 100 });
  });

  test.each([
    ["of yesterday", () => ageOf(1), "fail"],
    ["of 29 days", () => ageOf(29), "fail"],
    ["of 31 days", () => ageOf(31), "warn"],
    ["of a year", () => ageOf(365), "pass"],
    ["that the registry does not know", () => 404, "unknown"],
    ["where the registry has enough", () => 429, "unknown"],
    ["where it fails", () => 500, "unknown"],
    [
      "where it says nothing of it",
      () => ({ events: [{ eventAction: "expiration", eventDate: "2030-01-01" }] }),
      "unknown",
    ],
    [
      "where it says nonsense",
      () => ({ events: [{ eventAction: "registration", eventDate: "soon" }] }),
      "unknown",
    ],
    ["where it says something else", () => ["registration"], "unknown"],
    ["where it says too much", () => ({ notices: "x".repeat(400_000), ...ageOf(1000) }), "unknown"],
    ["where it leads into our network", () => "http://169.254.169.254/latest/meta-data", "unknown"],
    ["where it leads to a private address", () => "https://10.0.0.1/domain/x", "unknown"],
    ["where it leads in a circle", () => "/domain/circle", "unknown"],
    ["where it leads to where it is told", () => "/elsewhere", "pass"],
  ])("a domain %s", async (_, answer, result) => {
    const domain = fresh();
    Object.assign(registered, {
      [`/domain/${domain}`]: answer(),
      "/domain/circle": "/domain/circle",
      "/elsewhere": ageOf(900),
    });
    const { body } = await senderCheck<SenderCheck>(await createAccount(), {
      email: `a@${domain}`,
    });
    expect(body.data.checks.domainAge.result).toBe(result);
    expect(registryRequests.length).toBeLessThanOrEqual(5);
  });

  test("leaves the domain age unknown when the registry does not respond", async () => {
    const url = process.env.RDAP_URL;
    process.env.RDAP_URL = "http://127.0.0.1:9";
    const { body } = await senderCheck<SenderCheck>(await createAccount(), {
      email: `a@${fresh()}`,
    });
    process.env.RDAP_URL = url;
    expect(body.data.checks.domainAge).toMatchObject({
      result: "unknown",
      registeredAt: null,
      ageDays: null,
    });
  });
});

describe("metering", () => {
  const cents = (orgId: number, n: number) =>
    credits.grant(orgId, {
      what: "grant",
      reference: randomUUID(),
      amount: n * credits.millicentsPerCent,
    });
  const readFreeChecks = async (orgId: number) =>
    (await credits.getBalance(orgId)) / credits.millicentsPerCent;
  const invalidEmails = (n: number) => Array.from({ length: n }, (_, i) => `wrong-${i}`);
  const charges = async (orgId: number) =>
    (await queryAll<{ what: string }>(ranges.ledger(orgId))).filter(
      ({ what }) => what === "validations",
    );

  test("the first hundred checks of a month are free; further ones cost one cent each", async () => {
    const caller = await createAccount();
    const { orgId } = caller.caller;
    await cents(orgId, 50);
    expect(
      (await validate<Batch<Validation>>(caller, { emails: invalidEmails(60) })).body.data.usage,
    ).toEqual({
      free: 60,
      paid: 0,
      costCents: 0,
      freeLeft: 40,
    });
    expect(
      (await senderCheck<Batch<SenderCheck>>(caller, { emails: invalidEmails(60) })).body.data
        .usage,
    ).toEqual({
      free: 40,
      paid: 20,
      costCents: 20,
      freeLeft: 0,
    });
    expect(
      (await validate<Validation & { usage: Usage }>(caller, { email: "x" })).body.data.usage,
    ).toEqual({
      free: 0,
      paid: 1,
      costCents: 1,
      freeLeft: 0,
    });
    expect(await readFreeChecks(orgId)).toBe(29);
    expect(await charges(orgId)).toEqual([
      expect.objectContaining({ amount: -20_000 }),
      expect.objectContaining({ amount: -1000 }),
    ]);
  });

  test("without enough credits responds with 402, makes no lookup and charges nothing", async () => {
    const caller = await createAccount();
    await validate(caller, { emails: invalidEmails(60) });
    const before = dns.queries.length;
    const emails = Array.from({ length: 50 }, (_, i) => `a@d${i}-${randomUUID().slice(0, 8)}.com`);
    const refused = await validate(caller, { emails });
    expect(refused).toMatchObject({ status: 402, body: { code: "payment_required" } });
    expect(refused.body.error).toBe(
      "40 of this month's 100 free validations are left, and the other 10 of the 50 cost 10 cents. There are not enough credits: buy more with POST /billing/credits",
    );
    expect(dns.queries).toHaveLength(before);
    expect(
      (await validate<Batch<Validation>>(caller, { emails: invalidEmails(40) })).body.data.usage,
    ).toMatchObject({ free: 40, freeLeft: 0 });
    expect((await senderCheck(caller, { email: "x" })).body.error).toBe(
      "This month's 100 free validations are used up, and this one costs 1 cent. There are not enough credits: buy more with POST /billing/credits",
    );
  });

  test("simultaneous requests share a hundred free results and never spend more than the credits", async () => {
    const caller = await createAccount();
    const { orgId } = caller.caller;
    await cents(orgId, 23);
    const answers = await Promise.all(
      Array.from({ length: 18 }, () =>
        validate<Batch<Validation>>(caller, { emails: invalidEmails(9) }),
      ),
    );
    const done = answers.filter(({ status }) => status === 200).map(({ body }) => body.data.usage);
    expect(
      answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 402),
    ).toEqual([]);
    const sum = (field: "free" | "paid") => done.reduce((total, usage) => total + usage[field], 0);
    expect(sum("free")).toBe(100);
    expect(sum("free") + sum("paid")).toBe(done.length * 9);
    expect(await readFreeChecks(orgId)).toBe(23 - sum("paid"));
    expect(sum("paid")).toBeGreaterThan(14);
  });

  test("a request that crashes at any step and is retried is charged once", async () => {
    const steps = await crashAtSomeSteps(async (crash) => {
      const caller = await createAccount();
      const { orgId } = caller.caller;
      await cents(orgId, 10);
      await validate(caller, { emails: invalidEmails(98) });
      const again = { "idempotency-key": randomUUID() };
      const call = () => validate<Batch<Validation>>(caller, { emails: invalidEmails(5) }, again);
      await crash(call);
      clock.advanceClock(36);
      const { status, body } = await call();
      expect([status, body.error]).toEqual([200, undefined]);
      expect(body.data.usage).toMatchObject({ free: 2, paid: 3, freeLeft: 0 });
      expect(await readFreeChecks(orgId)).toBe(7);
      expect(await charges(orgId)).toHaveLength(1);
    });
    expect(steps).toContain("after TransactWriteItems");
  });

  test("a new month has a hundred free results", async () => {
    const caller = await createAccount();
    await validate(caller, { emails: invalidEmails(100) });
    expect((await validate(caller, { email: "x" })).status).toBe(402);
    clock.advanceClock(32 * 86_400);
    const later = { ...caller, ...(await relogged(caller)) };
    expect((await validate<{ usage: Usage }>(later, { email: "x" })).body.data.usage).toMatchObject(
      { free: 1, freeLeft: 99 },
    );
  });
});

/** A session expires after a week. */
async function relogged({ email, password }: TestAccount) {
  const { account: group } = await import("../../functions/http/account.ts");
  const { cookies } = await invokeRoute(group, "POST /auth/login", { body: { email, password } });
  return { token: cookies[0]!.split(";")[0]!.split("=")[1]! };
}
