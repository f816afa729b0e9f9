// Messages of every queue that an operator redrives from a dead-letter queue. A worker crashes while
// it handles a message, and the message comes back twice, each time with a new id. The result must
// be the same as without a crash.
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { workers } from "../../functions/queue-workers.ts";
import { startKmsAndSecrets } from "../../infra/local/engines/kms-and-secrets.ts";
import { query } from "../../shared/adapters/dynamodb/table.ts";
import { enqueue } from "../../shared/adapters/sqs/enqueue.ts";
import * as clock from "../../shared/clock.ts";
import * as exports from "../../shared/domain/analytics/exports/exports.ts";
import * as schedules from "../../shared/domain/analytics/report-schedules.ts";
import * as contactFields from "../../shared/domain/audience/contacts/contact-fields.ts";
import { findItem } from "../../shared/domain/audience/contacts/contacts.ts";
import * as fieldConversions from "../../shared/domain/audience/contacts/field-conversions.ts";
import * as memberships from "../../shared/domain/audience/groups/group-members.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { NewImport } from "../../shared/domain/audience/imports/import-record.ts";
import * as imports from "../../shared/domain/audience/imports/imports.ts";
import * as leadScores from "../../shared/domain/audience/scoring/lead-scores.ts";
import type { ChainLink } from "../../shared/domain/audit/chain.ts";
import { recordEntry } from "../../shared/domain/audit/entries.ts";
import { verify } from "../../shared/domain/audit/verify.ts";
import { NewContactAction } from "../../shared/domain/automation/contact-actions/action-schema.ts";
import * as actions from "../../shared/domain/automation/contact-actions/contact-actions.ts";
import * as enrollmentListing from "../../shared/domain/automation/enrollment-listing.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import * as campaignActions from "../../shared/domain/campaigns/campaign-actions.ts";
import { drain } from "../../shared/domain/due-work.ts";
import { mergeContacts } from "../../shared/domain/privacy/merge-contacts.ts";
import { enqueueEvents } from "../../shared/domain/webhooks/enqueue-events.ts";
import { queueSystemMail } from "../../shared/kernel/system-mail-queue.ts";
import { dueShards, ranges } from "../../shared/keys.ts";
import { jobSeconds, queues } from "../../shared/queues.ts";
import { createAccount } from "../support/accounts.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  findShardWithContacts,
  insertListMembers,
  readCampaign,
  readConsistentNumbers,
} from "../support/campaigns.ts";
import {
  createContact,
  createTestSite,
  insertContacts,
  readContactCount,
  readGroupMembers,
} from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import {
  type DueEntry,
  enqueueDueEnrollments,
  enqueueDueWork,
  readDueIndex,
} from "../support/due-index.ts";
import { type FakeProvider, startFakeProvider } from "../support/fake-provider.ts";
import { createForm, findContactByEmail, listSubmissions, submitForm } from "../support/forms.ts";
import { createEvents, createListener } from "../support/outgoing-webhooks.ts";
import {
  createSender,
  listAllSends,
  send,
  sendBatch,
  type TestSender,
} from "../support/sending.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  listSubjectsTo,
} from "../support/sequences.ts";
import {
  deadLetters,
  pendingMessages,
  runWorkers,
  useVirtualQueues,
  type VirtualMessage,
} from "../support/virtual-queues.ts";

let systemProvider: FakeProvider;
let vault: { endpoint: string; stop(): Promise<void> };
beforeAll(async () => {
  await useVirtualQueues();
  systemProvider = await startFakeProvider("postmark");
  vault = await startKmsAndSecrets({
    keyFile: undefined,
    secrets: { "system-sender": '{"apiKey":"token"}' },
    credentials: {
      accessKeyId: process.env.AWS_ACCESS_KEY_ID!,
      secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY!,
    },
  });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SECRETS_MANAGER: vault.endpoint,
    SYSTEM_SENDER: "postmark:system@pennymail.example",
    SYSTEM_SENDER_SECRET: "system-sender",
    ALLOW_LOOPBACK_WEBHOOKS: "on",
  });
});
afterAll(async () => {
  await Promise.all([systemProvider.stop(), vault.stop()]);
});

