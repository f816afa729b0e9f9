// Domains from the request that adds them to the worker that looks, with the clock moved as far as it takes.
import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { worker as checkDomain } from "../../functions/queue/check-domain.ts";
import { createTable } from "../../infra/local/table.ts";
import * as clock from "../../shared/clock.ts";
import * as checks from "../../shared/domain/domains/checks.ts";
import * as names from "../../shared/domain/domains/names.ts";
import * as domains from "../../shared/domain/domains.ts";
import * as due from "../../shared/domain/sending/due.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import { claim, get } from "../../shared/doors/table.ts";
import { dueShards, keys } from "../../shared/keys.ts";
import { type Account, account } from "../support/callers.ts";
import { type DnsServer, serveZone } from "../support/dns-zone.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import { atSomeSteps } from "../support/killer.ts";
import { opened, settle as settleAll, waiting } from "../support/virtual-queues.ts";

let dns: DnsServer;
beforeAll(async () => {
  await opened();
  dns = await serveZone({ records: {} });
  process.env.DNS_SERVERS = dns.address;
});
afterAll(() => dns.close());
// A table for each: whoever moves the clock by a month has no others to wait for.
beforeEach(async () => {
  waiting.length = 0;
  process.env.TABLE_NAME = `domains-${randomUUID()}`;
  await createTable(new DynamoDBClient({}), process.env.TABLE_NAME);
});
afterEach(letGo);
/** Of all that may be due nothing else is. */
const settle = (options: { forSeconds?: number } = {}) =>
  settleAll([checkDomain], {
    ...options,
    tick: async () => {
      await Promise.all(Array.from({ length: dueShards }, (_, shard) => due.drain("DOMAIN", shard)));
    },
  });

type Detail = domains.DomainDetail;
const add = ({ caller }: Pick<Account, "caller">, name: string) => domains.add(caller, domains.NewDomain.parse({ name }));
const detail = ({ caller }: Pick<Account, "caller">, id: number) => domains.detail(caller, id);
const fresh = () => `d${randomUUID().slice(0, 8)}.com`;
const ownershipOf = ({ dnsRecords }: Detail) => dnsRecords.find(({ purpose }) => purpose === "ownership")!;
const publish = (domain: Detail) => {
  const { name, value } = ownershipOf(domain);
  dns.zone.records[`TXT ${name}`] = [...(dns.zone.records[`TXT ${name}`] ?? []), value!];
};
const withdraw = (domain: Detail) => {
  delete dns.zone.records[`TXT ${ownershipOf(domain).name}`];
};
const days = (n: number) => settle({ forSeconds: n * 86_400 });
const holderOf = async (name: string) => (await get<{ orgId: number }>(keys.domainHolder(name)))?.orgId;

describe("verification", () => {
  test("a domain is pending until its record is there, and verified soon after", async () => {
    const ada = await account();
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
    expect(await detail(ada, made.id)).toMatchObject({ status: "pending", lastCheckedAt: expect.any(String) });
    publish(made);
    await settle({ forSeconds: 120 });
    const verified = await detail(ada, made.id);
    expect(verified).toMatchObject({ status: "verified", verifiedAt: expect.any(String), statusReason: null });
    expect(ownershipOf(verified).state).toBe("found");
    expect(await holderOf(made.name)).toBe(ada.caller.orgId);
  });

  test("one that never comes is given up after 30 days, and looked for again when it is added again", async () => {
    const ada = await account();
    const made = await add(ada, fresh());
    await days(31);
    expect(await detail(ada, made.id)).toMatchObject({ status: "failed", nextCheckAt: null });
    const before = dns.asked.length;
    await days(10);
    expect(dns.asked.length).toBe(before);
    publish(made);
    expect(await add(ada, made.name)).toMatchObject({ id: made.id, status: "pending" });
    await settle();
    expect((await detail(ada, made.id)).status).toBe("verified");
  });

  test("a verified one is looked at daily; one that is lost says so, is held three days more, and is anybody's then", async () => {
    const [ada, bob] = [await account(), await account()];
    const made = await add(ada, fresh());
    publish(made);
    await days(3);
    expect((await detail(ada, made.id)).status).toBe("verified");
    withdraw(made);
    await days(1.1);
    expect(await detail(ada, made.id)).toMatchObject({ status: "lost", statusReason: expect.stringContaining("gone") });
    await expect(add(bob, made.name)).rejects.toMatchObject({ kind: "conflict", code: "domain_taken" });
    expect((await names.find(ada.caller.orgId, made.name))!.verified).toBe(true);
    await days(3.1);
    expect((await detail(ada, made.id)).status).toBe("failed");
    expect((await names.find(ada.caller.orgId, made.name))!.verified).toBe(false);
    const his = await add(bob, made.name);
    publish(his);
    await settle();
    expect((await detail(bob, his.id)).status).toBe("verified");
    expect(await holderOf(made.name)).toBe(bob.caller.orgId);
  });

  test("DNS that does not answer takes nothing away", async () => {
    const ada = await account();
    const made = await add(ada, fresh());
    publish(made);
    await settle();
    dns.zone.troubles = { [`_pennymail.${made.name}`]: "servfail" };
    await days(6);
    dns.zone.troubles = {};
    const still = await detail(ada, made.id);
    expect(still.status).toBe("verified");
    expect(ownershipOf(still).state).toBe("found");
  });
});

