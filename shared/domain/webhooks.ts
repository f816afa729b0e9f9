// Endpoints of customers that hear what happens to their mail. What is delivered to them, and how, is in webhooks/.
import { randomBytes } from "node:crypto";
import * as z from "zod";
import { type Caller, permitOrganization } from "../caller.ts";
import { after, now } from "../clock.ts";
import { equals } from "../conditions.ts";
import { config } from "../config.ts";
import { enqueue } from "../doors/queue.ts";
import { change as changing, queryAll, update as updateItem, write } from "../doors/table.ts";
import * as vault from "../doors/vault.ts";
import { oneLine } from "../email.ts";
import { conflict, missing, overLimit } from "../errors.ts";
import { keys, ranges } from "../keys.ts";
import type { PageRequest } from "../paging.ts";
import { chunked } from "../parallel.ts";
import { eventTypes } from "../providers/inbound/inbound.ts";
import { maxUrlLength, objection } from "../public-urls.ts";
import { mostOutgoing, type OutgoingEvent, queues } from "../queues.ts";
import * as records from "./records.ts";
import { nextPage } from "./webhooks/page-numbers.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

export const Webhook = z
  .object({
    id: z.int(),
    url: z.string(),
    events: z.array(z.enum(eventTypes)),
    active: z.boolean(),
    description: z.string().nullable(),
    inactiveReason: z.string().nullable().describe("Why it was set inactive, when nobody of yours did"),
    failingSince: z.string().nullable().describe("Since when there was nothing but failures"),
    previousSecretUntil: z.string().nullable().describe("The secret before the last rotation signs too, until then"),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "Webhook" });

/** How calls to the endpoint have gone lately; see webhooks/health.ts. */
export interface Health {
  /** ISO 8601; null while the last call went well. */
  failingSince: string | null;
  /** ISO 8601. */
  failedAt?: string;
  /** Calls in a row that brought no answer in time. */
  timeouts?: number;
  /** Times in a row that it was left alone for a while. */
  cooled?: number;
  /** No call before (ISO 8601). */
  coolUntil?: string;
  /** We set it inactive, and whoever did so has not queued the mail that says so. */
  ownerUntold?: true;
}
export const healthNames = ["failedAt", "timeouts", "cooled", "coolUntil"];

export type Webhook = z.output<typeof Webhook> & Health & { sealedSecret: string; sealedPreviousSecret?: string };

const Url = z
  .string()
  .max(maxUrlLength)
  .superRefine((url, context) => {
    const against = objection(url, config.allowLoopbackWebhooks);
    if (against) context.addIssue({ code: "custom", message: against });
  })
  .describe(
    "Where each event is POSTed as `{event, sendId, contactId, email, timestamp}`, contactId null without a contact; https, on port 443 or 8443, to a public address. A 2xx within 15 seconds means that it was heard; else it is tried again for three days",
  );

const fields = {
  url: Url,
  events: z.array(z.enum(eventTypes)).min(1).max(50).describe("Of which types it hears"),
  description: oneLine(500).nullish(),
};
export const NewWebhook = z
  .object(fields)
  .meta({ examples: [{ url: "https://shop.example/hooks/mail", events: ["delivered", "bounce"], description: "CRM" }] });
export type NewWebhook = z.output<typeof NewWebhook>;

export const WebhookChanges = z
  .object({ ...fields, active: z.boolean().describe("true forgets earlier failures") })
  .partial()
  .meta({ examples: [{ events: ["delivered", "bounce", "open"], active: true }] });
export type WebhookChanges = z.output<typeof WebhookChanges>;

export const mostEndpoints = 100;

/** The secret is told here, and never again. */
export async function create(who: Who, { url, events, description = null }: NewWebhook): Promise<Webhook & { secret: string }> {
  permitOrganization(who);
  if ((await records.count(who.orgId, "WEBHOOK")) >= mostEndpoints)
    throw overLimit("url", `An organization may have at most ${mostEndpoints} webhook endpoints`);
  const stamped = await records.stamp("WEBHOOK");
  const { secret, sealedSecret } = await newSecret(who.orgId, stamped.id);
  const record: Webhook = {
    ...stamped,
    url,
    events: [...new Set(events)],
    active: true,
    description,
    inactiveReason: null,
    failingSince: null,
    previousSecretUntil: null,
    sealedSecret,
  };
  const stored = await records.insert("WEBHOOK", who, record);
  // A request that died after this write is made again: nobody was told the first secret, so another takes its place.
  if (stored.sealedSecret !== sealedSecret) await write(changing(addressOf(who, stamped.id), { set: { sealedSecret } }, gone()));
  forget(who.orgId);
  return { ...stored, sealedSecret, secret };
}