type QueueName = keyof typeof queues;
type JobName = keyof typeof jobSeconds;
type Body = Record<string, unknown>;

interface Scene {
  /** Whether the worker crashes while it handles this message of the queue. */
  isMeant?(body: Body): boolean;
  /** Reads what the work led to, without ids and times. */
  readResult(): Promise<unknown>;
}

interface Scenario {
  queue: QueueName;
  job?: JobName;
  /** Causes a message of the queue, if need be through workers of other queues. */
  prepare(): Promise<Scene>;
}

/** A provider with idempotency keys, so that no mail is uncertain after a crash. */
const provider = "resend";
const ann = "ann@example.com";

const stopLater = <Sender extends Pick<TestSender, "provider">>(sender: Sender): Sender => {
  onTestFinished(() => sender.provider.stop());
  return sender;
};

const readMails = async (sender: TestSender) => ({
  recipients: sender.provider.mails.map(({ to }) => to).toSorted(),
  statuses: (await listAllSends(sender)).map(({ status }) => status),
});

async function startCampaign(): Promise<{ sender: CampaignSender; readResult(): Promise<object> }> {
  const sender = stopLater(await createCampaignSender(provider));
  await insertListMembers(sender, 16);
  const { id } = await createDraft(sender);
  await campaignActions.sendNow(sender.caller, id);
  const readResult = async () => ({
    recipients: new Set(sender.provider.mails.map(({ to }) => to)).size,
    mails: sender.provider.mails.length,
    status: (await readCampaign(sender, id)).status,
    totals: await readConsistentNumbers(sender, id),
  });
  return { sender, readResult };
}