describe("whose it is", () => {
  test("of two that prove it at the same time one holds it, and the other is told why not", async () => {
    const [ada, bob] = [await account(), await account()];
    const name = fresh();
    const [hers, his] = [await add(ada, name), await add(bob, name)];
    expect(ownershipOf(hers).value).not.toBe(ownershipOf(his).value);
    publish(hers);
    publish(his);
    await settle();
    const both = [await detail(ada, hers.id), await detail(bob, his.id)];
    expect(both.map(({ status }) => status).toSorted()).toEqual(["pending", "verified"]);
    expect(both.find(({ status }) => status === "pending")!.statusReason).toContain("Another organization");
    expect(both.find(({ status }) => status === "pending")!.nextCheckAt).not.toBeNull();
    expect(await holderOf(name)).toBe(both[0]!.status === "verified" ? ada.caller.orgId : bob.caller.orgId);
  });

  test("the record of one organization proves nothing for another", async () => {
    const [ada, bob] = [await account(), await account()];
    const name = fresh();
    const [hers, his] = [await add(ada, name), await add(bob, name)];
    publish(hers);
    await settle();
    const record = ownershipOf(await detail(bob, his.id));
    expect(record).toMatchObject({ state: "wrong", found: [ownershipOf(hers).value] });
  });

  test("deleted it is let go at once, and a check that is under way brings nothing back", async () => {
    const [ada, bob] = [await account(), await account()];
    const made = await add(ada, fresh());
    publish(made);
    await settle();
    await domains.remove(ada.caller, made.id);
    await settle({ forSeconds: 2 * 86_400 });
    expect(await holderOf(made.name)).toBeUndefined();
    expect(await names.find(ada.caller.orgId, made.name)).toBeUndefined();
    expect((await add(bob, made.name)).status).toBe("pending");
    expect((await domains.list(ada.caller, { limit: 10 })).pagination.total).toBe(0);
  });

  test("who is slow with what was seen before changes nothing of what is known since", async () => {
    const ada = await account();
    const made = await add(ada, fresh());
    const look = () => checks.check(ada.caller.orgId, made.id);
    const slow = heldUp(TransactWriteCommand);
    const late = look();
    await slow.reached;
    publish(made);
    await look();
    slow.release();
    await late;
    expect((await detail(ada, made.id)).status).toBe("verified");
    expect(await holderOf(made.name)).toBe(ada.caller.orgId);
  });

  test("one that was given up and is found at the moment of being added again stays verified", async () => {
    const ada = await account();
    const made = await add(ada, fresh());
    await days(31);
    publish(made);
    const slow = heldUp(UpdateCommand);
    const late = add(ada, made.name);
    await slow.reached;
    await checks.check(ada.caller.orgId, made.id);
    slow.release();
    expect((await late).status).toBe("verified");
  });

  test("two ticks that overlap send one after it", async () => {
    const ada = await account();
    await add(ada, fresh());
    clock.advance(600);
    waiting.length = 0;
    const drained = () => Promise.all(Array.from({ length: dueShards }, (_, shard) => due.drain("DOMAIN", shard)));
    const slow = heldUp(UpdateCommand);
    const late = drained();
    await slow.reached;
    await drained();
    slow.release();
    await late;
    expect(waiting).toHaveLength(1);
  });

  test("nobody lets go of what another holds", async () => {
    const [ada, bob] = [await account(), await account()];
    const made = await add(ada, fresh());
    publish(made);
    await settle();
    const his = { id: (await add(bob, fresh())).id, name: made.name };
    expect(await claim(checks.releasing(his))).toBe(false);
    expect(await holderOf(made.name)).toBe(ada.caller.orgId);
  });

  test("an organization has a name once, however often and however much at once it is added", async () => {
    const ada = await account();
    const name = fresh();
    const all = await Promise.all(Array.from({ length: 6 }, () => add(ada, name)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect((await domains.list(ada.caller, { limit: 10 })).pagination.total).toBe(1);
  });

  test("what nobody can own is refused", async () => {
    const ada = await account();
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
    const others = ["https://shop.example", "shop.example/x", "shop.example?x", "x@shop.example", "shop.example:25", "shop%2eexample.com"];
    for (const name of [...names, ...others])
      await expect(add(ada, name), name).rejects.toMatchObject({ kind: "invalid", details: [{ path: "name" }] });
  });

  test("an international name is kept as DNS has it", async () => {
    expect((await add(await account(), "Bücher-Müller.example")).name).toBe("xn--bcher-mller-thbg.example");
  });
});

describe("whoever dies", () => {
  const onlyOnce = async ({ caller }: Account, id: number) => {
    const { items, pagination } = await domains.list(caller, { limit: 10 });
    expect([items.map((one) => one.id), pagination.total]).toEqual([[id], 1]);
  };

  test("while adding has a domain that is whole, or none", async () => {
    await atSomeSteps(3, async (kill) => {
      const ada = await account();
      const name = fresh();
      await kill(() => add(ada, name));
      const made = await add(ada, name);
      await onlyOnce(ada, made.id);
      publish(made);
      await settle({ forSeconds: 120 });
      expect((await detail(ada, made.id)).status).toBe("verified");
    });
  });

  test("while looking has it looked at again", async () => {
    await atSomeSteps(3, async (kill) => {
      const ada = await account();
      const made = await add(ada, fresh());
      publish(made);
      await kill(() => checks.check(ada.caller.orgId, made.id));
      await settle({ forSeconds: 600 });
      expect((await detail(ada, made.id)).status).toBe("verified");
      expect((await names.find(ada.caller.orgId, made.name))!.verified).toBe(true);
      expect(await holderOf(made.name)).toBe(ada.caller.orgId);
    });
  });

  test("while deleting has it whole, or gone", async () => {
    await atSomeSteps(3, async (kill) => {
      const ada = await account();
      const made = await add(ada, fresh());
      publish(made);
      await settle();
      await kill(() => domains.remove(ada.caller, made.id));
      const there = (await domains.list(ada.caller, { limit: 10 })).items.length === 1;
      expect([there, await holderOf(made.name)]).toEqual(there ? [true, ada.caller.orgId] : [false, undefined]);
      if (there) await domains.remove(ada.caller, made.id);
      expect(await names.find(ada.caller.orgId, made.name)).toBeUndefined();
    });
  });
});

describe("mail", () => {
  const put = async (who: Account["caller"], fromEmail: string) =>
    sendingConfigs.create(who, sendingConfigs.NewSendingConfig.parse({ provider: "resend", fromEmail, credentials: { apiKey: "re_x" } }));

  test("a verified domain lets its sending configs send for all its addresses, verified or not", async () => {
    const ada = await account();
    const made = await add(ada, fresh());
    const config = await put(ada.caller, `news@${made.name}`);
    const other = `else@${made.name}`;
    await expect(sendingConfigs.forSender(ada.caller, other)).rejects.toMatchObject({ code: "no_sending_config" });
    publish(made);
    await settle();
    expect((await sendingConfigs.forSender(ada.caller, other)).id).toBe(config.id);
    await expect(sendingConfigs.forSender(ada.caller, `else@mail.${made.name}`)).rejects.toMatchObject({ code: "no_sending_config" });
    await expect(sendingConfigs.forSender((await account()).caller, other)).rejects.toMatchObject({ code: "no_sending_config" });
  });

  test("records of the providers in use are looked at beside our own", async () => {
    const ada = await account();
    const made = await add(ada, fresh());
    await put(ada.caller, `news@${made.name}`);
    dns.zone.records[`TXT resend._domainkey.${made.name}`] = ["p=MIGf"];
    dns.zone.records[`TXT ${made.name}`] = ["v=spf1 -all", "v=spf1 ~all"];
    await add(ada, made.name);
    await settle();
    const states = (await detail(ada, made.id)).dnsRecords.map(({ purpose, state }) => [purpose, state]);
    expect(states).toEqual([
      ["ownership", "pending"],
      ["dkim", "found"],
      ["return_path", "pending"],
      ["spf", "wrong"],
      ["dmarc", "pending"],
    ]);
  });
});
