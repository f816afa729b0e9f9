// Webhook endpoints: URLs of customers that receive delivery events.
import { randomBytes } from "node:crypto";
import * as z from "zod";
import { any, equals, isNew } from "../../adapters/dynamodb/conditions.ts";
import {
  put,
  queryAll,
  remove as removeItem,
  updateExisting,
  update as updateItem,
  type Write,
  write,
} from "../../adapters/dynamodb/table.ts";
import * as encryption from "../../adapters/kms/encryption.ts";
import { type CallerScope, requireOrganizationAccess } from "../../caller.ts";
import { addSeconds, now } from "../../clock.ts";
import { config } from "../../config.ts";
import { conflict, limitExceeded, missing } from "../../errors.ts";
import { singleLineText } from "../../kernel/email-fields.ts";
import type { PageRequest } from "../../kernel/paging.ts";
import { findUrlFault, maxUrlLength } from "../../kernel/public-urls.ts";
import { CreatedAt, RecordId, Timestamp, UpdatedAt } from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { keys, ranges } from "../../keys.ts";
import { type EndpointHealth, healthAttributes } from "./endpoint-health.ts";
import { clearEndpointCache } from "./enqueue-events.ts";
import { webhookEventTypes } from "./event-types.ts";

export const Webhook = z
  .object({
    id: RecordId.describe("Id of the endpoint, for GET /webhooks/:id."),
    url: z.string().describe("URL that gets a POST request for each event."),
    events: z
      .array(z.enum(webhookEventTypes))
      .describe("Event types that are delivered to the endpoint."),
    active: z
      .boolean()
      .describe(
        "Whether events are delivered. Set to false by the service after a 410 response or 5 " +
          "days of failures.",
      ),
    description: z.string().nullable().describe("Note for yourself, or `null`."),
    inactiveReason: z
      .string()
      .nullable()
      .describe("Why the service set the endpoint inactive, or `null`."),
    failingSince: Timestamp.nullable().describe(
      "Since when every delivery has failed. `null` if the latest one succeeded.",
    ),
    previousSecretUntil: Timestamp.nullable().describe(
      "Until when deliveries are also signed with the previous secret. `null` if no secret " +
        "was rotated.",
    ),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "Webhook" });

export type Webhook = z.output<typeof Webhook> &
  EndpointHealth & { sealedSecret: string; sealedPreviousSecret?: string };

const Url = z
  .string()
  .max(maxUrlLength)
  .superRefine((url, context) => {
    const problem = findUrlFault(url, config.allowLoopbackWebhooks);
    if (problem) context.addIssue({ code: "custom", message: problem });
  })
  .describe(
    "URL that gets a POST request with `{event, sendId, contactId, email, timestamp, data}` and " +
      "more for each event: see the webhooks in this document. Must be https on port 443 or " +
      "8443, at a public address. A 2xx response within 15 seconds confirms the event; " +
      "otherwise it is retried for about three days. A URL can have one endpoint per " +
      "organization. A host gets at most 200 calls per second from an organization; later " +
      "calls wait.",
  );

const fields = {
  url: Url,
  events: z
    .array(z.enum(webhookEventTypes))
    .min(1)
    .max(50)
    .describe(
      "Event types to deliver. Types with a dot are about records, such as `contact.created`; " +
        "the others are about emails.",
    ),
  description: singleLineText(500).nullish().describe("Note for yourself."),
};
export const NewWebhook = z.object(fields).meta({
  examples: [
    {
      url: "https://shop.example/hooks/mail",
      events: ["delivered", "bounce"],
      description: "CRM",
    },
  ],
});
export type NewWebhook = z.output<typeof NewWebhook>;

export const WebhookChanges = z
  .object({
    ...fields,
    active: z
      .boolean()
      .describe(
        "`true` activates the endpoint and clears its record of failures. `false` stops " +
          "deliveries.",
      ),
  })
  .partial()
  .meta({ examples: [{ events: ["delivered", "bounce", "open"], active: true }] });
export type WebhookChanges = z.output<typeof WebhookChanges>;

export const maxEndpoints = 100;

/** Creates an endpoint. Only this response contains the secret. */
export async function create(
  caller: CallerScope,
  { url, events, description = null }: NewWebhook,
): Promise<Webhook & { secret: string }> {
  requireOrganizationAccess(caller);
  if ((await records.count(caller.orgId, "WEBHOOK")) >= maxEndpoints)
    throw limitExceeded(
      "url",
      `An organization may have at most ${maxEndpoints} webhook endpoints`,
    );
  const stamped = await records.newRecordFields("WEBHOOK");
  await checkUrlFree(caller.orgId, url, stamped.id);
  const { secret, sealedSecret } = await newSecret(caller.orgId, stamped.id);
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
  const stored = await records.insert("WEBHOOK", caller, {
    record,
    extraWrites: [claimUrlWrite(caller.orgId, record)],
  });
  // A retried request finds the record of its first attempt, whose secret was never returned.
  if (stored.sealedSecret !== sealedSecret)
    await write(updateExisting(keyOf(caller, stamped.id), { set: { sealedSecret } }, notFound()));
  clearEndpointCache(caller.orgId);
  return { ...stored, sealedSecret, secret };
}

