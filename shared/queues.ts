// Every queue and its messages. A message holds ids; the worker reads the current record.
import * as z from "zod";
import { webhookEventTypes } from "./domain/webhooks/event-types.ts";
import { dueWorkKinds } from "./keys.ts";
import { ProviderEvent } from "./providers/inbound/inbound-adapter.ts";
import { inboundMailSources } from "./providers/inbound-mail/provider-keys.ts";

const Id = z.int().positive();

/** An SQS message has at most 256 KB, its other fields included. */
export const maxMessageBytes = 200_000;

const QueuedEvent = ProviderEvent.extend({
  id: Id,
  /** Set while the event waits for its send to be stored. */
  parked: z.object({ since: z.string(), tries: z.int() }).optional(),
  /** The recipient left only this topic. Set by our own unsubscribe links. */
  topic: z.object({ topicId: Id, topicName: z.string() }).optional(),
  /** Recorded by our own links and pixels, not reported by a provider. */
  own: z.literal(true).optional(),
  /** How the recipient used one of our own unsubscribe links. */
  via: z.enum(["one_click", "preference_page"]).optional(),
});
export type QueuedEvent = z.output<typeof QueuedEvent>;

/** An event as webhook endpoints receive it. */
const OutgoingEvent = z.object({
  id: Id,
  event: z.enum(webhookEventTypes),
  /** Null for events about records. */
  sendId: Id.nullable(),
  contactId: Id.nullable(),
  email: z.string().nullable(),
  timestamp: z.string(),
  /** Further fields of the body. */
  details: z.record(z.string(), z.unknown()),
});
export type OutgoingEvent = z.output<typeof OutgoingEvent>;
export const maxOutgoingEvents = 100;

const OutgoingEvents = z.array(OutgoingEvent).min(1).max(maxOutgoingEvents);
/**
 * Events for one webhook endpoint. The first message carries `events`; a retry reads them from
 * `batch` of the delivery log.
 */
const EndpointMessage = z.object({
  orgId: Id,
  webhookId: Id,
  batch: Id,
  events: OutgoingEvents.optional(),
});
export type EndpointMessage = z.output<typeof EndpointMessage>;
const BusMessage = z.object({ orgId: Id, bus: z.literal(true), events: OutgoingEvents });
export type BusMessage = z.output<typeof BusMessage>;

/** Changes that are mailed to the owners of the organization, or to the person they concern. */
const NoticeEvent = z.enum([
  "api_key_created",
  "sender_created",
  "sender_changed",
  "member_joined",
  "role_changed",
  "sso_changed",
  "sso_removed",
  "password_changed",
  "second_factor_on",
]);
export type NoticeEvent = z.output<typeof NoticeEvent>;
const NoticeSubject = z.object({
  orgId: Id,
  /** The recipient. Undefined: all owners, to be found. */
  userId: Id.optional(),
  /** Id of the key, sending config or member. */
  recordId: Id.optional(),
});
export type NoticeSubject = z.output<typeof NoticeSubject>;

const SystemMail = z.discriminatedUnion("mail", [
  z.object({ mail: z.literal("password_reset"), email: z.string() }),
  z.object({ mail: z.literal("verify_email"), email: z.string() }),
  z.object({ mail: z.literal("login_code"), challenge: z.string(), code: z.int().positive() }),
  z.object({ mail: z.literal("mfa_off"), orgId: Id, userId: Id }),
  z.object({ mail: z.literal("invitation"), orgId: Id, invitationId: Id }),
  z.object({ mail: z.literal("webhook_inactive"), orgId: Id, webhookId: Id }),
  z.object({ mail: z.literal("sending_quota"), orgId: Id, configId: Id }),
  NoticeSubject.extend({
    mail: z.literal("notice"),
    event: NoticeEvent,
  }),
]);
export type SystemMail = z.output<typeof SystemMail>;

const SequenceWorkMessage = z.discriminatedUnion("work", [
  z.object({ work: z.literal("shard"), shard: z.int().min(0) }),
  z.object({
    work: z.literal("some"),
    orgId: Id,
    enrollments: z.array(z.object({ sequenceId: Id, home: z.string(), contactId: Id })).max(100),
  }),
  z.object({ work: z.literal("chore"), orgId: Id, sequenceId: Id }),
  /** Contacts have changed, so triggers look at them. */
  z.object({ work: z.literal("note"), orgId: Id, noteId: z.string().max(50) }),
  /** Time can have changed what triggers see of a contact. */
  z.object({ work: z.literal("look"), orgId: Id, siteId: Id, contactId: Id }),
  /** The trigger of a sequence begins to watch contacts. */
  z.object({ work: z.literal("watch"), orgId: Id, sequenceId: Id }),
  /**
   * A worker may have crashed after it stored chunks in this lane and before it enqueued the lane.
   */
  z.object({ work: z.literal("lane"), orgId: Id, configId: Id }),
]);
export type SequenceWorkMessage = z.output<typeof SequenceWorkMessage>;

