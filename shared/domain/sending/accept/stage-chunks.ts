// Stores the content and recipients of marketing mail under reserved ids. Nothing is sent until the
// caller commits the returned writes in one transaction with its own progress (cursor or
// enrollment). If the worker crashes before that, its reserved ids are skipped.

import { get, insertMany, put, type Write } from "../../../adapters/dynamodb/table.ts";
import { epochSeconds } from "../../../clock.ts";
import * as ids from "../../../ids.ts";
import { compress } from "../../../kernel/compressed-values.ts";
import { idsPerBlock, type Key, keys } from "../../../keys.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import type { MailTopic } from "../../audience/topics/topic-subscription.ts";
import type { BillingAccount } from "../../billing/quota.ts";
import type { PinnedTemplate } from "../../content/template-translations.ts";
import type { Site } from "../../identity/sites.ts";
import { getTracking } from "../../senders/domains/domains-by-name.ts";
import { fromOf, type MailSender, replyToOf } from "../../senders/mail-sender.ts";
import type { SendingConfig } from "../../senders/sending-config-schema.ts";
import * as chunks from "../bulk/chunks.ts";
import { laneSortKey, type QueuedChunk, queuedChunkKey } from "../bulk/queued-chunk.ts";
import { nameOfContact, toContactVariables } from "../contact-variables.ts";
import { addSourceCountWrites, type MailSource, type SourceCountChange } from "../mail-sources.ts";
import * as recipientLog from "../recipient-index/recipient-log.ts";
import type { MailContent } from "../rendering/mail-content.ts";
import { contentTtlSeconds } from "../rendering/mail-content.ts";
import { buildMarketingHeaders, requireMarketingSender } from "../rendering/marketing-mail.ts";
import { toTrackingFields } from "../rendering/own-tracking.ts";
import type { VariableFilter } from "../rendering/variable-filter.ts";
import * as sendFeed from "../send-feed.ts";

/** One mail to many contacts. */
export interface MarketingMessage {
  orgId: number;
  site: Site;
  config: SendingConfig;
  /** What the source sets instead of the site and the config. */
  sender?: MailSender | undefined;
  source: MailSource;
  /** The `subject` of the message, if any, replaces that of the template. */
  template?: PinnedTemplate | undefined;
  subject?: string | undefined;
  html?: string | undefined;
  text?: string | undefined;
  /** The versions of the snippets that it uses. */
  snippets?: MailContent["snippets"];
  /** Absent: the mail reads none. */
  brand?: MailContent["brand"];
  topic?: MailTopic | undefined;
  /** The mail also goes to contacts who unsubscribed. */
  isNotice?: true | undefined;
  utm?: MailContent["utm"];
  previewText?: string | undefined;
  /** Further headers, besides those of all marketing mail. */
  headers?: Record<string, string> | undefined;
  attachments?: MailContent["attachments"] | undefined;
  /** Values that all recipients share. */
  variables?: MailContent["variables"] | undefined;
  /** The S3 key of the JSON that the mail shows as `feed`. */
  feed?: string | undefined;
  /** Gets blind copies, instead of the address that the site names. */
  bcc?: string | undefined;
  /** The time for lists. All chunks of a campaign have the same. */
  startedAt: Date;
  /** The time for Liquid. Absent: `startedAt`. */
  liquidNow?: Date | undefined;
}

export interface StagedChunks {
  /** By contact id. */
  sendIds: Map<number, number>;
  /**
   * Add the chunks to the lane or suspend them, list their sends, and count them as accepted by
   * their source. The caller adds the writes of
   * `quota.chargeMails`, and calls `lanes.announceArrival` after the commit, also after a crash.
   */
  writes: Write[];
}

export const maxChunkRecipients = chunks.recipientsPerChunk;

