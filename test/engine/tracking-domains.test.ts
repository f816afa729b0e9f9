// The tracking domain of a site: who may have it, its checks, the links of new mail, and requests
// at its host name.
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { worker as jobs } from "../../functions/queue/jobs.ts";
import { worker as eventWorker } from "../../functions/queue/provider-events.ts";
import { put, remove, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { listEvents } from "../../shared/domain/delivery-events/send-history.ts";
import { recordClick, recordOpen } from "../../shared/domain/delivery-events/tracked-visits.ts";
import * as due from "../../shared/domain/due-work.ts";
import { removeSite } from "../../shared/domain/identity/remove-site.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { getHostOwner } from "../../shared/domain/identity/tracking-hosts.ts";
import { assignTrackingDomain } from "../../shared/domain/sending/tracking-domains/assign.ts";
import { checkTrackingDomain } from "../../shared/domain/sending/tracking-domains/check-host.ts";
import { dueShards, keys } from "../../shared/keys.ts";
import { runWorkers, useVirtualQueues } from "../support/campaigns.ts";
import { interruptedAtSomeSteps, interruptions } from "../support/crash-injection.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { createSender, send, type TestSender } from "../support/sending.ts";
import { runWorkers as runQueues } from "../support/virtual-queues.ts";

const pem = (name: string) =>
  readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url), "utf8");
/** The name in the certificate. */
const host = "hooks.shop.example";
const domain = "shop.example";

let [dns, server] = [] as unknown as [DnsServer, Server];
/** Whether the proxy in front of the service answers at the host. */
let isBroken = false;
let origin = "";
const browser = { "user-agent": "Mozilla/5.0 (Macintosh) Safari/605" };
const settings = ["ALLOW_LOOPBACK_WEBHOOKS", "DNS_SERVERS", "PUBLIC_URL"] as const;
const before = settings.map((name) => [name, process.env[name]] as const);

beforeAll(async () => {
  await useVirtualQueues();
  setDefaultCACertificates([...getCACertificates("default"), pem("trusted")]);
  dns = await startDnsServer({ records: {} });
  server = createServer(
    { key: pem("trusted-key"), cert: pem("trusted") },
    async (request, answer) => {
      const [, , token = "", link = ""] = (request.url ?? "").split("/");
      const headers = { ...browser, host: request.headers.host };
      const visit = { method: "GET", headers, ipAddress: "203.0.113.7" };
      const location = isBroken ? undefined : await recordClick({ token, link }, visit);
      answer.writeHead(
        location === undefined ? 404 : 302,
        location === undefined ? {} : { location },
      );
      answer.end();
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `https://mail.example.net:${(server.address() as AddressInfo).port}`;
  process.env.ALLOW_LOOPBACK_WEBHOOKS = "on";
  process.env.DNS_SERVERS = dns.address;
  process.env.PUBLIC_URL = origin;
});
afterAll(async () => {
  for (const [name, value] of before)
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  server?.close();
  await dns?.close();
});
beforeEach(async () => {
  isBroken = false;
  dns.zone.records = { [`A ${host}`]: ["127.0.0.1"] };
  await write(remove(keys.trackingHost(host)), remove(keys.domainOwner(domain)));
  // What is known about the host is a minute old at most.
  clock.advanceClock(61);
});

/** Runs the worker, and the drain of what it works on here. */
const settle = (forSeconds: number) =>
  runQueues([jobs], {
    forSeconds,
    runSchedules: async () => {
      const shards = Array.from({ length: dueShards }, (_, shard) => shard);
      for (const kind of ["TRACKINGDOMAIN", "GROUP"] as const)
        await Promise.all(shards.map((shard) => due.drain(kind, shard)));
    },
  });

const hold = ({ caller }: Pick<TestSender, "caller">, name = domain) =>
  write(put(keys.domainOwner(name), { orgId: caller.orgId, domainId: 1 }));
const assign = ({ caller, siteId }: TestSender, name: string | null = host) =>
  assignTrackingDomain(caller, siteId, name);
const check = ({ caller: { orgId }, siteId }: TestSender) => checkTrackingDomain({ orgId, siteId });
const show = async ({ caller, siteId }: TestSender) =>
  sites.toApi(await sites.find(caller, siteId));
const statusOf = async (sender: TestSender) => (await show(sender)).trackingDomainState?.status;

/** Sends an email, and returns its tracked link. */
async function linkOfNewMail(sender: TestSender): Promise<string> {
  const html = '<a href="https://shop.example/sale">Sale</a>';
  await send(sender, { to: "ada@example.com", html });
  await runWorkers({ forSeconds: 60 });
  return /href="([^"]*)"/.exec(sender.provider.mails.at(-1)!.html)![1]!;
}
const tokensOf = (url: string) => {
  const [, token = "", link = ""] = /\/t\/([\w-]+)\/([\w-]+)$/.exec(url)!;
  return { token, link };
};
const click = (url: string, hostHeader: string | undefined = new URL(url).host) =>
  recordClick(tokensOf(url), {
    method: "GET",
    headers: { ...browser, host: hostHeader },
    ipAddress: "203.0.113.7",
  });
