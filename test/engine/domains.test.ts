// Domains from the request that adds them to the worker that checks their records.
import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { worker as jobs } from "../../functions/queue/jobs.ts";
import { createTable } from "../../infra/local/engines/table.ts";
import { get, transact } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as due from "../../shared/domain/due-work.ts";
import { findForSender } from "../../shared/domain/senders/choose-config.ts";
import * as checks from "../../shared/domain/senders/domains/check-domain.ts";
import * as domains from "../../shared/domain/senders/domains/domains.ts";
import * as names from "../../shared/domain/senders/domains/domains-by-name.ts";
import { NewSendingConfig } from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { dueShards, keys } from "../../shared/keys.ts";
import { createAccount, type TestAccount } from "../support/accounts.ts";
import {
  crashAtSomeSteps,
  interruptedAtSomeSteps,
  interruptions,
} from "../support/crash-injection.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import {
  pendingMessages,
  runWorkers as settleAll,
  useVirtualQueues,
} from "../support/virtual-queues.ts";

let dns: DnsServer;
beforeAll(async () => {
  await useVirtualQueues();
  dns = await startDnsServer({ records: {} });
  process.env.DNS_SERVERS = dns.address;
});
afterAll(() => dns.close());
// Each test has its own table, so that it can move the clock without making other work due.
beforeEach(async () => {
  pendingMessages.length = 0;
  process.env.TABLE_NAME = `domains-${randomUUID()}`;
  await createTable(new DynamoDBClient({}), process.env.TABLE_NAME);
});
afterEach(removePauses);
/** Runs the worker and the drain of domains only. */
const settle = (options: { forSeconds?: number } = {}) =>
  settleAll([jobs], {
    ...options,
    runSchedules: async () => {
      await Promise.all(
        Array.from({ length: dueShards }, (_, shard) => due.drain("DOMAIN", shard)),
      );
    },
  });

type Detail = domains.DomainDetail;
const add = ({ caller }: Pick<TestAccount, "caller">, name: string) =>
  domains.add(caller, domains.NewDomain.parse({ name }));
const detail = ({ caller }: Pick<TestAccount, "caller">, id: number) =>
  domains.findDetail(caller, id);
const fresh = () => `d${randomUUID().slice(0, 8)}.com`;
const ownershipOf = ({ dnsRecords }: Detail) =>
  dnsRecords.find(({ purpose }) => purpose === "ownership")!;
const publish = (domain: Detail) => {
  const { name, value } = ownershipOf(domain);
  dns.zone.records[`TXT ${name}`] = [...(dns.zone.records[`TXT ${name}`] ?? []), value!];
};
const withdraw = (domain: Detail) => {
  delete dns.zone.records[`TXT ${ownershipOf(domain).name}`];
};
const days = (n: number) => settle({ forSeconds: n * 86_400 });
const holderOf = async (name: string) =>
  (await get<{ orgId: number }>(keys.domainOwner(name)))?.orgId;

