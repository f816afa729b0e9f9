// The adapter of SMTP servers against a real one that fails at each stage.

import * as tls from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { startCountingSmtpServer } from "../../infra/local/bench/counting-smtp-server.ts";
import type { HandOverOutcome, Mailing } from "../../shared/providers/provider-adapter.ts";
import { smtp } from "../../shared/providers/smtp.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import {
  type FailingSmtpServer,
  type SmtpFailure,
  type SmtpStage,
  smtpCertificate,
  smtpHost,
  smtpLogin,
  startFailingSmtpServer,
} from "../support/failing-smtp-server.ts";
import { mailing, recipient } from "../support/provider-sandbox.ts";

let server: FailingSmtpServer;
let dns: DnsServer;

beforeAll(async () => {
  server = await startFailingSmtpServer();
  dns = await startDnsServer({ records: { [`A ${smtpHost}`]: ["127.0.0.1"] } });
  tls.setDefaultCACertificates([...tls.getCACertificates(), smtpCertificate]);
});
afterAll(() => Promise.all([server.close(), dns.close()]));
beforeEach(() => {
  vi.stubEnv("DNS_SERVERS", dns.address);
  vi.stubEnv("SMTP_PRIVATE_NETWORKS", "127.0.0.0/8");
  vi.stubEnv("PUBLIC_URL", "https://mail.shop.example");
});
afterEach(() => {
  vi.unstubAllEnvs();
  server.failures = {};
  server.received.length = 0;
  server.hangUp();
});

let keys = 0;
const send = (sent: Mailing, changes: object = {}): Promise<HandOverOutcome[]> =>
  smtp.send({
    mailing: sent,
    credentials: smtp.credentials.parse({
      host: smtpHost,
      port: server.port,
      ...smtpLogin,
      ...changes,
    }),
    idempotencyKey: `key-${++keys}`,
  });

const one = (changes: Partial<Mailing> = {}) =>
  mailing([recipient("ada@example.net")], { configId: 7, ...changes });

const fails = (stage: SmtpStage, failure: SmtpFailure, times = 1) => {
  server.failures[stage] = { failure, times };
};

describe("a mail that the server accepts", () => {
  it("goes out by STARTTLS with login, DSN and a bounce address of its own", async () => {
    const [outcome] = await send(one(), { returnPath: "bounces@shop.example" });
    const [{ sender, recipients, secure, user, content, dsn }] = server.received as [never] &
      [(typeof server.received)[0]];
    const { messageId } = outcome as { messageId: string };
    expect(messageId).toMatch(/^\d+\.[0-9a-f]{20}@pennymail\.test$/);
    expect(sender).toBe(`bounces+${messageId.split("@")[0]}@shop.example`);
    expect(content).toContain(`\r\nMessage-ID: <${messageId}>\r\n`);
    expect({ recipients, secure, user }).toEqual({
      recipients: ["ada@example.net"],
      secure: true,
      user: "ada",
    });
    expect(dsn).toMatchObject({ ret: "HDRS", envid: messageId });
  });

  it("has the same message id in each attempt", async () => {
    const sent = one();
    const ids = [await send(sent), await send(sent)].map(([outcome]) => outcome);
    expect(ids[0]).toEqual(ids[1]);
  });

  it("names its copies, and hides its blind copy", async () => {
    const copies = {
      to: [{ email: "ben@example.net" }],
      cc: [{ email: "eve@example.net" }],
      bcc: [],
    };
    await send(one({ copies, bcc: "archive@example.net" }));
    const [{ recipients, content }] = server.received as [(typeof server.received)[0]];
    expect(recipients).toEqual([
      "ada@example.net",
      "ben@example.net",
      "eve@example.net",
      "archive@example.net",
    ]);
    expect(content).toMatch(/\r\nCc: eve@example\.net\r\n/);
    expect(content).not.toContain("archive@");
  });

  it("shares its connection with the others of the call", async () => {
    const before = server.connections;
    const many = Array.from({ length: 20 }, (_, n) => recipient(`person${n}@example.net`));
    const outcomes = await send(mailing(many), { poolSize: 2 });
    expect(outcomes.map(({ status }) => status)).toEqual(many.map(() => "accepted"));
    expect(server.received.map(({ recipients }) => recipients[0]).toSorted()).toEqual(
      many.map(({ to }) => to.email).toSorted(),
    );
    expect(server.connections - before).toBe(2);
  });

  it("gets a new connection when the last one has carried its number of mails", async () => {
    const before = server.connections;
    const many = Array.from({ length: 6 }, (_, n) => recipient(`person${n}@example.net`));
    await send(mailing(many), { poolSize: 1, mailsPerConnection: 2 });
    expect(server.connections - before).toBe(3);
  });

  it("opens no connection before the last one is closed", async () => {
    const slow = await startCountingSmtpServer(0, 50);
    vi.stubEnv("PROVIDER_URL_SMTP", slow.url);
    const many = Array.from({ length: 4 }, (_, n) => recipient(`person${n}@example.net`));
    const outcomes = await send(mailing(many), {
      user: undefined,
      password: undefined,
      poolSize: 1,
      mailsPerConnection: 1,
    });
    await slow.stop();
    expect(outcomes).toMatchObject(many.map(() => ({ status: "accepted" })));
    expect(slow.mostCallsInFlight()).toBe(1);
  });
});