const scenarios: Scenario[] = [
  {
    queue: "send",
    async prepare() {
      const sender = stopLater(await createSender(provider));
      await send(sender, { to: ann });
      return { readResult: () => readMails(sender) };
    },
  },
  {
    queue: "drain",
    async prepare() {
      const sender = stopLater(await createSender(provider));
      await send(sender, { to: ann });
      // The message was lost. A sweep puts the send on the due index.
      pendingMessages.length = 0;
      clock.advanceClock(900);
      for (let shard = 0; shard < dueShards; shard++) await drain("SWEEP", shard);
      clock.advanceClock(1);
      await enqueueDueWork(await readDueIndex());
      return { isMeant: ({ what }) => what === "SEND", readResult: () => readMails(sender) };
    },
  },
  {
    queue: "lane",
    async prepare() {
      const sender = stopLater(await createSender(provider));
      await sendBatch(sender, [{ to: ann }, { to: "bob@example.com" }, { to: "cy@example.com" }]);
      return { readResult: () => readMails(sender) };
    },
  },
  { queue: "campaigns", prepare: startCampaign },
  {
    queue: "fanOut",
    async prepare() {
      const { sender, readResult } = await startCampaign();
      const meant = await findShardWithContacts(sender);
      return { isMeant: ({ shard }) => shard === meant, readResult };
    },
  },
  {
    queue: "forward",
    async prepare() {
      const { caller, endpoint, deliveries } = await createListener();
      await enqueueEvents(caller.orgId, createEvents(3));
      const readResult = async () => ({
        // An endpoint can get an event twice, with the same id.
        received: new Set(endpoint.deliveries.map(({ headers }) => headers["webhook-id"])).size,
        statuses: (await deliveries()).map(({ status }) => status),
      });
      return { readResult };
    },
  },
  {
    queue: "submission",
    async prepare() {
      const sender = stopLater(await createSequenceSender(provider));
      const { id } = await createForm(sender, { doubleOptIn: true, tags: ["reader"] });
      await submitForm(id, { email: ann });
      const readResult = async () => ({
        recipients: sender.provider.mails.map(({ to }) => to),
        submissions: (await listSubmissions(sender, id)).map(({ status }) => status),
        contacts: await readContactCount(sender),
        status: (await findContactByEmail(sender, ann))?.status,
      });
      return { readResult };
    },
  },
  {
    queue: "submission",
    async prepare() {
      const sender = stopLater(await createSequenceSender(provider));
      await createContact(sender, ann, { status: "pending", sendConfirmation: true });
      const readResult = async () => ({
        recipients: sender.provider.mails.map(({ to }) => to),
        status: (await findContactByEmail(sender, ann))?.status,
      });
      return { readResult };
    },
  },
  {
    queue: "advance",
    async prepare() {
      const sender = stopLater(await createSequenceSender(provider));
      const { id } = await createSequence(sender, ["One", 60, "Two"]);
      const contactIds = await createContacts(sender, 2);
      await enrollments.enroll(sender.caller, id, { contactIds });
      const readResult = async () => ({
        subjects: await Promise.all(contactIds.map((one) => listSubjectsTo(sender, one))),
        counts: await enrollmentListing
          .getCounts(sender.orgId, id)
          .then(({ byStatus }) => byStatus),
      });
      return { readResult };
    },
  },
  {
    queue: "jobs",
    job: "import",
    async prepare() {
      const site = await createTestSite();
      const bytes = Buffer.from("email\nann@example.net\nnobody\nbob@example.net\n");
      const options = NewImport.parse({ siteId: site.siteId, filename: "people.csv" });
      const { id } = await imports.start(site.caller, options, { bytes });
      const readResult = async () => {
        const { status, total, created, updated, failed } = await imports.find(site.caller, id);
        const contacts = await readContactCount(site);
        return { status, total, created, updated, failed, contacts };
      };
      return { readResult };
    },
  },
  {
    queue: "jobs",
    job: "export",
    async prepare() {
      const site = await createTestSite();
      await insertContacts(site, 5);
      const filter = { siteId: site.siteId };
      const request = { type: "contacts", format: "csv", filter } as const;
      const { id } = await exports.start(site.caller, request);
      const readResult = async () => {
        const { status, rows, error } = await exports.find(site.caller, id);
        return { status, rows, error };
      };
      return { readResult };
    },
  },
  {
    queue: "jobs",
    job: "contact-action",
    async prepare() {
      const site = await createTestSite();
      for (const email of [ann, "bob@example.com"]) await createContact(site, email);
      const fields = { siteId: site.siteId, filter: {}, action: "add_tag", tag: "gold" };
      const { id } = await actions.start(site.caller, NewContactAction.parse(fields));
      const readResult = async () => {
        const { status, succeeded, failed } = await actions.find(site.caller, id);
        const tags = await groups.getOrCreateTags(site.caller, site.siteId, ["gold"]);
        const { ids, count } = await readGroupMembers(site, "TAG", tags.get("gold")!);
        return { status, succeeded, failed, members: ids.length, count };
      };
      return { readResult };
    },
  },
  {
    queue: "jobs",
    job: "convert-field",
    async prepare() {
      const site = await createTestSite();
      const { caller, siteId } = site;
      const declareAge = (type: string) =>
        contactFields.declare(
          caller,
          "age",
          contactFields.FieldDeclaration.parse({ siteId, label: "Age", type }),
        );
      await declareAge("text");
      const texts = { [ann]: "41", "bob@example.com": "1,299.50", "cy@example.com": "unknown" };
      for (const [email, age] of Object.entries(texts))
        await createContact(site, email, { customFields: { age } });
      await declareAge("number");
      const readAge = async (email: string) =>
        (await findContactByEmail(site, email))?.customFields.age;
      const readResult = async () => {
        const conversion = await fieldConversions.find(caller, "age", siteId);
        const { status, processed, converted, failed, errors } = conversion;
        return {
          ...{ status, processed, converted, failed },
          errors: errors.map(({ error }) => error),
          ages: await Promise.all(Object.keys(texts).map(readAge)),
        };
      };
      return { readResult };
    },
  },
  {
    queue: "jobs",
    job: "merge-contact",
    async prepare() {
      const site = await createTestSite();
      const source = await createContact(site, "old@example.com");
      const target = await createContact(site, ann);
      for (const { id } of [source, target])
        await leadScores.changeByHand(site.caller, id, { delta: 5 });
      await mergeContacts(site.caller, source.id, target.id);
      const readResult = async () => {
        const { score, log } = await leadScores.listLog(site.caller, target.id, { limit: 50 });
        const { merging } = await findItem(site.caller, target.id);
        return { score, log: log.map(({ delta }) => delta), merging };
      };
      return { readResult };
    },
  },
  {
    queue: "jobs",
    job: "sweep",
    async prepare() {
      const site = await createTestSite();
      const list = await groups.create("LIST", site.caller, { siteId: site.siteId, name: "News" });
      const { id } = await createContact(site, ann);
      await memberships.addMembers(site.caller, { kind: "LIST", id: list.id }, [id]);
      await groups.removeGroup("LIST", site.caller, list.id);
      const readResult = async () => ({
        members: (await readGroupMembers(site, "LIST", list.id)).ids,
        lists: (await findContactByEmail(site, ann))!.lists,
      });
      return { readResult };
    },
  },
  {
    queue: "jobs",
    job: "chain-audit-log",
    async prepare() {
      const { caller } = await createAccount();
      const { orgId, userId } = caller;
      for (let n = 1; n <= 3; n++)
        await recordEntry(orgId, {
          action: "deleteSite",
          actor: { type: "user", id: userId! },
          target: `sites/${n}`,
          address: "192.0.2.7",
          userAgent: "test",
          requestId: `r${n}`,
          outcome: "done",
        });
      await enqueue(queues.jobs, [{ job: "chain-audit-log", orgId }], { group: orgId });
      const readResult = async () => {
        const { problems, unchainedEntries } = await verify({ orgId }, {});
        const { items } = await query<ChainLink>(ranges.auditLinks(orgId), { consistent: true });
        return {
          problems,
          unchainedEntries,
          chained: items.flatMap((link) => link.entries).length,
        };
      };
      return { readResult };
    },
  },
  {
    queue: "report",
    async prepare() {
      const sender = stopLater(await createSequenceSender(provider));
      const { caller, siteId } = sender;
      const fields = { siteId, frequency: "daily", recipient: "team@shop.example" };
      const { id, nextAt } = await schedules.create(
        caller,
        schedules.NewReportSchedule.parse(fields),
      );
      clock.advanceClock((Date.parse(nextAt!) - clock.now().getTime()) / 1000 + 60);
      await enqueueDueWork(await readDueIndex());
      const readResult = async () => {
        const { lastError } = await schedules.find(caller, id);
        // The report would be due again in the next run of this scenario.
        await schedules.remove(caller, id);
        return { lastError, recipients: sender.provider.mails.map(({ to }) => to) };
      };
      return { readResult };
    },
  },
  {
    queue: "systemMail",
    async prepare() {
      const { email } = await createAccount();
      pendingMessages.length = 0;
      await queueSystemMail({ mail: "password_reset", email });
      const readResult = async () => {
        const mails = systemProvider.mails.filter(({ to }) => to.includes(email));
        // The user can get the mail several times.
        return { subjects: [...new Set(mails.map(({ subject }) => subject))] };
      };
      return { readResult };
    },
  },
];

