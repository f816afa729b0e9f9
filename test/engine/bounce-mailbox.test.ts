// Bounce mailboxes: read from a real IMAP server of this machine, which also fails.
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as inbound } from "../../functions/queue/inbound.ts";
import { worker as jobs } from "../../functions/queue/jobs.ts";
import { worker as providerEvents } from "../../functions/queue/provider-events.ts";
import {
  appendMessage,
  createFolder,
  type ImapMailbox,
  type ImapServerOptions,
  startImapServer,
} from "../../infra/local/sandbox/imap-server.ts";
import { get, insertMany } from "../../shared/adapters/dynamodb/table.ts";
import { advanceClock, now } from "../../shared/clock.ts";
import * as history from "../../shared/domain/delivery-events/send-history.ts";
import { removeSite } from "../../shared/domain/identity/remove-site.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import {
  type BounceMailboxItem,
  BounceMailboxSettings,
} from "../../shared/domain/inbound/bounce-mailbox.ts";
import {
  findMailbox,
  removeMailbox,
  setMailbox,
} from "../../shared/domain/inbound/configure-mailbox.ts";
import * as listInbound from "../../shared/domain/inbound/list-inbound.ts";
import { readMailbox } from "../../shared/domain/inbound/read-mailbox.ts";
import { NewSendingConfig } from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { keys } from "../../shared/keys.ts";
import { mailIdOf } from "../../shared/providers/smtp-mail-id.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { createSentMails } from "../support/delivery-events.ts";
import { startDnsServer } from "../support/dns-server.ts";
import { smtpCertificate, smtpCertificateKey, smtpHost } from "../support/failing-smtp-server.ts";
import { bounces } from "../support/mail-reports.ts";
import { pendingMessages, runWorkers, useVirtualQueues } from "../support/virtual-queues.ts";

beforeAll(useVirtualQueues);
beforeEach(() => {
  vi.stubEnv("SMTP_PRIVATE_NETWORKS", "127.0.0.0/8");
});

const credentials = { host: "smtp.shop.example", user: "shop", password: "secret" };
const password = "the password ü";

const createMailbox = (): ImapMailbox => ({
  password,
  folders: new Map([
    ["INBOX", createFolder()],
    ["Done", createFolder(7)],
  ]),
});

async function startServer(options: Partial<ImapServerOptions> = {}) {
  const mailbox = createMailbox();
  const server = await startImapServer({
    findMailbox: (user) => (user === "bounces" ? mailbox : undefined),
    ...options,
  });
  onTestFinished(server.close);
  const folder = mailbox.folders.get("INBOX")!;
  const append = (text: string, arrivedAt = now()) => appendMessage(folder, text, arrivedAt);
  return { ...server, mailbox, folder, append };
}

/** An organization whose SMTP config has sent mails. */
async function createSmtpMails(n: number) {
  const { caller, orgId, siteId, item } = await createSentMails(0);
  const createConfig = async () =>
    (
      await sendingConfigs.create(
        caller,
        NewSendingConfig.parse({ provider: "smtp", fromEmail: "hello@shop.example", credentials }),
      )
    ).id;
  const configId = await createConfig();
  const sends = Array.from({ length: n }, (_, i) => {
    const sendId = orgId * 100_000 + i;
    const to = `p${sendId}@example.net`;
    const id = mailIdOf(`${configId} ${sendId}`, { sendId, to }, credentials);
    const bounce = bounces.postfix!({ to, id }).replace("20261201090005", `2026120109${i}`);
    return { sendId, to, id, bounce };
  });
  await insertMany(
    sends.map(({ sendId, to }) => ({
      key: keys.send(orgId, sendId),
      item: { ...item(sendId), toEmail: to, provider: "smtp", sendingConfigId: configId },
    })),
  );
  const eventsOf = async (sendId: number) =>
    (await history.findDetail(caller, sendId)).events.map(({ type }) => type);
  const listKinds = async () =>
    (await listInbound.list(caller, { limit: 100 }, { siteId })).inboundEmails.map(
      ({ kind }) => kind,
    );
  return { caller, orgId, siteId, configId, createConfig, sends, eventsOf, listKinds };
}

