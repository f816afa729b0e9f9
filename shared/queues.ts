// Every message that travels between functions. Messages carry ids; the record is read fresh on arrival.
import * as z from "zod";
import { dueWork } from "./keys.ts";
import { eventTypes } from "./providers/inbound/inbound.ts";

const Id = z.int().positive();

const InboundEvent = z.object({
  id: Id,
  type: z.enum(eventTypes),
  email: z.string(),
  sendId: Id.optional(),
  providerMessageId: z.string().optional(),
  providerEventId: z.string(),
  timestamp: z.string(),
  data: z.object({
    url: z.string().optional(),
    reason: z.string().optional(),
    bounceType: z.enum(["hard", "soft"]).optional(),
    userAgent: z.string().optional(),
  }),
  ipAddress: z.string().optional(),
  automated: z.literal(true).optional(),
  /** Parked before, because its send was not there yet. */
  parked: z.object({ since: z.string(), tries: z.int() }).optional(),
});
export type InboundEvent = z.output<typeof InboundEvent>;

/** An event as it goes to the endpoints of customers. */
const OutgoingEvent = z.object({
  id: Id,
  event: z.enum(eventTypes),
  sendId: Id,
  contactId: Id.nullable(),
  email: z.string(),
  timestamp: z.string(),
});
export type OutgoingEvent = z.output<typeof OutgoingEvent>;
export const mostOutgoing = 100;

const SystemMail = z.discriminatedUnion("mail", [
  z.object({ mail: z.literal("password_reset"), email: z.string() }),
  z.object({ mail: z.literal("login_code"), challenge: z.string(), code: z.int().positive() }),
  z.object({ mail: z.literal("mfa_off"), orgId: Id, userId: Id }),
  z.object({ mail: z.literal("webhook_inactive"), orgId: Id, webhookId: Id }),
]);
export type SystemMail = z.output<typeof SystemMail>;

const Advance = z.discriminatedUnion("work", [
  z.object({ work: z.literal("shard"), shard: z.int().min(0) }),
  z.object({
    work: z.literal("some"),
    orgId: Id,
    enrollments: z.array(z.object({ sequenceId: Id, home: z.string(), contactId: Id })).max(100),
  }),
  z.object({ work: z.literal("cohort"), orgId: Id, sequenceId: Id, cohortId: z.string().max(36) }),
  z.object({ work: z.literal("chore"), orgId: Id, sequenceId: Id }),
  /** Chunks may have come into this lane by a worker who died before it said so. */
  z.object({ work: z.literal("lane"), orgId: Id, configId: Id }),
]);
export type Advance = z.output<typeof Advance>;

interface Settings {
  /** Messages a worker sees at once. */
  batch: number;
  /** How long the source waits to fill a batch. */
  windowSeconds: number;
  /** Receives before a message goes to the dead-letter queue. */
  attempts: number;
  timeoutSeconds: number;
  /** Workers of this queue at a time. */
  concurrency: number;
}

const queue = <M extends z.ZodType>(name: string, message: M, settings: Partial<Settings> = {}) => ({
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
  /** One single send to hand over. */
  send: queue("send", z.object({ orgId: Id, sendId: Id }), { timeoutSeconds: 60, concurrency: 50 }),
  /** A lane has chunks waiting: run it. */
  lane: queue("lane", z.object({ orgId: Id, configId: Id }), { batch: 1, timeoutSeconds: 180, concurrency: 100 }),
  /** A campaign or holiday is looked at, and the next thing done to it. `beat`: absent from whoever has news; a message that is not of the latest beat is left. */
  campaigns: queue("campaigns", z.object({ orgId: Id, kind: z.enum(["campaign", "holiday"]), id: Id, beat: z.int().optional() }), {
    timeoutSeconds: 120,
  }),
  /** One collection of a campaign's or holiday's people is to be reached. */
  fanOut: queue("fan-out", z.object({ orgId: Id, kind: z.enum(["campaign", "holiday"]), id: Id, shard: z.string().max(10) }), {
    batch: 1,
    timeoutSeconds: 180,
    concurrency: 32,
  }),
  /** A shard of the due index has work: bring it on its way. */
  drain: queue("drain", z.object({ what: z.enum(dueWork), shard: z.int().min(0) }), { batch: 1, timeoutSeconds: 60, concurrency: 8 }),
  /** What providers told us of our mail, verified and in our words. */
  providerEvents: queue("provider-events", z.object({ orgId: Id, provider: z.string(), events: z.array(InboundEvent).max(200) }), {
    batch: 1000,
    windowSeconds: 1,
    timeoutSeconds: 60,
    concurrency: 20,
  }),
  /** Events for one endpoint of a customer: with `events` the first time, later the page of its log where they stand. */
  forward: queue(
    "forward",
    z.object({ orgId: Id, webhookId: Id, page: Id, events: z.array(OutgoingEvent).min(1).max(mostOutgoing).optional() }),
    { timeoutSeconds: 60, concurrency: 50 },
  ),
  /** Something was submitted to a form: whatever is still to be done about it. */
  submission: queue("submission", z.object({ orgId: Id, formId: Id, place: z.string() }), { timeoutSeconds: 60 }),
  /** A list or tag was deleted: its members are to forget it. A form was: its submissions are to go. */
  sweep: queue("sweep", z.object({ orgId: Id, kind: z.enum(["LIST", "TAG", "FORM"]), groupId: Id }), {
    batch: 1,
    timeoutSeconds: 120,
    concurrency: 4,
  }),
  /** An export that is too long for one answer. */
  export: queue("export", z.object({ orgId: Id, exportId: Id }), { batch: 1, timeoutSeconds: 300, concurrency: 4 }),
  /** Enrollments that are to go on: those of a shard that fell due, or some that just began; and what is to be done to all of a sequence. */
  advance: queue("advance", Advance, { batch: 1, timeoutSeconds: 60, concurrency: 16 }),
  /** A report is to be mailed. */
  report: queue("report", z.object({ orgId: Id, reportId: Id }), { timeoutSeconds: 60, concurrency: 4 }),
  /** The DNS records of a domain are to be looked at. */
  checkDomain: queue("check-domain", z.object({ orgId: Id, domainId: Id }), { timeoutSeconds: 60, concurrency: 4 }),
  /** Contacts from a file. A turn is short, so that a long import keeps nobody else waiting. */
  import: queue("import", z.object({ orgId: Id, importId: Id }), { batch: 1, timeoutSeconds: 120, concurrency: 4 }),
  /** Mail to our own users. */
  systemMail: queue("system-mail", SystemMail, { timeoutSeconds: 60 }),
};

export type Queue<M extends z.ZodType = z.ZodType> = ReturnType<typeof queue<M>>;