const ownTracking = { tracking: "own" as const };

describe("a tracking domain", () => {
  test("is below a domain that the organization has verified, and of one site", async () => {
    const [ada, bob] = [await createSender("postmark"), await createSender("postmark")];
    await expect(assign(ada)).rejects.toMatchObject({
      code: "domain_not_verified",
      kind: "conflict",
    });
    await hold(bob);
    await expect(assign(ada)).rejects.toMatchObject({ code: "domain_not_verified" });
    // Two verified domains are above the host: the nearest counts.
    await hold(ada);
    await hold(bob, host);
    await expect(assign(ada)).rejects.toMatchObject({ code: "domain_not_verified" });
    await write(remove(keys.domainOwner(host)));
    await assign(ada);
    expect(await show(ada)).toMatchObject({
      trackingDomain: host,
      trackingDomainState: {
        status: "pending",
        record: { type: "CNAME", name: host, value: "mail.example.net" },
      },
    });
    const { id } = await sites.create(ada.caller, sites.NewSite.parse({ name: "Second" }));
    const second = { ...ada, siteId: id };
    await expect(assign(second)).rejects.toMatchObject({ kind: "conflict" });
    await expect(assign({ ...ada, siteId: 999_999 })).rejects.toMatchObject({ kind: "missing" });
    await expect(assign(ada, "mail.example.net")).rejects.toMatchObject({ kind: "invalid" });
    await assign(ada, "click.shop.example");
    await assign(second);
    expect((await getHostOwner(host))?.siteId).toBe(id);
    await assign(second, null);
    expect(await getHostOwner(host)).toBeUndefined();
    expect(await show(second)).toMatchObject({ trackingDomain: null, trackingDomainState: null });
  });

  test("goes to the organization that verifies the domain above later, and is free with its site", async () => {
    const [ada, bob] = [await createSender("postmark"), await createSender("postmark")];
    await hold(ada);
    await assign(ada);
    await check(ada);
    expect(await statusOf(ada)).toBe("verified");
    await hold(bob);
    await assign(bob);
    await check(ada);
    expect((await show(ada)).trackingDomainState).toMatchObject({ status: "failing" });
    await settle(120);
    expect(await statusOf(bob)).toBe("verified");
    await removeSite(ada.caller, ada.siteId);
    expect((await getHostOwner(host))?.siteId).toBe(bob.siteId);
    await removeSite(bob.caller, bob.siteId);
    expect(await getHostOwner(host)).toBeUndefined();
  });
});