export const find = (who: Who, id: number): Promise<Webhook> => {
  permitOrganization(who);
  return records.find<Webhook>("WEBHOOK", who, id);
};

export const list = (who: Who, request: PageRequest) => {
  permitOrganization(who);
  return records.list<Webhook>("WEBHOOK", who, request);
};

/** Another URL, or being set active, is a new start: what went wrong before is forgotten. */
export async function change(who: Who, id: number, { events, ...changes }: WebhookChanges): Promise<Webhook> {
  const before = await find(who, id);
  const anew = changes.active === true || (changes.url !== undefined && changes.url !== before.url);
  const set = { ...changes, ...(events && { events: [...new Set(events)] }), ...(anew && { inactiveReason: null, failingSince: null }) };
  await write(records.changing("WEBHOOK", who, id, set, anew ? [...healthNames, "ownerUntold"] : []));
  forget(who.orgId);
  return find(who, id);
}

/** Deliveries that are still to come find nothing, and end. */
export async function remove(who: Who, id: number): Promise<void> {
  permitOrganization(who);
  await write(...records.removing("WEBHOOK", who, id));
  forget(who.orgId);
}

const rotationSeconds = 24 * 3600;

/** A new secret, told once; the one before it signs too for 24 hours. 409 when two rotate at once. */
export async function rotateSecret(who: Who, id: number): Promise<Webhook & { secret: string }> {
  const before = await find(who, id);
  const { secret, sealedSecret } = await newSecret(who.orgId, id);
  const previousSecretUntil = after(rotationSeconds).toISOString();
  const set = { sealedSecret, sealedPreviousSecret: before.sealedSecret, previousSecretUntil, updatedAt: now().toISOString() };
  const otherwise = conflict("The secret was rotated, or the endpoint removed, meanwhile: read it and try again");
  await write(updateItem(addressOf(who, id), { set }, { if: equals("sealedSecret", before.sealedSecret), otherwise }));
  return { ...(await find(who, id)), secret };
}

/** Those that sign now, the current one first. */
export async function secrets(orgId: number, webhook: Webhook): Promise<[current: string, previous?: string]> {
  const context = contextOf(orgId, webhook.id);
  const current = await vault.open(webhook.sealedSecret, context);
  const rotating = webhook.sealedPreviousSecret && (webhook.previousSecretUntil ?? "") > now().toISOString();
  return rotating ? [current, await vault.open(webhook.sealedPreviousSecret!, context)] : [current];
}

async function newSecret(orgId: number, id: number) {
  const secret = randomBytes(32).toString("hex");
  return { secret, sealedSecret: await vault.seal(secret, contextOf(orgId, id)) };
}

const contextOf = (orgId: number, id: number): vault.Context => ({ orgId: String(orgId), webhookId: String(id) });
const addressOf = ({ orgId }: Who, id: number) => keys.record(orgId, "WEBHOOK", id);
const gone = () => missing("There is no such webhook endpoint");

/** `data` stays here: what goes out is fixed by the interface, and an endpoint that wants more asks for the send. */
export type Announcement = OutgoingEvent & { data?: object };

/**
 * Queues what happened for every endpoint of the organization that wants to hear of it. Safe to repeat: an endpoint then hears
 * of an event again, under the same webhook-id.
 */
export async function announce(orgId: number, announcements: Announcement[]): Promise<void> {
  if (!announcements.length) return;
  const endpoints = await listening(orgId);
  const messages = endpoints.flatMap(({ id, events }) => {
    const wanted = announcements.filter(({ event }) => events.includes(event));
    return chunked(wanted, mostOutgoing).map((some) => ({ orgId, webhookId: id, page: nextPage(), events: some.map(outgoing) }));
  });
  await enqueue(queues.forward, messages, { group: ({ webhookId }) => webhookId });
}

const outgoing = ({ id, event, sendId, contactId, email, timestamp }: Announcement): OutgoingEvent => ({
  id,
  event,
  sendId,
  contactId,
  email,
  timestamp,
});

// A change may take this long until it holds in every process.
const keepMs = 3000;
const known = new Map<number, { endpoints: Pick<Webhook, "id" | "events">[]; until: number }>();
const forget = (orgId: number): void => void known.delete(orgId);

async function listening(orgId: number): Promise<Pick<Webhook, "id" | "events">[]> {
  const kept = known.get(orgId);
  if (kept && kept.until > performance.now()) return kept.endpoints;
  const endpoints = (await queryAll<Webhook>(ranges.records(orgId, "WEBHOOK"))).filter(({ active }) => active);
  if (known.size >= 1000) known.clear();
  known.set(orgId, { endpoints, until: performance.now() + keepMs });
  return endpoints;
}