const Job = z.discriminatedUnion("job", [
  /**
   * Deletes the memberships of a deleted list or tag, the submissions of a deleted form, or
   * everything of a deleted site.
   */
  z.object({
    job: z.literal("sweep"),
    orgId: Id,
    kind: z.enum(["LIST", "TAG", "FORM", "SITE"]),
    groupId: Id,
  }),
  /** Writes an export that is too large for one response. */
  z.object({ job: z.literal("export"), orgId: Id, exportId: Id }),
  /** Imports contacts from a file. */
  z.object({ job: z.literal("import"), orgId: Id, importId: Id }),
  /** Changes many contacts. */
  z.object({ job: z.literal("contact-action"), orgId: Id, actionId: Id }),
  /** Converts the values of a custom field whose type has changed. */
  z.object({
    job: z.literal("convert-field"),
    orgId: Id,
    siteId: Id,
    name: z.string().max(100),
  }),
  /** Moves the history of a contact to the one that it was merged into. */
  z.object({ job: z.literal("merge-contact"), orgId: Id, contactId: Id }),
  /** Checks the DNS records of a domain. */
  z.object({ job: z.literal("check-domain"), orgId: Id, domainId: Id }),
  /** Checks the tracking domain of a site. */
  z.object({ job: z.literal("check-tracking-domain"), orgId: Id, siteId: Id }),
  /** Adds the suppression list of a provider to that of the organization. */
  z.object({ job: z.literal("pull-suppressions"), orgId: Id, configId: Id }),
  /** Reads new mail of the bounce mailbox of a sending config. */
  z.object({ job: z.literal("read-mailbox"), orgId: Id, configId: Id }),
  /** Reads what Gmail says about the domains of an organization. */
  z.object({ job: z.literal("pull-postmaster-figures"), orgId: Id }),
  /** Adds the mail log of a site to the mail counts of its contacts. */
  z.object({ job: z.literal("fold-mail-log"), orgId: Id, siteId: Id }),
  /** Moves a log of the recipient index into its buckets. */
  z.object({ job: z.literal("fold-recipient-log"), orgId: Id, log: z.string().max(10) }),
  /** Chains new entries of the audit log of an organization. */
  z.object({ job: z.literal("chain-audit-log"), orgId: Id }),
  /** Counts and hashes the outcomes of all candidates of an ended campaign. */
  z.object({ job: z.literal("campaign-audit"), orgId: Id, campaignId: Id }),
  /** Writes the events of an hour of a site into files; site 0 has those without a site. */
  z.object({
    job: z.literal("write-event-files"),
    orgId: Id,
    siteId: z.int().min(0),
    hour: z.string().max(20),
  }),
]);
export type Job = z.output<typeof Job>;

/** The longest time that one message of each job may take. */
export const jobSeconds = {
  sweep: 120,
  export: 300,
  import: 120,
  "contact-action": 120,
  "convert-field": 120,
  "merge-contact": 120,
  "check-domain": 60,
  "check-tracking-domain": 60,
  "pull-suppressions": 60,
  "read-mailbox": 90,
  "pull-postmaster-figures": 90,
  "fold-mail-log": 120,
  "fold-recipient-log": 120,
  "chain-audit-log": 120,
  "campaign-audit": 300,
  "write-event-files": 300,
} satisfies Record<Job["job"], number>;

/** As many due entries as one page of the drain has. */
const maxSendsPerLookUp = 100;

interface QueueOptions {
  /** Largest number of messages in one invocation. */
  batch: number;
  /** How long SQS waits to fill a batch. */
  windowSeconds: number;
  /** Receives before a message goes to the dead-letter queue. */
  attempts: number;
  timeoutSeconds: number;
  /** Largest number of concurrent invocations. */
  concurrency: number;
}

const queue = <M extends z.ZodType>(
  name: string,
  message: M,
  settings: Partial<QueueOptions> = {},
) => ({
  name,
  message,
  batch: 10,
  windowSeconds: 0,
  attempts: 5,
  timeoutSeconds: 30,
  concurrency: 10,
  ...settings,
});