describe("new mail", () => {
  test("has links of the domain while its daily check succeeds", async () => {
    const sender = await createSender("postmark", ownTracking);
    await hold(sender);
    await assign(sender);
    expect(await linkOfNewMail(sender)).toMatch(`${origin}/t/`);
    await settle(1);
    expect(await show(sender)).toMatchObject({
      trackingDomainState: { status: "verified", reason: null, lastCheckedAt: expect.any(String) },
    });
    const link = await linkOfNewMail(sender);
    expect(link).toMatch(`${origin.replace("mail.example.net", host)}/t/`);
    expect(await click(link)).toBe("https://shop.example/sale");
    await assign(sender);
    expect(await statusOf(sender)).toBe("verified");

    isBroken = true;
    await settle(86_400 + 600);
    expect((await show(sender)).trackingDomainState).toMatchObject({
      status: "failing",
      reason: `${host} does not lead to this service: a link there was answered with 404`,
    });
    expect(await linkOfNewMail(sender)).toMatch(`${origin}/t/`);
    // The links of earlier mail stay as they are.
    expect(await click(link)).toBe("https://shop.example/sale");

    isBroken = false;
    await settle(7 * 3600);
    expect(await statusOf(sender)).toBe("verified");
    await runWorkers({}, [eventWorker]);
    const { events } = await listEvents(sender.caller, { limit: 10 }, { siteId: sender.siteId });
    expect(events.map(({ type }) => type)).toEqual(["click", "click"]);
    await sender.provider.stop();
  });

  test("waits for DNS, a certificate and a public address", async () => {
    const sender = await createSender("postmark", ownTracking);
    await hold(sender);
    const faultOf = async (name: string) => {
      await assign(sender, name);
      await check(sender);
      const { trackingDomainState } = await show(sender);
      expect(trackingDomainState!.status).toBe("pending");
      return trackingDomainState!.reason;
    };
    expect(await faultOf("none.shop.example")).toBe(
      "DNS has no address for none.shop.example: publish the record",
    );
    dns.zone.records["A click.shop.example"] = ["127.0.0.1"];
    expect(await faultOf("click.shop.example")).toMatch("The TLS certificate was not accepted");
    dns.zone.records["A click.shop.example"] = ["10.0.0.7"];
    expect(await faultOf("click.shop.example")).toMatch("address that is not public");
    dns.zone.faults = { "click.shop.example": "servfail" };
    expect(await faultOf("click.shop.example")).toBe("DNS did not answer");
    dns.zone.faults = {};
    await write(remove(keys.domainOwner(domain)));
    await check(sender);
    expect((await show(sender)).trackingDomainState!.reason).toMatch("No verified domain");
    await sender.provider.stop();
  });

  test.each(interruptions)(
    "has a checked domain or that of the service when the worker %s",
    async (how) => {
      await interruptedAtSomeSteps(how, async (interrupt) => {
        const sender = await createSender("postmark", ownTracking);
        await hold(sender);
        await write(remove(keys.trackingHost(host)));
        await assign(sender);
        await interrupt(
          () => check(sender),
          () => settle(600),
        );
        expect(await statusOf(sender)).toBe("verified");
        await sender.provider.stop();
      });
    },
  );
});

test("at the domain of a site, links of other sites are unknown", async () => {
  const [ada, bob] = [
    await createSender("postmark", ownTracking),
    await createSender("sparkpost", ownTracking),
  ];
  await hold(ada);
  const early = await linkOfNewMail(ada);
  await assign(ada);
  await check(ada);
  const own = await linkOfNewMail(ada);
  const foreign = await linkOfNewMail(bob);
  expect(await click(foreign)).toBe("https://shop.example/sale");
  expect(await click(foreign, host)).toBeUndefined();
  expect(await click(foreign, `${host.toUpperCase()}:443`)).toBeUndefined();
  expect(
    await recordOpen(tokensOf(foreign).token, {
      method: "GET",
      headers: { ...browser, host },
      ipAddress: "203.0.113.7",
    }),
  ).toBe(false);
  // Email from before has no link of the domain.
  expect(await click(early, host)).toBeUndefined();
  expect(await click(early)).toBe("https://shop.example/sale");
  expect(await click(own)).toBe("https://shop.example/sale");
  expect(await click(own, new URL(origin).host)).toBe("https://shop.example/sale");
  // A proxy can pass on another name of the service.
  expect(await click(foreign, "a1b2.execute-api.eu-west-1.amazonaws.com")).toBe(
    "https://shop.example/sale",
  );
  await ada.provider.stop();
  await bob.provider.stop();
});