/** Work that tests of its own area crash at the steps of its worker and then repeat. */
const testedElsewhere: { queue: QueueName; job?: JobName; file: string; title: string }[] = [
  {
    queue: "providerEvents",
    file: "redriven-events",
    title: "events are counted once after a crash at any step and a redelivery with %s",
  },
  {
    queue: "inbound",
    file: "inbound-emails",
    title: "is stored once, and its reply told once, however often it comes and workers crash",
  },
  {
    queue: "jobs",
    job: "pull-suppressions",
    file: "provider-suppressions",
    title: "nothing is lost or counted twice when the worker %s",
  },
  {
    queue: "jobs",
    job: "read-mailbox",
    file: "bounce-mailbox",
    title: "loses and repeats nothing wherever a worker crashes: %s",
  },
  {
    queue: "jobs",
    job: "pull-postmaster-figures",
    file: "postmaster-tools",
    title: "loses no day wherever a worker crashes: %s",
  },
  {
    queue: "jobs",
    job: "write-event-files",
    file: "event-files",
    title: "a file is the same when its worker %s at any step",
  },
  {
    queue: "stepTasks",
    file: "sequence-tasks",
    title: "is made and its response stored once after a crash at any step",
  },
  {
    queue: "jobs",
    job: "check-domain",
    file: "domains",
    title: "during a check leads to another check when the worker %s",
  },
  {
    queue: "jobs",
    job: "check-tracking-domain",
    file: "tracking-domains",
    title: "has a checked domain or that of the service when the worker %s",
  },
  {
    queue: "jobs",
    job: "fold-mail-log",
    file: "contact-mail-counts",
    title: "every answer agrees after a fold that %s at any step, and after the next fold",
  },
  {
    queue: "jobs",
    job: "fold-recipient-log",
    file: "recipient-index",
    title: "a fold whose worker crashes changes no answer",
  },
  {
    queue: "jobs",
    job: "campaign-audit",
    file: "campaign-audit",
    title: "after a crash of the audit at any step, the next worker finds the same result",
  },
];