/** A chunk before it is stored. */
export interface ChunkDraft {
  message: MarketingMessage;
  /** The result of `buildMarketingContent`, if the caller has it. */
  content?: MailContent | undefined;
  /** At most `maxChunkRecipients`, each at most once. */
  contacts: ContactItem[];
  /** The chunk waits outside the lane until `suspendedChunks.releaseChunks`. */
  isSuspended: boolean;
  /** When the chunk is due (ISO 8601), if it waits outside the lane until then. */
  releaseAt?: string | undefined;
  charge?: chunks.ChunkHead["charge"];
  readAt?: chunks.ChunkHead["readAt"];
  /** Variables that override those of the contact, by its id. */
  extraVariables?: ReadonlyMap<number, Record<string, unknown>> | undefined;
  /** Drops the variables that no part of the broadcast reads. */
  variableFilter?: VariableFilter | undefined;
}

/** Sets `charge` on the drafts. The first `includedMails` of all drafts together cost nothing. */
export function allocateCharges(
  drafts: ChunkDraft[],
  cost: { includedMails: number; pricePerMail: number } | undefined,
): ChunkDraft[] {
  let allocated = 0;
  return drafts.map((draft) => {
    const from = Math.max(0, (cost?.includedMails ?? 0) - allocated);
    allocated += draft.contacts.length;
    return cost && from < draft.contacts.length
      ? { ...draft, charge: { from, each: cost.pricePerMail } }
      : draft;
  });
}

/**
 * Stages several chunks of one mail source for one transaction. All counts, including
 * `extraCounts`, go into one write, because a transaction cannot write the same counter twice.
 * Throws 400 `physical_address_missing`.
 */
export async function stageChunks(
  drafts: ChunkDraft[],
  extraCounts: SourceCountChange[] = [],
): Promise<StagedChunks & { blocks: number[] }> {
  const staged = await Promise.all(drafts.map(stageChunk));
  const blocks = staged.map(({ block }) => block);
  const [first] = drafts;
  if (!first) return { blocks, sendIds: new Map(), writes: [] };
  const accepted = drafts.map(({ message: { source }, contacts }) => ({
    source,
    counts: { accepted: contacts.length },
  }));
  return {
    blocks,
    sendIds: new Map(staged.flatMap(({ sendIds }) => sendIds)),
    writes: [
      ...staged.flatMap(({ writes }) => writes),
      ...addSourceCountWrites(first.message.orgId, blocks[0]!, [...accepted, ...extraCounts]),
    ],
  };
}

/**
 * Stores content and recipients under reserved ids. The returned writes add the chunk to the lane
 * and the feed, and count nothing.
 */
async function stageChunk({
  message,
  content: knownContent,
  contacts,
  isSuspended,
  releaseAt,
  charge,
  readAt,
  extraVariables,
  variableFilter = (variables) => variables,
}: ChunkDraft): Promise<{ block: number; sendIds: [number, number][]; writes: Write[] }> {
  const { orgId, site, config, source, startedAt } = message;
  const [block, content] = await Promise.all([
    ids.nextSendBlock(),
    knownContent ?? buildMarketingContent(message),
  ]);
  // The content that a suspended chunk gets later can have other translations.
  const keepsLocale = message.template?.subjects !== undefined || isSuspended;
  const recipients = contacts.map((contact, i) => {
    const recipient = toChunkRecipient(contact, i);
    const variables = { ...recipient.variables, ...extraVariables?.get(contact.id) };
    const locale = (keepsLocale && contact.locale) || undefined;
    return { ...recipient, ...(locale && { locale }), variables: variableFilter(variables) };
  });
  const key = keys.bulkContent(orgId, block);
  const expires = epochSeconds() + contentTtlSeconds;
  const head = { ...toChunkHead(message, block), ...(releaseAt && { scheduledAt: releaseAt }) };
  const chunkItems = await chunks.buildChunkItems(
    { orgId, block },
    { ...head, ...(charge && { charge }), ...(readAt && { readAt }) },
    recipients,
  );
  const indexItems = recipientLog.buildIndexItems({ orgId, block }, head, recipients);
  const contentItem = { ...(await compress(key, content)), expires };
  await insertMany([{ key, item: contentItem }, ...chunkItems, ...indexItems]);
  await recipientLog.enqueueFolds(orgId, block, indexItems);
  const queued = {
    block,
    chunk: 0,
    n: recipients.length,
    siteId: site.id,
    at: releaseAt ?? startedAt.toISOString(),
    source,
    configId: config.id,
  };
  const queuedKey = chooseKey(orgId, queued, { isSuspended, isWaiting: releaseAt !== undefined });
  const feedWrite = sendFeed.addToFeedWrite(orgId, {
    siteId: site.id,
    at: startedAt.toISOString(),
    firstId: block * idsPerBlock,
    count: recipients.length,
  });
  return {
    block,
    sendIds: contacts.map((contact, i) => [contact.id, block * idsPerBlock + i]),
    writes: [put(queuedKey, queued, { ifAbsent: true }), feedWrite],
  };
}

