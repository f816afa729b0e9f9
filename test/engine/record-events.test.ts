// Webhook events about records: one for each change, also after a crash.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { worker as advance } from "../../functions/queue/advance.ts";
import { worker as campaignWorker } from "../../functions/queue/campaigns.ts";
import { worker as fanOut } from "../../functions/queue/fan-out.ts";
import { worker as jobs } from "../../functions/queue/jobs.ts";
import { worker as lane } from "../../functions/queue/lane.ts";
import { remove, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import { readHealth } from "../../shared/domain/analytics/system-health.ts";
import { ContactRow } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contactStatus from "../../shared/domain/audience/contacts/contact-status.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import type { UpsertMode } from "../../shared/domain/audience/contacts/upsert-steps.ts";
import { upsertRows } from "../../shared/domain/audience/contacts/upserts.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as enrollmentListing from "../../shared/domain/automation/enrollment-listing.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import { pollBroadcast } from "../../shared/domain/campaigns/engine/poll-broadcast.ts";
import { mergeContacts } from "../../shared/domain/privacy/merge-contacts.ts";
import * as checks from "../../shared/domain/senders/domains/check-domain.ts";
import * as domains from "../../shared/domain/senders/domains/domains.ts";
import * as limiter from "../../shared/domain/sending/provider-calls/rate-limiter.ts";
import {
  type RecordEventType,
  recordEventTypes,
} from "../../shared/domain/webhooks/event-types.ts";
import { recordEventPayloads } from "../../shared/domain/webhooks/record-event-schemas.ts";
import {
  createCampaignSender,
  createDraft,
  insertListMembers,
  readCampaign,
} from "../support/campaigns.ts";
import { createContact, createTestSite, type TestSite } from "../support/contacts.ts";
import { crashAtEveryStep, crashAtSomeSteps, runUntilCrash } from "../support/crash-injection.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { enqueueDueEnrollments, enqueueDueWork, readDueIndex } from "../support/due-index.ts";
import { createForm, listSubmissions, submitForm } from "../support/forms.ts";
import { addEndpoint, type WebhookListener, workers } from "../support/outgoing-webhooks.ts";
import { createContacts, createSequence, createSequenceSender } from "../support/sequences.ts";
import { skippingPauses } from "../support/skipped-pauses.ts";
import {
  deadLetters,
  refusedText,
  runWorkers,
  useVirtualQueues,
} from "../support/virtual-queues.ts";

let dns: DnsServer;
beforeAll(async () => {
  process.env.ALLOW_LOOPBACK_WEBHOOKS = "on";
  await useVirtualQueues();
  dns = await startDnsServer({ records: {} });
  process.env.DNS_SERVERS = dns.address;
});
afterAll(() => {
  dns.close();
  expect(deadLetters).toEqual([]);
});

interface Body {
  event: RecordEventType;
  contactId: number | null;
  email: string | null;
  timestamp: string;
  campaignId?: number;
  data: Record<string, unknown>;
}

const listenTo = (
  caller: TestSite["caller"],
  events: RecordEventType[] = [...recordEventTypes],
): Promise<WebhookListener> => addEndpoint(caller, 200, events);

const allWorkers = [...workers, advance, campaignWorker, fanOut, jobs, lane];
const runAll = (options: Parameters<typeof runWorkers>[1]): Promise<void> =>
  runWorkers(allWorkers, {
    ...options,
    runSchedules: async (entries) => {
      await Promise.all([enqueueDueWork(entries), enqueueDueEnrollments(entries)]);
    },
  });

/** Delivers what is due within the time. Returns the bodies without repetitions, by time. */
async function receive({ endpoint }: WebhookListener, forSeconds = 0): Promise<Body[]> {
  await runAll({ forSeconds });
  const byId = new Map(
    endpoint.deliveries.map(({ headers, body }) => [headers["webhook-id"], body]),
  );
  const bodies = [...byId.values()].map((body) => JSON.parse(body) as Body);
  for (const body of bodies) {
    const schema = recordEventPayloads[body.event].strict();
    expect(schema.parse(body)).toEqual(body);
  }
  return bodies.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
}

/** A site with an endpoint. */
async function createWatchedSite(events?: RecordEventType[]) {
  const site = await createTestSite();
  return { ...site, listener: await listenTo(site.caller, events) };
}

const rowOf = (email: string, more: object = {}) => ContactRow.parse({ email, ...more });
const upsert = (site: TestSite, rows: ContactRow[], mode: UpsertMode = "upsert") =>
  upsertRows(site, rows, { mode });

describe("text that a queue refuses", () => {
  test("reaches the endpoint if it only has unusual characters", async () => {
    const site = await createWatchedSite();
    const firstName = "😀 \u{10ffff} \uffff \ufffe";
    await createContact(site, "ada@example.com", { firstName });
    expect(await receive(site.listener)).toMatchObject([{ data: { firstName } }]);
  });

  test("does not hold other events of the same change back, and is shown with its age", async () => {
    const site = await createWatchedSite();
    const emails = Array.from({ length: 7 }, (_, i) => `c${i}@example.com`);
    await upsert(
      site,
      emails.map((email, i) => rowOf(email, { firstName: i === 3 ? refusedText : "Ada" })),
    );
    const others = emails.filter((_, i) => i !== 3);
    const bodies = await receive(site.listener, 1800);
    expect(bodies.map(({ email }) => email).sort()).toEqual(others);
    expect(site.listener.endpoint.deliveries).toHaveLength(others.length);
    const { dueWork, problems } = await readHealth();
    expect(dueWork.find(({ kind }) => kind === "outbox")?.lateSeconds).toBeGreaterThan(1500);
    expect(problems).toContainEqual({
      code: "late_work",
      message: expect.stringMatching(/^Work of the kind outbox has been due for 2\d minutes\./),
    });
    const left = (await readDueIndex()).filter(({ duepk }) => duepk.startsWith("DUE#OUTBOX"));
    expect(left).toHaveLength(1);
    await writeMany(left.map((entry) => remove(entry)));
  });
});

describe("contacts", () => {
  test("a created contact sends contact.created with its fields", async () => {
    const site = await createWatchedSite();
    const { id, createdAt } = await createContact(site, "Ada@example.com", {
      firstName: "Ada",
      customFields: { plan: "pro" },
    });
    const [body, ...others] = await receive(site.listener);
    expect(others).toEqual([]);
    expect(body).toEqual({
      event: "contact.created",
      sendId: null,
      contactId: id,
      email: "Ada@example.com",
      timestamp: expect.any(String),
      siteId: site.siteId,
      data: {
        firstName: "Ada",
        lastName: null,
        phone: null,
        company: null,
        timezone: null,
        locale: null,
        customFields: { plan: "pro" },
        status: "subscribed",
        source: null,
        externalId: null,
        createdAt,
      },
    });
  });

  test("a merge sends contact.deleted with the other contact, and contact.updated", async () => {
    const site = await createWatchedSite(["contact.updated", "contact.deleted"]);
    const { caller } = site;
    const source = await createContact(site, "old@example.com", { company: "Shop" });
    const target = await createContact(site, "ada@example.com");
    await mergeContacts(caller, source.id, target.id);
    const bodies = await receive(site.listener);
    expect(bodies.toSorted((a, b) => (a.event < b.event ? -1 : 1))).toMatchObject([
      { event: "contact.deleted", contactId: source.id, data: { mergedInto: target.id } },
      { event: "contact.updated", contactId: target.id, data: { changed: ["company"] } },
    ]);
  });

  test("a change sends contact.updated with the names of the changed fields", async () => {
    const site = await createWatchedSite(["contact.updated"]);
    const { id } = await createContact(site, "ada@example.com", { firstName: "Ada" });
    await contacts.change(site.caller, id, { firstName: "Ada", company: "Shop" });
    await contacts.change(site.caller, id, { company: "Shop" });
    await contacts.change(site.caller, id, { email: "ada@example.org" });
    expect(await receive(site.listener)).toMatchObject([
      { event: "contact.updated", data: { company: "Shop", changed: ["company"] } },
      { event: "contact.updated", email: "ada@example.org", data: { changed: ["email"] } },
    ]);
  });

  test("an unsubscription sends contact.unsubscribed once, by any way", async () => {
    const site = await createWatchedSite(["contact.unsubscribed"]);
    const created = await Promise.all(
      ["link", "api", "import", "suppressed"].map((name) =>
        createContact(site, `${name}@example.com`),
      ),
    );
    const [link, api, , suppressed] = await contacts.getByIds(
      site.orgId,
      created.map(({ id }) => id),
    );
    await contactStatus.setSubscription(link!, "unsubscribed");
    await contactStatus.setSubscription(link!, "unsubscribed");
    await contacts.change(site.caller, api!.id, { status: "unsubscribed" });
    await upsert(site, [rowOf("import@example.com", { status: "unsubscribed" })]);
    await suppressions.suppress(site.orgId, {
      email: "suppressed@example.com",
      reason: "bounce",
      detail: null,
      source: "test",
    });
    await contactStatus.setSubscription(suppressed!, "unsubscribed");
    await contacts.leaveSite(site.orgId, {
      siteId: site.siteId,
      email: "stranger@example.com",
      source: "link",
    });
    const names = (await receive(site.listener)).map(({ email }) => email!.split("@")[0]);
    expect(names.toSorted()).toEqual(["api", "import", "link", "stranger", "suppressed"]);
  });

  test("a suppression and its removal send contact.updated with the status", async () => {
    const site = await createWatchedSite(["contact.updated"]);
    await createContact(site, "ada@example.com");
    const suppression = { email: "ada@example.com", detail: null, source: "test" };
    await suppressions.suppress(site.orgId, { ...suppression, reason: "bounce" });
    await suppressions.remove(site.orgId, "ada@example.com");
    expect(await receive(site.listener)).toMatchObject([
      { data: { status: "suppressed", changed: ["status"] } },
      { data: { status: "subscribed", changed: ["status"] } },
    ]);
  });

  test("a deleted contact sends contact.deleted with its last fields", async () => {
    const site = await createWatchedSite(["contact.deleted"]);
    const { id } = await createContact(site, "ada@example.com", { firstName: "Ada" });
    await contacts.remove(site.caller, id);
    expect(await receive(site.listener)).toMatchObject([
      {
        event: "contact.deleted",
        contactId: id,
        email: "ada@example.com",
        data: { firstName: "Ada" },
      },
    ]);
  });

  test("an import sends an event for each new or changed contact", async () => {
    const site = await createWatchedSite(["contact.created", "contact.updated"]);
    const rows = Array.from({ length: 300 }, (_, i) => rowOf(`p${i}@example.com`));
    await upsert(site, rows);
    await upsert(site, [...rows.slice(0, 5), rowOf("p7@example.com", { firstName: "Bo" })]);
    const bodies = await receive(site.listener, 600);
    const created = bodies.filter(({ event }) => event === "contact.created");
    expect(new Set(created.map(({ email }) => email)).size).toBe(300);
    expect(created).toHaveLength(300);
    expect(bodies.filter(({ event }) => event === "contact.updated")).toMatchObject([
      { email: "p7@example.com", data: { changed: ["firstName"] } },
    ]);
  });

  test("an import writes nothing for events when no endpoint wants them", async () => {
    const stepsOf = async (events: RecordEventType[] | undefined) => {
      const site = events ? await createWatchedSite(events) : await createTestSite();
      const rows = Array.from({ length: 300 }, (_, i) => rowOf(`p${i}@example.com`));
      const { steps } = await runUntilCrash(Number.POSITIVE_INFINITY, "before", () =>
        upsert(site, rows),
      );
      return Map.groupBy(steps, (name) => name);
    };
    const [without, other, watched] = [
      await stepsOf(undefined),
      await stepsOf(["domain.verified"]),
      await stepsOf(["contact.created"]),
    ];
    const writes = (steps: Map<string, string[]>, name: string) => steps.get(name)?.length ?? 0;
    for (const name of ["PutItem", "SendMessageBatch", "DeleteItem"])
      expect([name, writes(other, name)]).toEqual([name, writes(without, name)]);
    expect(writes(other, "Query") - writes(without, "Query")).toBeLessThanOrEqual(0);
    // 300 contacts take about 4 transactions in each of the 16 shards at most.
    expect(writes(watched, "SendMessageBatch")).toBeLessThan(25);
  });
});

const expectMissing = (error: unknown) => expect(error).toMatchObject({ kind: "missing" });

/** `publishRecord` adds the ownership record to the DNS. */
async function addDomain(caller: TestSite["caller"]) {
  const name = `d${crypto.randomUUID().slice(0, 8)}.com`;
  const { id } = await domains.add(caller, domains.NewDomain.parse({ name }));
  const { dnsRecords } = await domains.findDetail(caller, id);
  const { name: host, value } = dnsRecords.find(({ purpose }) => purpose === "ownership")!;
  const publishRecord = () => {
    dns.zone.records[`TXT ${host}`] = [value!];
  };
  return { id, name, publishRecord };
}

/** Runs the change with a crash, and then what other workers do within an hour. */
async function receiveAfterCrash(
  crash: (work: () => Promise<unknown>) => Promise<unknown>,
  listener: WebhookListener,
  work: () => Promise<unknown>,
): Promise<Body[]> {
  await crash(work);
  return receive(listener, 3600);
}

describe("after a crash at any step", () => {
  test("a stored contact has sent one event, and one that is not stored none", async () => {
    await crashAtSomeSteps(async (crash) => {
      const site = await createWatchedSite(["contact.created"]);
      const bodies = await receiveAfterCrash(crash, site.listener, () =>
        createContact(site, "ada@example.com"),
      );
      const stored = await contactStatus.getContactsByEmail(site.orgId, ["ada@example.com"]);
      expect(bodies.map(({ contactId }) => contactId)).toEqual(stored.map(({ id }) => id));
    });
  });

  test("each contact of an import has sent one event", async () => {
    const steps = await crashAtSomeSteps(async (crash) => {
      const site = await createWatchedSite(["contact.created"]);
      const emails = Array.from({ length: 40 }, (_, i) => `p${i}@example.com`);
      const rows = emails.map((email) => rowOf(email));
      const bodies = await receiveAfterCrash(crash, site.listener, () => upsert(site, rows));
      const stored = await contactStatus.getContactsByEmail(site.orgId, emails);
      expect(bodies.map(({ email }) => email).toSorted()).toEqual(
        stored.map(({ email }) => email).toSorted(),
      );
    });
    expect(steps).toEqual(expect.arrayContaining(["before TransactWriteItems"]));
  });

  test("a stored submission of a form has sent one event", async () => {
    await crashAtSomeSteps(async (crash) => {
      const site = await createWatchedSite(["form.submitted"]);
      const form = await createForm(site);
      const bodies = await receiveAfterCrash(crash, site.listener, () =>
        submitForm(form.id, { email: "ada@example.com" }),
      );
      const stored = await listSubmissions(site, form.id);
      expect(bodies.map(({ data }) => data.submissionId)).toEqual(stored.map(({ id }) => id));
    });
  });

  test("each contact in a sequence has sent one event when it entered and one at the end", async () => {
    await crashAtSomeSteps(async (crash) => {
      const sender = await createSequenceSender();
      const listener = await listenTo(sender.caller, ["sequence.enrolled", "sequence.completed"]);
      const contactIds = await createContacts(sender, 3);
      const { id } = await createSequence(sender, ["Welcome"]);
      const bodies = await receiveAfterCrash(crash, listener, () =>
        enrollments.enroll(sender.caller, id, { contactIds }),
      );
      const { byStatus } = await enrollmentListing.getCounts(sender.orgId, id);
      const { active, completed } = byStatus;
      const countOf = (type: RecordEventType) =>
        bodies.filter(({ event }) => event === type).length;
      expect([active, countOf("sequence.completed"), countOf("sequence.enrolled")]).toEqual([
        0,
        completed,
        completed,
      ]);
    });
  });

  test("a campaign has sent one event when it is paused, and one when it is sent", async () => {
    await crashAtSomeSteps(async (crash) => {
      const sender = await createCampaignSender();
      const listener = await listenTo(sender.caller, ["campaign.sent", "campaign.paused"]);
      await insertListMembers(sender, 2);
      const { id } = await createDraft(sender);
      await actions.sendNow(sender.caller, id);
      await crash(() => actions.pause(sender.caller, id));
      const { status } = await readCampaign(sender, id);
      if (status === "paused") await actions.resume(sender.caller, id);
      const types = (await receive(listener, 3600)).map(({ event }) => event);
      const paused = status === "paused" ? ["campaign.paused"] : [];
      expect(types.toSorted()).toEqual([...paused, "campaign.sent"]);
    });
  });

  test("a deleted contact has sent one event", async () => {
    const steps = await crashAtEveryStep(async (crash) => {
      const site = await createWatchedSite(["contact.deleted"]);
      const { id } = await createContact(site, "ada@example.com");
      await crash(() => contacts.remove(site.caller, id));
      // The first request may have deleted it.
      await contacts.remove(site.caller, id).catch(expectMissing);
      expect(await receive(site.listener, 3600)).toMatchObject([{ contactId: id }]);
    });
    expect(steps).toContain("after TransactWriteItems");
  });

  test("a campaign has sent one event when it has ended", async () => {
    const sender = await createCampaignSender();
    const listener = await listenTo(sender.caller, ["campaign.sent"]);
    await insertListMembers(sender, 1);
    const sentIds: number[] = [];
    const steps = await crashAtEveryStep(async (crash) => {
      const { id } = await createDraft(sender);
      const poll = () => pollBroadcast({ orgId: sender.caller.orgId, kind: "campaign", id });
      await actions.sendNow(sender.caller, id);
      await runWorkers([fanOut, lane]);
      // Contacts who moved are read last.
      await poll();
      await runWorkers([fanOut, lane]);
      await crash(poll);
      sentIds.push(id);
      const bodies = await receive(listener, 600);
      expect(bodies.map(({ campaignId }) => campaignId)).toEqual(sentIds);
    });
    expect(steps).toContain("after TransactWriteItems");
    await sender.provider.stop();
  });

  test("a verified domain has sent one event", async () => {
    const steps = await crashAtEveryStep(async (crash) => {
      const { caller, orgId, listener } = await createWatchedSite(["domain.verified"]);
      const { id, publishRecord } = await addDomain(caller);
      publishRecord();
      await crash(() => checks.checkDomain(orgId, id));
      await checks.checkDomain(orgId, id);
      expect(await receive(listener, 3600)).toMatchObject([{ data: { domainId: id } }]);
    });
    expect(steps).toContain("after TransactWriteItems");
  });

  test("a sending config that a failing provider paused has sent one event", async () => {
    const steps = await crashAtEveryStep(async (crash) => {
      const { caller, configId } = await createSequenceSender();
      const listener = await listenTo(caller, ["sending_config.paused"]);
      const fail = () =>
        limiter.recordHeldSend(caller.orgId, configId, { reason: "fault", seconds: 1 });
      for (let n = 0; n < 4; n++) await fail();
      await crash(fail);
      // The provider still fails.
      await fail();
      expect(await receive(listener, 3600)).toMatchObject([
        { data: { sendingConfigId: configId } },
      ]);
    });
    expect(steps).toContain("after TransactWriteItems");
  });

  test("a crash of the worker that finds the events loses none", async () => {
    await crashAtSomeSteps(async (crash) => {
      const site = await createWatchedSite(["contact.created"]);
      const create = (email: string) => () => createContact(site, email);
      const { steps } = await runUntilCrash(Number.POSITIVE_INFINITY, "before", create("a@b.com"));
      const enqueueStep = steps.indexOf("SendMessageBatch") + 1;
      const { crashed } = await runUntilCrash(enqueueStep, "before", create("c@d.com"));
      expect(crashed).toBe(true);
      let isFirst = true;
      await runAll({
        forSeconds: 3600,
        crashHook: (work) => {
          const isCrash = isFirst;
          isFirst = false;
          return isCrash ? crash(work) : work();
        },
      });
      const bodies = await receive(site.listener);
      expect(bodies.map(({ email }) => email)).toEqual(["a@b.com", "c@d.com"]);
    });
  });
});

describe("campaigns", () => {
  test("send campaign.paused and campaign.sent", async () => {
    const sender = await createCampaignSender();
    const listener = await listenTo(sender.caller, ["campaign.sent", "campaign.paused"]);
    await insertListMembers(sender, 3);
    const { id } = await createDraft(sender);
    await actions.sendNow(sender.caller, id);
    await actions.pause(sender.caller, id);
    await actions.resume(sender.caller, id);
    expect(await receive(listener, 3600)).toMatchObject([
      { event: "campaign.paused", campaignId: id, data: { name: "News", status: "paused" } },
      { event: "campaign.sent", campaignId: id, siteId: sender.siteId, data: { status: "sent" } },
    ]);
  });
});

describe("sequences", () => {
  test("send sequence.enrolled and sequence.completed for each contact", async () => {
    const sender = await createSequenceSender();
    const listener = await listenTo(sender.caller, ["sequence.enrolled", "sequence.completed"]);
    const [byApi = 0, ...others] = await createContacts(sender, 60);
    const { id } = await createSequence(sender, ["Welcome"]);
    await enrollments.enroll(sender.caller, id, { contactIds: [byApi, ...others] });
    await enrollments.enroll(sender.caller, id, { contactIds: [byApi] });
    const bodies = await receive(listener, 120);
    for (const type of ["sequence.enrolled", "sequence.completed"]) {
      const ofType = bodies.filter(({ event }) => event === type);
      const contactIds = ofType.map(({ contactId }) => contactId).toSorted();
      expect(contactIds).toEqual([byApi, ...others].toSorted());
    }
    expect(bodies[0]).toMatchObject({
      sequenceId: id,
      data: { enrollmentId: expect.any(Number) },
    });
  });

  test("that a tag starts send sequence.enrolled", async () => {
    const sender = await createSequenceSender();
    const listener = await listenTo(sender.caller, ["sequence.enrolled"]);
    const { id } = await createSequence(sender, ["Welcome"], {
      triggerType: "tag_add",
      triggerConfig: { tagName: "vip" },
    });
    const { id: contactId } = await createContact(sender, "ada@example.com", { tags: ["vip"] });
    expect(await receive(listener)).toMatchObject([{ sequenceId: id, contactId }]);
  });
});

test("a submitted form sends form.submitted once, also if it is submitted twice", async () => {
  const site = await createWatchedSite(["form.submitted"]);
  const form = await createForm(site);
  const given = { email: "ada@example.com", firstName: "Ada" };
  await submitForm(form.id, given);
  await submitForm(form.id, given);
  expect(await receive(site.listener)).toMatchObject([
    {
      event: "form.submitted",
      email: "ada@example.com",
      siteId: site.siteId,
      formId: form.id,
      data: { status: "accepted", fields: { firstName: "Ada" } },
    },
  ]);
});

test("a domain sends domain.verified when its record is found first", async () => {
  const { caller, orgId, listener } = await createWatchedSite(["domain.verified"]);
  const { id, name, publishRecord } = await addDomain(caller);
  await checks.checkDomain(orgId, id);
  publishRecord();
  await checks.checkDomain(orgId, id);
  await checks.checkDomain(orgId, id);
  expect(await receive(listener)).toMatchObject([{ data: { domainId: id, name } }]);
});

test("a failing provider sends sending_config.paused once, until it accepts mail", async () => {
  const { caller, siteId, configId } = await createSequenceSender();
  const listener = await listenTo(caller, ["sending_config.paused"]);
  const fail = async (times: number) => {
    for (let n = 0; n < times; n++)
      await limiter.recordHeldSend(caller.orgId, configId, { reason: "fault", seconds: 1 });
  };
  expect(siteId).toBeGreaterThan(0);
  await fail(4);
  expect(await receive(listener)).toEqual([]);
  await fail(3);
  expect(await receive(listener)).toMatchObject([{ data: { sendingConfigId: configId } }]);
  await limiter.resetBreaker(caller.orgId, configId);
  await fail(5);
  expect(await receive(listener)).toHaveLength(2);
});

test("a lane whose provider fails sends sending_config.paused once for each outage", async () => {
  const sender = await createCampaignSender();
  const listener = await listenTo(sender.caller, ["sending_config.paused"]);
  await insertListMembers(sender, 3);
  for (const outages of [1, 2]) {
    let failing = true;
    sender.provider.faultFor = () =>
      failing ? { status: 503, headers: { "retry-after": "1" } } : undefined;
    const { id } = await createDraft(sender);
    await actions.sendNow(sender.caller, id);
    // Skipped pauses of other timers pass too, more of them on a slow machine.
    expect(await skippingPauses(() => receive(listener, 3600))).toHaveLength(outages);
    failing = false;
    expect(await skippingPauses(() => receive(listener, 3600))).toHaveLength(outages);
    expect(await readCampaign(sender, id)).toMatchObject({ status: "sent" });
  }
});