it("shares the connections that a server allows", async () => {
  const small = await startFailingSmtpServer({ maxClients: 2 });
  const many = Array.from({ length: 25 }, (_, n) => recipient(`person${n}@example.net`));
  for (let call = 0; call < 2; call++) {
    const outcomes = await send(mailing(many), { port: small.port, poolSize: 5 });
    expect(outcomes).toMatchObject(many.map(() => ({ status: "accepted" })));
  }
  expect(small.received).toHaveLength(50);
  expect(new Set(small.received.map(({ recipients }) => recipients[0])).size).toBe(25);
  await small.close();
});

describe("a failure", () => {
  const held = (why: string) => ({ status: "held", why });
  const config = { status: "refused", config: true };
  it.each<[SmtpStage, SmtpFailure, object]>([
    ["greeting", "drop", held("fault")],
    ["greeting", "421 4.3.2 Too busy", held("fault")],
    ["greeting", "554 5.7.1 Not you", config],
    ["login", "drop", held("fault")],
    ["login", "454 4.7.0 Temporary failure", held("fault")],
    ["login", "535 5.7.8 Wrong password", config],
    ["sender", "drop", held("fault")],
    ["sender", "451 4.3.0 Local error", held("fault")],
    ["sender", "550 5.7.1 Not your address", config],
    [
      "sender",
      "552 5.3.4 Too large",
      { status: "refused", error: expect.stringContaining("5.3.4") },
    ],
    ["recipient", "drop", held("fault")],
    ["recipient", "451 4.7.1 Greylisted", held("recipient")],
    ["recipient", "450 4.1.2 No such domain", { status: "refused" }],
    ["recipient", "450 4.7.1 Rate limit exceeded", held("pace")],
    ["recipient", "550 5.1.1 No such user", { status: "refused" }],
    ["recipient", "554 5.7.1 Relay access denied", config],
    ["recipient", "553 5.7.1 <a@b.example>: Sender address rejected: not owned by user", config],
    [
      "recipient",
      "550 5.4.5 Daily user sending limit exceeded",
      { ...held("pace"), retryAfterSeconds: 3600 },
    ],
    ["content", "drop", { status: "uncertain" }],
    ["confirmation", "drop", { status: "uncertain" }],
    ["confirmation", "451 4.3.0 Queue is full", held("fault")],
    ["confirmation", "421 4.3.2 Shutting down", held("fault")],
    ["confirmation", "550 5.7.1 Spam", { status: "refused" }],
    ["confirmation", "554 5.2.252 SendAsDenied; a@b.example not allowed to send as c@d", config],
    ["confirmation", "554 Message rejected: Email address is not verified.", config],
    ["confirmation", "451 You've exceeded your messaging limits", held("pace")],
    [
      "confirmation",
      "550 Domain b.example has exceeded the max emails per hour (500/500 (100%)) allowed.",
      { ...held("pace"), retryAfterSeconds: 3600 },
    ],
    [
      "confirmation",
      "554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException",
      { ...held("pace"), retryAfterSeconds: 3600 },
    ],
  ])("at the stage %s: %s", async (stage, failure, expected) => {
    fails(stage, failure, 2);
    const [outcome] = await send(one());
    expect(outcome).toMatchObject(expected);
    if (outcome!.status === "refused" && !("config" in expected))
      expect(outcome).not.toHaveProperty("config");
    expect(server.received.length).toBe(stage === "confirmation" ? 1 : 0);
    server.failures = {};
    expect(await send(one())).toMatchObject([{ status: "accepted" }]);
  });

  it("names no password", async () => {
    fails("login", `535 5.7.8 ${smtpLogin.password} is wrong`);
    const [outcome] = await send(one());
    expect(JSON.stringify(outcome)).not.toContain(smtpLogin.password);
    expect(JSON.stringify(outcome)).toContain("*** is wrong");
  });

  it("of one recipient does not touch the others of the call", async () => {
    server.failures.recipient = { failure: "550 5.1.1 No", times: 1, address: "no@example.net" };
    const sent = mailing([recipient("no@example.net"), recipient("ada@example.net")]);
    expect(await send(sent)).toMatchObject([{ status: "refused" }, { status: "accepted" }]);
    expect(server.received.length).toBe(1);
  });

  it("of the recipient sends no copy, and one of a copy does not matter", async () => {
    const copies = { to: [], cc: [{ email: "eve@example.net" }], bcc: [] };
    server.failures.recipient = { failure: "451 Later", times: 1, address: "ada@example.net" };
    expect(await send(one({ copies }))).toMatchObject([held("recipient")]);
    expect(server.received.length).toBe(0);
    server.failures.recipient = { failure: "550 No", times: 1, address: "eve@example.net" };
    expect(await send(one({ copies }))).toMatchObject([{ status: "accepted" }]);
    expect(server.received.map(({ recipients }) => recipients)).toEqual([["ada@example.net"]]);
  });

  it("of an idle connection is no failure of the mail", async () => {
    await send(one());
    server.hangUp();
    expect(await send(one())).toMatchObject([{ status: "accepted" }]);
    fails("sender", "421 4.4.2 Idle for too long");
    expect(await send(one())).toMatchObject([{ status: "accepted" }]);
    expect(server.received.length).toBe(3);
  });

  it("to connect is tried once for a call", async () => {
    const before = server.connections;
    fails("login", "535 5.7.8 Wrong password", 100);
    const many = Array.from({ length: 10 }, (_, n) => recipient(`person${n}@example.net`));
    const outcomes = await send(mailing(many), { poolSize: 1 });
    expect(outcomes).toMatchObject(many.map(() => config));
    expect(server.connections - before).toBe(1);
  });
});