describe("verification", () => {
  test("a domain is pending until its record is published, and verified soon after", async () => {
    const ada = await createAccount();
    const made = await add(ada, ` ${fresh().toUpperCase()} `);
    expect(made).toMatchObject({
      status: "pending",
      verifiedAt: null,
      lastCheckedAt: null,
      clickTrackingEnabled: null,
      openTrackingEnabled: null,
    });
    expect(ownershipOf(made)).toMatchObject({
      state: "pending",
      required: true,
      found: [],
      value: expect.stringMatching(/^pennymail-verification=\w{32}$/),
    });
    await settle();
    expect(await detail(ada, made.id)).toMatchObject({
      status: "pending",
      lastCheckedAt: expect.any(String),
    });
    publish(made);
    await settle({ forSeconds: 120 });
    const verified = await detail(ada, made.id);
    expect(verified).toMatchObject({
      status: "verified",
      verifiedAt: expect.any(String),
      statusReason: null,
    });
    expect(ownershipOf(verified).state).toBe("found");
    expect(await holderOf(made.name)).toBe(ada.caller.orgId);
  });

  test("a domain fails after 30 days without its record, and starts again when it is added again", async () => {
    const ada = await createAccount();
    const made = await add(ada, fresh());
    await days(31);
    expect(await detail(ada, made.id)).toMatchObject({ status: "failed", nextCheckAt: null });
    const before = dns.queries.length;
    await days(10);
    expect(dns.queries.length).toBe(before);
    publish(made);
    expect(await add(ada, made.name)).toMatchObject({ id: made.id, status: "pending" });
    await settle();
    expect((await detail(ada, made.id)).status).toBe("verified");
  });

  test("a lost domain is held for three days; then others can verify it", async () => {
    const [ada, bob] = [await createAccount(), await createAccount()];
    const made = await add(ada, fresh());
    publish(made);
    await days(3);
    expect((await detail(ada, made.id)).status).toBe("verified");
    withdraw(made);
    await days(1.1);
    expect(await detail(ada, made.id)).toMatchObject({
      status: "lost",
      statusReason: expect.stringContaining("missing"),
    });
    await expect(add(bob, made.name)).rejects.toMatchObject({
      kind: "conflict",
      code: "domain_taken",
    });
    expect((await names.getByName(ada.caller.orgId, made.name))!.verified).toBe(true);
    await days(3.1);
    expect((await detail(ada, made.id)).status).toBe("failed");
    expect((await names.getByName(ada.caller.orgId, made.name))!.verified).toBe(false);
    const his = await add(bob, made.name);
    publish(his);
    await settle();
    expect((await detail(bob, his.id)).status).toBe("verified");
    expect(await holderOf(made.name)).toBe(bob.caller.orgId);
  });

  test("a domain keeps its state while DNS does not answer", async () => {
    const ada = await createAccount();
    const made = await add(ada, fresh());
    publish(made);
    await settle();
    dns.zone.faults = { [`_pennymail.${made.name}`]: "servfail" };
    await days(6);
    dns.zone.faults = {};
    const still = await detail(ada, made.id);
    expect(still.status).toBe("verified");
    expect(ownershipOf(still).state).toBe("found");
  });
});