const settingsFor = (
  siteId: number,
  port: number,
  more: Partial<BounceMailboxSettings> = {},
): BounceMailboxSettings =>
  BounceMailboxSettings.parse({
    siteId,
    host: "127.0.0.1",
    port,
    tls: "none",
    user: "bounces",
    password,
    ...more,
  });

const workers = [drain, jobs, inbound, providerEvents];
const runAll = () => runWorkers(workers);
const readItem = async (orgId: number, configId: number) =>
  (await get<BounceMailboxItem>(keys.bounceMailbox(orgId, configId)))!;

describe("reading", () => {
  test("makes events of new bounces, and leaves the mail as it is", async () => {
    const { caller, siteId, configId, sends, eventsOf } = await createSmtpMails(2);
    const server = await startServer();
    server.append(sends[0]!.bounce);
    const set = await setMailbox(caller, configId, settingsFor(siteId, server.port));
    expect(set).toMatchObject({ state: "waiting", lastReadAt: null, folder: "INBOX" });
    await runAll();
    expect(await eventsOf(sends[0]!.sendId)).toEqual(["bounce"]);
    server.append(sends[1]!.bounce);
    expect(await eventsOf(sends[1]!.sendId)).toEqual([]);
    await runWorkers(workers, { forSeconds: 601 });
    expect(await eventsOf(sends[1]!.sendId)).toEqual(["bounce"]);
    expect(await findMailbox(caller, configId)).toMatchObject({
      state: "working",
      lastError: null,
    });
    expect(server.folder.messages).toHaveLength(2);
    await removeMailbox(caller, configId);
    expect(await findMailbox(caller, configId)).toBeNull();
  });

  test("begins with the mail of the last 30 days", async () => {
    const { caller, siteId, configId, listKinds } = await createSmtpMails(0);
    const server = await startServer();
    const mail = (name: string) => `From: ${name}@example.net\r\nMessage-ID: <${name}@x>\r\n\r\nHi`;
    server.append(mail("old"), new Date(now().getTime() - 32 * 86_400_000));
    server.append(mail("new"), new Date(now().getTime() - 28 * 86_400_000));
    server.append("not a mail");
    await setMailbox(caller, configId, settingsFor(siteId, server.port));
    await runAll();
    expect(await listKinds()).toEqual(["other"]);
  });

  test.each(["delete", "move"] as const)("can %s what it has read", async (afterReading) => {
    const { caller, siteId, configId, sends, eventsOf } = await createSmtpMails(3);
    const server = await startServer();
    for (const { bounce } of sends) server.append(bounce);
    const moveTo = afterReading === "move" ? "Done" : undefined;
    await setMailbox(caller, configId, settingsFor(siteId, server.port, { afterReading, moveTo }));
    await runAll();
    for (const { sendId } of sends) expect(await eventsOf(sendId)).toEqual(["bounce"]);
    expect(server.folder.messages).toEqual([]);
    expect(server.mailbox.folders.get("Done")!.messages).toHaveLength(moveTo ? 3 : 0);
  });

  test("reads 1,000 messages in several rounds, each once", async () => {
    const { caller, orgId, siteId, configId, sends } = await createSmtpMails(1);
    const server = await startServer();
    for (let i = 0; i < 1000; i++)
      server.append(sends[0]!.bounce.replace("2026120109", `20261201${10_000 + i}`));
    await setMailbox(caller, configId, settingsFor(siteId, server.port));
    const rounds: number[] = [];
    for (let handed = 0; handed < 1000 && rounds.length < 50; ) {
      await readMailbox(orgId, configId);
      const { position } = await readItem(orgId, configId);
      rounds.push(position!.uid - handed);
      handed = position!.uid;
    }
    expect(rounds.length).toBeGreaterThan(1);
    const ofMailbox = pendingMessages.filter(
      ({ queue, body }) => queue === "inbound" && body.includes(`"orgId":${orgId}`),
    );
    expect(ofMailbox).toHaveLength(1000);
    pendingMessages.splice(0);
  });

  test("counts each bounce once after the server has given its messages new uids", async () => {
    const { caller, siteId, configId, sends, eventsOf, listKinds } = await createSmtpMails(3);
    const server = await startServer();
    for (const { bounce } of sends.slice(0, 2)) server.append(bounce);
    await setMailbox(caller, configId, settingsFor(siteId, server.port));
    await runAll();
    server.folder.uidValidity++;
    server.folder.nextUid = 1;
    server.folder.messages = [];
    for (const { bounce } of sends.toReversed()) server.append(bounce);
    await runWorkers(workers, { forSeconds: 601 });
    for (const { sendId } of sends) expect(await eventsOf(sendId)).toEqual(["bounce"]);
    expect(await listKinds()).toEqual(["bounce", "bounce", "bounce"]);
  });

  test("counts each bounce once if two configs share the mailbox", async () => {
    const { caller, siteId, configId, createConfig, sends, eventsOf, listKinds } =
      await createSmtpMails(2);
    const server = await startServer();
    for (const { bounce } of sends) server.append(bounce);
    await setMailbox(caller, configId, settingsFor(siteId, server.port));
    await setMailbox(caller, await createConfig(), settingsFor(siteId, server.port));
    await runAll();
    for (const { sendId } of sends) expect(await eventsOf(sendId)).toEqual(["bounce"]);
    expect(await listKinds()).toHaveLength(2);
  });

  test.each(["keep", "delete", "move"] as const)(
    "loses and repeats nothing wherever a worker crashes: %s",
    async (afterReading) => {
      const { caller, orgId, siteId, configId, sends, eventsOf } = await createSmtpMails(40);
      const server = await startServer();
      const moveTo = afterReading === "move" ? "Done" : undefined;
      const settings = settingsFor(siteId, server.port, { afterReading, moveTo });
      await setMailbox(caller, configId, settings);
      await runAll();
      let n = 0;
      await crashAtSomeSteps(async (crash) => {
        const own = [sends[n++]!, sends[n++]!];
        for (const { bounce } of own) server.append(bounce);
        await crash(() => readMailbox(orgId, configId));
        advanceClock(601);
        await runAll();
        for (const { sendId } of own) expect(await eventsOf(sendId)).toEqual(["bounce"]);
      });
      if (afterReading !== "keep") expect(server.folder.messages).toEqual([]);
      expect(server.mailbox.folders.get("Done")!.messages).toHaveLength(moveTo ? n : 0);
    },
  );
});