const urlTaken = () =>
  conflict("The organization has an endpoint with this URL: change that one", {
    code: "url_taken",
  });

/** The normalized URL without its fragment, which is never sent. */
function normalizeUrl(url: string): string {
  const normalized = new URL(url);
  normalized.hash = "";
  return normalized.href;
}

/** Reads all endpoints, at most 100, because old ones have not claimed their URL. */
async function checkUrlFree(orgId: number, url: string, id: number): Promise<void> {
  const all = await queryAll<Webhook>(ranges.records(orgId, "WEBHOOK"));
  if (all.some((other) => other.id !== id && normalizeUrl(other.url) === normalizeUrl(url)))
    throw urlTaken();
}

/** Claims the URL for the endpoint, so that a simultaneous request cannot take it. */
const claimUrlWrite = (orgId: number, { id, url }: Pick<Webhook, "id" | "url">): Write =>
  put(
    keys.webhookUrl(orgId, normalizeUrl(url)),
    { webhookId: id },
    { if: any(isNew, equals("webhookId", id)), orThrow: urlTaken() },
  );

const releaseUrlWrite = (orgId: number, { id, url }: Pick<Webhook, "id" | "url">): Write =>
  removeItem(keys.webhookUrl(orgId, normalizeUrl(url)), {
    if: any(isNew, equals("webhookId", id)),
  });

export const find = (caller: CallerScope, id: number): Promise<Webhook> => {
  requireOrganizationAccess(caller);
  return records.find<Webhook>("WEBHOOK", caller, id);
};

export const list = (caller: CallerScope, request: PageRequest) => {
  requireOrganizationAccess(caller);
  return records.list<Webhook>("WEBHOOK", caller, request);
};

/** Updates the given fields. A new URL or `active: true` clears the record of failures. */
export async function change(
  caller: CallerScope,
  id: number,
  { events, ...changes }: WebhookChanges,
): Promise<Webhook> {
  const before = await find(caller, id);
  const isRestart =
    changes.active === true || (changes.url !== undefined && changes.url !== before.url);
  const set = {
    ...changes,
    ...(events && { events: [...new Set(events)] }),
    ...(isRestart && { inactiveReason: null, failingSince: null }),
  };
  const isMoved =
    changes.url !== undefined && normalizeUrl(changes.url) !== normalizeUrl(before.url);
  if (isMoved) await checkUrlFree(caller.orgId, changes.url!, id);
  await write(
    records.updateWrite("WEBHOOK", caller, {
      id,
      set,
      remove: isRestart ? [...healthAttributes, "ownerUntold"] : [],
    }),
    ...(isMoved
      ? [
          releaseUrlWrite(caller.orgId, before),
          claimUrlWrite(caller.orgId, { id, url: changes.url! }),
        ]
      : []),
  );
  clearEndpointCache(caller.orgId);
  return find(caller, id);
}

/** Deletes an endpoint. Its pending deliveries end when they become due. */
export async function remove(caller: CallerScope, id: number): Promise<void> {
  const before = await find(caller, id);
  await write(
    ...records.removeWrites("WEBHOOK", caller, { id }),
    releaseUrlWrite(caller.orgId, before),
  );
  clearEndpointCache(caller.orgId);
}

const rotationSeconds = 24 * 3600;

/**
 * Creates a new secret. The previous one also signs for 24 hours. 409 if another request rotates
 * the secret at the same time.
 */
export async function rotateSecret(
  caller: CallerScope,
  id: number,
): Promise<Webhook & { secret: string }> {
  const before = await find(caller, id);
  const { secret, sealedSecret } = await newSecret(caller.orgId, id);
  const previousSecretUntil = addSeconds(rotationSeconds).toISOString();
  const set = {
    sealedSecret,
    sealedPreviousSecret: before.sealedSecret,
    previousSecretUntil,
    updatedAt: now().toISOString(),
  };
  const orThrow = conflict(
    "The secret was rotated or the endpoint deleted by another request: read the endpoint " +
      "again, then retry",
  );
  await write(
    updateItem(
      keyOf(caller, id),
      { set },
      { if: equals("sealedSecret", before.sealedSecret), orThrow },
    ),
  );
  return { ...(await find(caller, id)), secret };
}

/** The secrets that sign now, the current one first. */
export async function decryptSecrets(
  orgId: number,
  webhook: Webhook,
): Promise<[current: string, previous?: string]> {
  const context = encryptionContext(orgId, webhook.id);
  const current = await encryption.decrypt(webhook.sealedSecret, context);
  const rotating =
    webhook.sealedPreviousSecret && (webhook.previousSecretUntil ?? "") > now().toISOString();
  return rotating
    ? [current, await encryption.decrypt(webhook.sealedPreviousSecret!, context)]
    : [current];
}

async function newSecret(orgId: number, id: number) {
  const secret = randomBytes(32).toString("hex");
  return { secret, sealedSecret: await encryption.encrypt(secret, encryptionContext(orgId, id)) };
}

const encryptionContext = (orgId: number, id: number): encryption.EncryptionContext => ({
  orgId: String(orgId),
  webhookId: String(id),
});
const keyOf = ({ orgId }: CallerScope, id: number) => keys.record(orgId, "WEBHOOK", id);
const notFound = () => missing("Webhook endpoint not found");