describe("ownership", () => {
  test("one of two organizations that verify a domain at once holds it; the other one gets a reason", async () => {
    const [ada, bob] = [await createAccount(), await createAccount()];
    const name = fresh();
    const [hers, his] = [await add(ada, name), await add(bob, name)];
    expect(ownershipOf(hers).value).not.toBe(ownershipOf(his).value);
    publish(hers);
    publish(his);
    await settle();
    const both = [await detail(ada, hers.id), await detail(bob, his.id)];
    expect(both.map(({ status }) => status).toSorted()).toEqual(["pending", "verified"]);
    expect(both.find(({ status }) => status === "pending")!.statusReason).toContain(
      "Another organization",
    );
    expect(both.find(({ status }) => status === "pending")!.nextCheckAt).not.toBeNull();
    expect(await holderOf(name)).toBe(
      both[0]!.status === "verified" ? ada.caller.orgId : bob.caller.orgId,
    );
  });

  test("the record of one organization does not verify the domain for another", async () => {
    const [ada, bob] = [await createAccount(), await createAccount()];
    const name = fresh();
    const [hers, his] = [await add(ada, name), await add(bob, name)];
    publish(hers);
    await settle();
    const record = ownershipOf(await detail(bob, his.id));
    expect(record).toMatchObject({ state: "wrong", found: [ownershipOf(hers).value] });
  });

  test("a deleted domain is released at once, and a running check does not restore it", async () => {
    const [ada, bob] = [await createAccount(), await createAccount()];
    const made = await add(ada, fresh());
    publish(made);
    await settle();
    await domains.remove(ada.caller, made.id);
    await settle({ forSeconds: 2 * 86_400 });
    expect(await holderOf(made.name)).toBeUndefined();
    expect(await names.getByName(ada.caller.orgId, made.name)).toBeUndefined();
    expect((await add(bob, made.name)).status).toBe("pending");
    expect((await domains.list(ada.caller, { limit: 10 })).pagination.total).toBe(0);
  });

  test("a slow check does not overwrite a newer result", async () => {
    const ada = await createAccount();
    const made = await add(ada, fresh());
    const look = () => checks.checkDomain(ada.caller.orgId, made.id);
    const slow = pauseCall("TransactWriteItems");
    const late = look();
    await slow.reached;
    publish(made);
    await look();
    slow.release();
    await late;
    expect((await detail(ada, made.id)).status).toBe("verified");
    expect(await holderOf(made.name)).toBe(ada.caller.orgId);
  });

  test("a failed domain that is verified while it is added again stays verified", async () => {
    const ada = await createAccount();
    const made = await add(ada, fresh());
    await days(31);
    publish(made);
    const slow = pauseCall("UpdateItem");
    const late = add(ada, made.name);
    await slow.reached;
    await checks.checkDomain(ada.caller.orgId, made.id);
    slow.release();
    expect((await late).status).toBe("verified");
  });

  test("two overlapping schedules start one check", async () => {
    const ada = await createAccount();
    await add(ada, fresh());
    clock.advanceClock(600);
    pendingMessages.length = 0;
    const drained = () =>
      Promise.all(Array.from({ length: dueShards }, (_, shard) => due.drain("DOMAIN", shard)));
    const slow = pauseCall("UpdateItem");
    const late = drained();
    await slow.reached;
    await drained();
    slow.release();
    await late;
    expect(pendingMessages).toHaveLength(1);
  });

  test("does not release a domain that another organization holds", async () => {
    const [ada, bob] = [await createAccount(), await createAccount()];
    const made = await add(ada, fresh());
    publish(made);
    await settle();
    const his = { id: (await add(bob, fresh())).id, name: made.name };
    expect(await transact(checks.releaseDomainWrite(his))).toBe(false);
    expect(await holderOf(made.name)).toBe(ada.caller.orgId);
  });

  test("an organization has a domain once, even if it is added by simultaneous requests", async () => {
    const ada = await createAccount();
    const name = fresh();
    const all = await Promise.all(Array.from({ length: 6 }, () => add(ada, name)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect((await domains.list(ada.caller, { limit: 10 })).pagination.total).toBe(1);
  });

  test("rejects names that cannot be owned", async () => {
    const ada = await createAccount();
    const names = [
      "com",
      "co.uk",
      "localhost",
      "192.0.2.1",
      "shop",
      "a b.example",
      "-x.example",
      "x..example",
      `${"x".repeat(64)}.example`,
    ];
    const otherNames = [
      "https://shop.example",
      "shop.example/x",
      "shop.example?x",
      "x@shop.example",
      "shop.example:25",
      "shop%2eexample.com",
    ];
    for (const name of [...names, ...otherNames])
      await expect(add(ada, name), name).rejects.toMatchObject({
        kind: "invalid",
        details: [{ path: "name" }],
      });
  });

  test("stores an international name in ASCII", async () => {
    expect((await add(await createAccount(), "Bücher-Müller.example")).name).toBe(
      "xn--bcher-mller-thbg.example",
    );
  });
});

describe("a crash", () => {
  const onlyOnce = async ({ caller }: TestAccount, id: number) => {
    const { items, pagination } = await domains.list(caller, { limit: 10 });
    expect([items.map((one) => one.id), pagination.total]).toEqual([[id], 1]);
  };

  test("while a domain is added leaves the whole domain or none", async () => {
    await crashAtSomeSteps(async (crash) => {
      const ada = await createAccount();
      const name = fresh();
      await crash(() => add(ada, name));
      const made = await add(ada, name);
      await onlyOnce(ada, made.id);
      publish(made);
      await settle({ forSeconds: 120 });
      expect((await detail(ada, made.id)).status).toBe("verified");
    });
  });

  test.each(interruptions)(
    "during a check leads to another check when the worker %s",
    async (how) => {
      await interruptedAtSomeSteps(how, async (interrupt) => {
        const ada = await createAccount();
        const made = await add(ada, fresh());
        publish(made);
        await interrupt(
          () => checks.checkDomain(ada.caller.orgId, made.id),
          () => settle({ forSeconds: 600 }),
        );
        expect((await detail(ada, made.id)).status).toBe("verified");
        expect((await names.getByName(ada.caller.orgId, made.name))!.verified).toBe(true);
        expect(await holderOf(made.name)).toBe(ada.caller.orgId);
      });
    },
  );

  test("while a domain is deleted leaves the whole domain or none", async () => {
    await crashAtSomeSteps(async (crash) => {
      const ada = await createAccount();
      const made = await add(ada, fresh());
      publish(made);
      await settle();
      await crash(() => domains.remove(ada.caller, made.id));
      const isListed = (await domains.list(ada.caller, { limit: 10 })).items.length === 1;
      expect([isListed, await holderOf(made.name)]).toEqual(
        isListed ? [true, ada.caller.orgId] : [false, undefined],
      );
      if (isListed) await domains.remove(ada.caller, made.id);
      expect(await names.getByName(ada.caller.orgId, made.name)).toBeUndefined();
    });
  });
});

describe("mail", () => {
  const put = async (owner: TestAccount["caller"], fromEmail: string, provider = "resend") =>
    sendingConfigs.create(
      owner,
      NewSendingConfig.parse({
        provider,
        fromEmail,
        credentials: { apiKey: "re_x" },
      }),
    );

  test("sending configs of a verified domain can send for all its addresses", async () => {
    const ada = await createAccount();
    const made = await add(ada, fresh());
    const config = await put(ada.caller, `news@${made.name}`);
    const other = `else@${made.name}`;
    await expect(findForSender(ada.caller, other)).rejects.toMatchObject({
      code: "no_sending_config",
    });
    publish(made);
    await settle();
    expect((await findForSender(ada.caller, other)).id).toBe(config.id);
    await expect(findForSender(ada.caller, `else@mail.${made.name}`)).rejects.toMatchObject({
      code: "no_sending_config",
    });
    await expect(findForSender((await createAccount()).caller, other)).rejects.toMatchObject({
      code: "no_sending_config",
    });
  });

  test("needs the records of providers that send from it, and of no others", async () => {
    const ada = await createAccount();
    const domain = await add(ada, fresh());
    const providersOf = async () => [
      ...new Set(
        (await detail(ada, domain.id)).dnsRecords.flatMap(({ provider }) => provider ?? []),
      ),
    ];
    const other = await put(ada.caller, "hello@other.example", "brevo");
    // Any config can send from a verified domain.
    expect(await providersOf()).toEqual(["brevo"]);
    const { id } = await put(ada.caller, `news@${domain.name}`);
    expect(await providersOf()).toEqual(["resend"]);
    await sendingConfigs.update(ada.caller, id, { fallbackConfigId: other.id });
    expect(await providersOf()).toEqual(["brevo", "resend"]);
  });

  test("checks the records of the providers in use too", async () => {
    const ada = await createAccount();
    const made = await add(ada, fresh());
    await put(ada.caller, `news@${made.name}`);
    dns.zone.records[`TXT resend._domainkey.${made.name}`] = ["p=MIGf"];
    dns.zone.records[`TXT ${made.name}`] = ["v=spf1 -all", "v=spf1 ~all"];
    await add(ada, made.name);
    await settle();
    const states = (await detail(ada, made.id)).dnsRecords.map(({ purpose, state }) => [
      purpose,
      state,
    ]);
    expect(states).toEqual([
      ["ownership", "pending"],
      ["dkim", "found"],
      ["return_path", "pending"],
      ["spf", "wrong"],
      ["dmarc", "pending"],
    ]);
  });
});