describe("TLS", () => {
  it("is required: a server without STARTTLS gets no mail", async () => {
    const plain = await startFailingSmtpServer({ disabledCommands: ["STARTTLS"] });
    const outcomes = await send(one(), { port: plain.port });
    expect(outcomes).toMatchObject([{ status: "refused", config: true }]);
    expect(plain.received).toEqual([]);
    await plain.close();
  });

  it("does not accept a certificate of another host", async () => {
    dns.zone.records["A other.pennymail.test"] = ["127.0.0.1"];
    const outcomes = await send(one(), { host: "other.pennymail.test" });
    expect(outcomes).toMatchObject([held("fault")]);
    expect(server.received).toEqual([]);
  });

  it("can begin with the connection", async () => {
    const secure = await startFailingSmtpServer({ secure: true });
    const outcomes = await send(one(), { port: secure.port, tls: "tls" });
    expect(outcomes).toMatchObject([{ status: "accepted" }]);
    expect(secure.received).toMatchObject([{ secure: true, user: "ada" }]);
    await secure.close();
  });

  it("can be left out, in a network of the operator", async () => {
    const outcomes = await send(one(), { tls: "none", user: undefined, password: undefined });
    expect(outcomes).toMatchObject([{ status: "accepted" }]);
    expect(server.received).toMatchObject([{ secure: false, user: undefined }]);
  });
  const held = (why: string) => ({ status: "held", why });
});

describe("a private address", () => {
  it.each([
    ["of a name", { host: smtpHost }],
    ["itself", { host: "127.0.0.1" }],
    ["of IPv6", { host: "::1" }],
    ["of a metadata service", { host: "169.254.169.254", port: 80 }],
  ])("%s gets no connection", async (_, changes) => {
    vi.stubEnv("SMTP_PRIVATE_NETWORKS", "10.0.0.0/8");
    const before = server.connections;
    const outcomes = await send(one(), changes);
    expect(outcomes).toMatchObject([
      { status: "refused", config: true, error: "The host has an address that is not public" },
    ]);
    expect(server.connections).toBe(before);
  });

  it("among others of a name is enough to refuse it", async () => {
    vi.stubEnv("SMTP_PRIVATE_NETWORKS", "");
    dns.zone.records["A mixed.pennymail.test"] = ["198.41.0.4", "127.0.0.1"];
    const outcomes = await send(one(), { host: "mixed.pennymail.test" });
    expect(outcomes).toMatchObject([{ status: "refused", config: true }]);
  });
});

it("a login is checked without a mail", async () => {
  const check = (changes: object) =>
    smtp.checkLogin!(
      smtp.credentials.parse({ host: smtpHost, port: server.port, ...smtpLogin, ...changes }),
    );
  expect(await check({})).toEqual({ status: "accepted" });
  expect(await check({ password: "wrong" })).toMatchObject({ status: "refused" });
  fails("greeting", "drop");
  expect(await check({})).toEqual({ status: "unknown" });
  expect(server.received).toEqual([]);
});

it("a mail that would begin too late is not sent", async () => {
  const outcomes = await send(one({ notAfter: new Date(Date.now() - 1) }));
  expect(outcomes).toMatchObject([{ status: "held", why: "pace" }]);
  expect(server.received).toEqual([]);
});