async function runSchedules(entries: DueEntry[]): Promise<void> {
  // At least a minute after the last run, as in production.
  clock.advanceClock(60);
  await Promise.all([enqueueDueWork(entries), enqueueDueEnrollments(entries)]);
}

const settle = () => runWorkers(workers, { forSeconds: 2 * 3600, runSchedules });

const findWorker = (queue: QueueName) =>
  workers.find((worker) => worker.queue.name === queues[queue].name)!;

/** Runs the workers of the other queues until the message exists, and takes it from its queue. */
async function takeMessage(
  { queue, job }: Scenario,
  isMeant: NonNullable<Scene["isMeant"]>,
): Promise<VirtualMessage> {
  const worker = findWorker(queue);
  const others = workers.filter((other) => other !== worker);
  const isSought = (message: VirtualMessage) => {
    const body = JSON.parse(message.body) as Body;
    return message.queue === worker.queue.name && body.job === job && isMeant(body);
  };
  if (!pendingMessages.some(isSought)) await runWorkers(others);
  const index = pendingMessages.findIndex(isSought);
  if (index < 0) throw new Error(`The queue ${queue} got no message`);
  return pendingMessages.splice(index, 1)[0]!;
}

const deliver = (message: VirtualMessage) =>
  pendingMessages.push({ ...message, id: crypto.randomUUID(), visibleAt: 0, receives: 0 });

async function playUndisturbed(scenario: Scenario): Promise<unknown> {
  const { isMeant = () => true, readResult } = await scenario.prepare();
  deliver(await takeMessage(scenario, isMeant));
  await settle();
  return readResult();
}

test.each(scenarios.map((one) => [[one.queue, one.job].filter(Boolean).join(" "), one] as const))(
  "a message that is redriven twice after a crash changes no result: %s",
  async (_, scenario) => {
    const expected = await playUndisturbed(scenario);
    const { queue, handler } = findWorker(scenario.queue);
    const steps = await crashAtSomeSteps(async (crash) => {
      const { isMeant = () => true, readResult } = await scenario.prepare();
      const message = await takeMessage(scenario, isMeant);
      const { id, body } = message;
      const attributes = { ApproximateReceiveCount: "1" };
      await crash(() =>
        handler({ Records: [{ messageId: id, receiptHandle: id, body, attributes }] } as never),
      );
      for (let i = 0; i < 2; i++) {
        // An operator redrives the message when it is no longer invisible.
        clock.advanceClock(6 * queue.timeoutSeconds);
        deliver(message);
        await settle();
      }
      expect(await readResult()).toEqual(expected);
    });
    expect(steps.length).toBeGreaterThan(2);
    expect(deadLetters).toEqual([]);
  },
);

test("every queue and every job has such a test", async () => {
  const covered = [...scenarios, ...testedElsewhere];
  expect(new Set(covered.map(({ queue }) => queue))).toEqual(new Set(Object.keys(queues)));
  expect(new Set(covered.flatMap(({ job }) => job ?? []))).toEqual(
    new Set(Object.keys(jobSeconds)),
  );
  for (const { file, title } of testedElsewhere)
    expect(await readFile(`test/engine/${file}.test.ts`, "utf8")).toContain(`"${title}"`);
});