function chooseKey(
  orgId: number,
  queued: Pick<QueuedChunk, "block" | "chunk" | "at"> & {
    source: MailSource;
    configId: number;
  },
  { isSuspended, isWaiting }: { isSuspended: boolean; isWaiting: boolean },
): Key {
  const { source, configId } = queued;
  if (isWaiting) return keys.waitingChunk(orgId, source, queued);
  return isSuspended
    ? keys.suspendedChunk(orgId, source, laneSortKey(queued))
    : queuedChunkKey(orgId, configId, queued);
}

export async function buildMarketingContent(message: MarketingMessage): Promise<MailContent> {
  const {
    orgId,
    site,
    config,
    sender = {},
    topic,
    template,
    subject,
    html,
    text,
    isNotice,
  } = message;
  const from = fromOf(sender, config);
  const [marketing, tracking, account] = await Promise.all([
    requireMarketingSender(orgId, site),
    getTracking(orgId, from.email),
    get<BillingAccount>(keys.account(orgId), { consistent: false }),
  ]);
  return {
    from,
    replyTo: replyToOf(sender, site, config),
    bcc: bccOf(message),
    headers: { ...message.headers, ...buildMarketingHeaders(message) },
    tags: [],
    template: template && { id: template.id, version: template.version },
    subject,
    ...(!template && { html, text }),
    ...(message.snippets && { snippets: message.snippets }),
    ...(message.brand && { brand: message.brand }),
    utm: message.utm,
    previewText: message.previewText,
    variables: message.variables ?? {},
    feed: message.feed,
    attachments: message.attachments ?? [],
    ...toTrackingFields(config, tracking, site),
    ...(account?.branded && { branded: true as const }),
    marketing: {
      ...marketing,
      ...(topic && { topicId: topic.id }),
      ...(isNotice && { isNotice }),
    },
    at: (message.liquidNow ?? message.startedAt).toISOString(),
  };
}

const bccOf = ({ bcc, site }: Pick<MarketingMessage, "bcc" | "site">): string | undefined =>
  bcc ?? site.autoBcc ?? undefined;

export function toChunkHead(message: MarketingMessage, block: number): chunks.ChunkHead {
  const {
    site,
    config,
    sender = {},
    source,
    topic,
    template,
    startedAt,
    liquidNow,
    isNotice,
  } = message;
  const from = fromOf(sender, config);
  return {
    siteId: site.id,
    sendingConfigId: config.id,
    provider: config.provider,
    batchId: block,
    templateId: template?.id,
    fromEmail: from.email,
    fromName: from.name,
    bcc: bccOf(message),
    subject: message.subject ?? template?.subject ?? "",
    ...chunks.toHeadLanguages(template, message.subject),
    variables: {},
    createdAt: startedAt.toISOString(),
    liquidNow: liquidNow?.toISOString(),
    source,
    isLogged: source.kind === "sequence" ? undefined : true,
    capDays: (!isNotice && site.sendFrequencyCapDays) || undefined,
    topic,
    isNotice,
  };
}

export const toChunkRecipient = (contact: ContactItem, i: number): chunks.ChunkRecipient => ({
  i,
  to: contact.email,
  contactId: contact.id,
  name: nameOfContact(contact),
  variables: toContactVariables(contact),
});