describe("a failing server", () => {
  test("is tried again after growing pauses, and says why", async () => {
    const { caller, orgId, siteId, configId, sends, eventsOf } = await createSmtpMails(1);
    const server = await startServer();
    await setMailbox(caller, configId, settingsFor(siteId, server.port));
    await runAll();
    server.append(sends[0]!.bounce);
    server.mailbox.password = "another";
    const pauses: number[] = [];
    for (let i = 0; i < 8; i++) {
      await readMailbox(orgId, configId);
      const { nextReadAt } = (await findMailbox(caller, configId))!;
      pauses.push(Math.round((Date.parse(nextReadAt) - now().getTime()) / 60_000));
    }
    expect(pauses).toEqual([10, 20, 40, 80, 160, 320, 360, 360]);
    expect(await findMailbox(caller, configId)).toMatchObject({
      state: "failing",
      lastError: "The server refused the login: Wrong user or password",
      failingSince: expect.any(String),
    });
    server.mailbox.password = password;
    await runWorkers(workers, { forSeconds: 6 * 3600 + 1 });
    expect(await findMailbox(caller, configId)).toMatchObject({
      state: "working",
      lastError: null,
      failingSince: null,
    });
    expect(await eventsOf(sends[0]!.sendId)).toEqual(["bounce"]);
  });

  test.each([
    ["hangs up in the middle", "drop"],
    ["does not return it", ["* 2 FETCH (UID 2 FLAGS ())", "TAG OK done"]],
    ["refuses it", ["TAG NO [SERVERBUG] Internal error"]],
    ["sends more than it may", ["* 2 FETCH (UID 2 BODY[]<0> {30000000}"]],
    ["sends no protocol", ["* 2 FETCH (((", "TAG NO (("]],
  ] as const)("keeps its place when the server %s", async (_, response) => {
    const { caller, orgId, siteId, configId, sends, eventsOf } = await createSmtpMails(3);
    let fails = true;
    const server = await startServer({
      replaceResponse: ({ name, text }) =>
        fails && name === "UID FETCH" && text.startsWith("2 ") ? response : undefined,
    });
    for (const { bounce } of sends) server.append(bounce);
    await setMailbox(
      caller,
      configId,
      settingsFor(siteId, server.port, { afterReading: "delete" }),
    );
    await readMailbox(orgId, configId);
    expect(await findMailbox(caller, configId)).toMatchObject({ state: "failing" });
    expect((await readItem(orgId, configId)).position).toMatchObject({ uid: 1 });
    expect(server.folder.messages.map(({ uid }) => uid)).toEqual([2, 3]);
    fails = false;
    await runAll();
    await runWorkers(workers, { forSeconds: 1201 });
    for (const { sendId } of sends) expect(await eventsOf(sendId)).toEqual(["bounce"]);
    expect(await findMailbox(caller, configId)).toMatchObject({ skippedEmails: 0 });
  });

  test("blocks no later mail with one that it does not return", async () => {
    const { caller, orgId, siteId, configId, sends, eventsOf } = await createSmtpMails(3);
    const server = await startServer({
      replaceResponse: ({ name, text }) =>
        name === "UID FETCH" && text.startsWith("2 ") ? ["TAG NO Internal error"] : undefined,
    });
    for (const { bounce } of sends) server.append(bounce);
    await setMailbox(
      caller,
      configId,
      settingsFor(siteId, server.port, { afterReading: "delete" }),
    );
    for (let i = 0; i < 4; i++) await readMailbox(orgId, configId);
    await runAll();
    expect(await Promise.all(sends.map(({ sendId }) => eventsOf(sendId)))).toEqual([
      ["bounce"],
      [],
      ["bounce"],
    ]);
    expect(await findMailbox(caller, configId)).toMatchObject({
      state: "working",
      skippedEmails: 1,
    });
    expect(server.folder.messages.map(({ uid }) => uid)).toEqual([2]);
  });

  test("skips no mail of a server that is away", async () => {
    const { caller, orgId, siteId, configId, sends } = await createSmtpMails(1);
    const server = await startServer({
      replaceResponse: ({ name }) => (name === "UID FETCH" ? "drop" : undefined),
    });
    server.append(sends[0]!.bounce);
    await setMailbox(caller, configId, settingsFor(siteId, server.port));
    for (let i = 0; i < 5; i++) await readMailbox(orgId, configId);
    expect(await findMailbox(caller, configId)).toMatchObject({
      state: "failing",
      skippedEmails: 0,
    });
  });
});