export const queues = {
  /**
   * Hands over one single send to its provider. `lookUp`: asks the provider whether it has these
   * mails of one sending config, which are uncertain.
   */
  send: queue(
    "send",
    z.union([
      z.object({ orgId: Id, sendId: Id }),
      z.object({ orgId: Id, configId: Id, lookUp: z.array(Id).min(1).max(maxSendsPerLookUp) }),
    ]),
    { timeoutSeconds: 60, concurrency: 50 },
  ),
  /** Runs a lane that has queued chunks. */
  lane: queue("lane", z.object({ orgId: Id, configId: Id }), {
    batch: 1,
    timeoutSeconds: 180,
    concurrency: 100,
  }),
  /**
   * Advances a campaign or holiday by one step, or runs a series that is due. `beat` is the chain
   * number. It is absent when a user or another job triggers the step. Messages of an older chain
   * are ignored.
   */
  campaigns: queue(
    "campaigns",
    z.object({
      orgId: Id,
      kind: z.enum(["campaign", "holiday", "series"]),
      id: Id,
      beat: z.int().optional(),
    }),
    {
      timeoutSeconds: 120,
    },
  ),
  /** Reaches the audience of a campaign or holiday in one email shard. */
  fanOut: queue(
    "fan-out",
    z.object({
      orgId: Id,
      kind: z.enum(["campaign", "holiday"]),
      id: Id,
      shard: z.string().max(10),
    }),
    {
      batch: 1,
      timeoutSeconds: 180,
      concurrency: 32,
    },
  ),
  /** Enqueues the due work of one shard of the due index. */
  drain: queue("drain", z.object({ what: z.enum(dueWorkKinds), shard: z.int().min(0) }), {
    batch: 1,
    timeoutSeconds: 60,
    concurrency: 8,
  }),
  /** Delivery events from providers, verified and normalized. */
  providerEvents: queue(
    "provider-events",
    z.object({ orgId: Id, provider: z.string(), events: z.array(QueuedEvent).max(200) }),
    {
      batch: 1000,
      windowSeconds: 1,
      timeoutSeconds: 60,
      concurrency: 20,
    },
  ),
  /** Events for one webhook endpoint, or for the event bus. */
  forward: queue("forward", z.union([EndpointMessage, BusMessage]), {
    timeoutSeconds: 60,
    concurrency: 50,
  }),
  /**
   * Stores mail that a provider received for a site, or that a bounce mailbox had. `blob` has the
   * body of the request, or the mail.
   */
  inbound: queue(
    "inbound",
    z.object({
      orgId: Id,
      siteId: Id,
      provider: z.enum(inboundMailSources),
      blob: z.string().max(200),
      contentType: z.string().max(300),
      receivedAt: z.string(),
    }),
    { batch: 1, timeoutSeconds: 120 },
  ),
  /**
   * Completes the remaining steps of a form submission, whose position is `place`, or sends the
   * mail that asks a contact to confirm.
   */
  submission: queue(
    "submission",
    z.union([
      z.object({ orgId: Id, formId: Id, place: z.string() }),
      z.object({ orgId: Id, contactId: Id }),
    ]),
    { timeoutSeconds: 60 },
  ),
  /**
   * Advances enrollments: those of a shard that are due, some that just started, or all of a
   * sequence.
   */
  advance: queue("advance", SequenceWorkMessage, { timeoutSeconds: 60, concurrency: 16 }),
  /**
   * Rare work of all kinds shares one queue, because polling a queue costs 26 cents a month. A long
   * job ends before its `jobSeconds` and enqueues another message. Each organization is a message
   * group, so organizations do not wait for each other.
   */
  jobs: queue("jobs", Job, {
    batch: 1,
    timeoutSeconds: Math.max(...Object.values(jobSeconds)),
    concurrency: 16,
  }),
  /**
   * Sends a report by email, or forwards received mail. It is not one of the `jobs`, because it
   * bundles all code for sending.
   */
  report: queue(
    "report",
    z.union([
      z.object({ orgId: Id, reportId: Id }),
      // Forwards received mail, under a reserved send id.
      z.object({ orgId: Id, inboundEmailId: Id, sendId: Id }),
    ]),
    { timeoutSeconds: 60, concurrency: 4 },
  ),
  /**
   * Does what actions of sequences do outside of the service: requests to URLs and emails to
   * members. A slow URL delays no webhook and no enrollment.
   */
  stepTasks: queue("step-tasks", z.object({ orgId: Id, taskId: z.string().max(50) }), {
    timeoutSeconds: 60,
  }),
  /** Sends mails to our own users, such as password resets. */
  systemMail: queue("system-mail", SystemMail, { timeoutSeconds: 60 }),
};

export type ProviderEventsMessage = z.output<typeof queues.providerEvents.message>;
export type InboundMessage = z.output<typeof queues.inbound.message>;
export type ForwardMessage = z.output<typeof queues.forward.message>;

export type QueueDefinition<M extends z.ZodType = z.ZodType> = ReturnType<typeof queue<M>>;