describe("settings", () => {
  test.each([
    ["password", { password: "the wrong one" }],
    ["folder", { folder: "Missing" }],
    ["moveTo", { afterReading: "move", moveTo: "Missing" }],
    ["host", { port: 1 }],
    ["host", { tls: "starttls" }],
    ["host", { tls: "tls" }],
  ] as const)("name %s if the server refuses %o, and nothing is stored", async (path, wrong) => {
    const { caller, siteId, configId } = await createSmtpMails(0);
    const server = await startServer();
    const settings = settingsFor(siteId, server.port, wrong);
    const error = await setMailbox(caller, configId, settings).catch((caught) => caught);
    expect(error).toMatchObject({ kind: "invalid", details: [{ path }] });
    expect(error.message).not.toContain("the wrong one");
    expect(await findMailbox(caller, configId)).toBeNull();
  });

  test("allow no private address without the switch of the operator", async () => {
    const { caller, siteId, configId } = await createSmtpMails(0);
    const server = await startServer();
    vi.stubEnv("SMTP_PRIVATE_NETWORKS", "");
    await expect(
      setMailbox(caller, configId, settingsFor(siteId, server.port)),
    ).rejects.toMatchObject({ kind: "invalid", details: [{ path: "host" }] });
  });

  test.each(["tls", "starttls"] as const)("with %s need a certificate of the host", async (tls) => {
    const { caller, siteId, configId } = await createSmtpMails(0);
    const dns = await startDnsServer({ records: { [`A ${smtpHost}`]: ["127.0.0.1"] } });
    onTestFinished(dns.close);
    vi.stubEnv("DNS_SERVERS", dns.address);
    const key = smtpCertificateKey;
    const certificate = { key, cert: smtpCertificate, secure: tls === "tls" };
    const server = await startServer({ certificate });
    const set = (host: string) =>
      setMailbox(caller, configId, { ...settingsFor(siteId, server.port), tls, host });
    setDefaultCACertificates(getCACertificates("bundled"));
    await expect(set(smtpHost)).rejects.toThrow(/certificate/);
    setDefaultCACertificates([smtpCertificate]);
    await expect(set("127.0.0.1")).rejects.toThrow(/not in the cert's list/);
    expect(await set(smtpHost)).toMatchObject({ host: smtpHost, tls });
  });

  test("send a stored password only to its server", async () => {
    const { caller, orgId, siteId, configId } = await createSmtpMails(0);
    const server = await startServer();
    const other = await startServer();
    const settings = settingsFor(siteId, server.port);
    const stored = await setMailbox(caller, configId, settings);
    expect(JSON.stringify([stored, await readItem(orgId, configId)])).not.toContain(password);
    const { password: _, ...without } = settings;
    await setMailbox(caller, configId, { ...without, folder: "Done" });
    for (const changes of [{ port: other.port }, { user: "other" }])
      await expect(setMailbox(caller, configId, { ...without, ...changes })).rejects.toMatchObject({
        details: [{ path: "password" }],
      });
  });

  test("keep the place in the same folder, and begin again in another", async () => {
    const { caller, orgId, siteId, configId, sends } = await createSmtpMails(1);
    const server = await startServer();
    server.append(sends[0]!.bounce);
    await setMailbox(caller, configId, settingsFor(siteId, server.port));
    await runAll();
    const settings = settingsFor(siteId, server.port, { afterReading: "delete" });
    await setMailbox(caller, configId, settings);
    expect((await readItem(orgId, configId)).position).toMatchObject({ uid: 1 });
    await setMailbox(caller, configId, { ...settings, folder: "Done" });
    expect((await readItem(orgId, configId)).position).toBeUndefined();
  });

  test("end with the sending config, and with the site", async () => {
    const { caller, orgId, siteId, configId, createConfig } = await createSmtpMails(0);
    const server = await startServer();
    await setMailbox(caller, configId, settingsFor(siteId, server.port));
    await sendingConfigs.remove(caller, configId);
    expect(await readItem(orgId, configId)).toBeUndefined();
    const second = await createConfig();
    const site = await sites.create(caller, sites.NewSite.parse({ name: "Other" }));
    await setMailbox(caller, second, settingsFor(site.id, server.port));
    await removeSite(caller, site.id);
    await readMailbox(orgId, second);
    expect(await readItem(orgId, second)).toBeUndefined();
  });
});
