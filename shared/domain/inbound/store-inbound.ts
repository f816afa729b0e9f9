// The worker of received mail. The first request with a mail decides its id, so that the mail is
// stored once, however often the provider or the queue delivers it. What follows is safe to repeat,
// and is repeated until `done` is stored.
import { createHash } from "node:crypto";
import { absent, all, exists, isNew } from "../../adapters/dynamodb/conditions.ts";
import { get, put, queryAll, transact, update } from "../../adapters/dynamodb/table.ts";
import * as objects from "../../adapters/s3/objects.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, epochSeconds } from "../../clock.ts";
import { isTransient } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { compress } from "../../kernel/compressed-values.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import * as log from "../../kernel/log.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { isDeleted } from "../../kernel/site-access.ts";
import { keys, ranges } from "../../keys.ts";
import { readReport, type ServerReport } from "../../providers/inbound-mail/mail-report.ts";
import {
  addressesOf,
  messageIdsOf,
  type ReceivedMail,
  subjectOf,
} from "../../providers/inbound-mail/received-mail.ts";
import { getInboundMailAdapter } from "../../providers/inbound-mail/registry.ts";
import { findReport, type MailboxReport } from "../../providers/mailbox-reports/mailbox-report.ts";
import { type InboundMessage, queues } from "../../queues.ts";
import { findSurvivor } from "../audience/contacts/contact-lookups.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { recordFor } from "../audience/tracking/record-custom-events.ts";
import { unsubscribe } from "../delivery-events/unsubscribes.ts";
import * as sites from "../identity/sites.ts";
import { decryptCredentials } from "../senders/config-secrets.ts";
import {
  findReportedDomains,
  type ReportedDomains,
  storeReport,
} from "../senders/domain-reports/store-report.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import type { SendItem } from "../sending/send-schema.ts";
import { noEvents, type PreparedEvents, prepareEvents } from "../webhooks/record-events.ts";
import type { InboundEmailItem, InboundKind } from "./inbound-email.ts";
import { isAutomatic } from "./mail-kind.ts";
import { findAnsweredSend } from "./match-send.ts";
import { enqueueReport, findReportedSend } from "./report-events.ts";
import { findUnsubscribeToken } from "./unsubscribe-mail.ts";

const keptSeconds = 60 * 24 * 3600;
const maxRequestBytes = 40_000_000;

/** Reads the mail of a request and stores it. */
export async function storeRequest(message: InboundMessage): Promise<void> {
  const { orgId, siteId, provider, blob, contentType } = message;
  const body = await objects.get(blob, maxRequestBytes);
  // Another worker has stored it.
  if (!body) return;
  if (!(await isDeleted(orgId, siteId))) {
    const mails = await getInboundMailAdapter(provider).read({ contentType, body }, () =>
      readAccounts(orgId, provider),
    );
    if (!mails.length) log.warn("inbound request without mail", { orgId, siteId, provider });
    for (const mail of mails) await storeMail(message, mail);
  }
  await objects.remove(blob);
}

/** Credentials of the sending configs of the provider. */
async function readAccounts(orgId: number, provider: string): Promise<Record<string, unknown>[]> {
  const configs = await queryAll<SendingConfig>(ranges.records(orgId, "CONFIG"));
  const own = configs.filter((one) => one.provider === provider);
  return inParallel(4, own.slice(0, maxAccounts), (one) => decryptCredentials(orgId, one));
}

const maxAccounts = 10;

async function storeMail(message: InboundMessage, mail: ReceivedMail): Promise<void> {
  const claim = await claimIds(message, mail);
  const known = await get<InboundEmailItem>(keys.inboundEmail(message.orgId, claim.id));
  if (known?.done) return;
  const found = await classify(message, mail);
  const item = known ?? (await insert(message, mail, { claim, found }));
  if (found.report && found.send) {
    const identity = identityOf(message.provider, mail);
    await enqueueReport(message.orgId, found.send, { report: found.report, identity });
  }
  const { mailboxReport } = found;
  if (mailboxReport) await storeReport(message.orgId, mailboxReport.report, mailboxReport.domains);
  if (found.unsubscribeToken) await unsubscribe(found.unsubscribeToken, { source: "one_click" });
  const events =
    item.kind === "reply" && found.send ? await reportReply(item, found, claim) : noEvents;
  if (item.kind === "reply" || item.kind === "other")
    await enqueueForward(item, claim.forwardSendId);
  const key = keys.inboundEmail(item.orgId, item.id);
  const isUndone = all(exists, absent("done"));
  if (await transact(update(key, { set: { done: true } }, { if: isUndone }), ...events.writes))
    await events.afterCommit();
}

/** Another worker forwards it, because that takes all code for sending. */
async function enqueueForward(
  { orgId, siteId, id }: InboundEmailItem,
  sendId: number,
): Promise<void> {
  const site = await sites.find({ orgId }, siteId);
  if (site.inbound?.forwardTo === undefined) return;
  await enqueue(queues.report, [{ orgId, inboundEmailId: id, sendId }], { group: orgId });
}

/** Ids that a mail keeps whenever it is processed again. */
interface ClaimedIds {
  id: number;
  /** The custom event has this id. */
  activityId: number;
  /** The email that forwards it has this id. */
  forwardSendId: number;
  expires: number;
}

async function claimIds(
  { orgId, siteId, provider }: InboundMessage,
  mail: ReceivedMail,
): Promise<ClaimedIds> {
  const key = keys.inboundId(orgId, siteId, identityOf(provider, mail));
  const known = await get<ClaimedIds>(key);
  if (known) return known;
  const [id, activityId, forwardSendId] = await Promise.all([
    ids.nextId("INBOUND"),
    ids.nextActivityIds(1),
    ids.nextSendId(),
  ]);
  const expires = epochSeconds(addSeconds(keptSeconds));
  const claim = { id, activityId, forwardSendId, expires };
  if (await transact(put(key, claim, { if: isNew }))) return claim;
  return (await get<ClaimedIds>(key))!;
}

/** The message id and the sender, because two copies of one mail can have ids of their own. */
function identityOf(provider: string, mail: ReceivedMail): string {
  const [messageId] = messageIdsOf(mail, "message-id");
  const from = addressesOf(mail, "from")[0]?.email ?? "";
  if (messageId !== undefined) return JSON.stringify(["message", messageId, from]);
  if (mail.providerId !== undefined) return JSON.stringify([provider, mail.providerId]);
  const { headers, text, html } = mail;
  const content = JSON.stringify([headers, text, html]);
  return JSON.stringify(["content", createHash("sha256").update(content).digest("hex")]);
}

interface FoundFacts {
  kind: InboundKind;
  from: string;
  send: SendItem | undefined;
  matchedBy: InboundEmailItem["matchedBy"];
  contact: ContactItem | undefined;
  unsubscribeToken?: string | undefined;
  report?: ServerReport | undefined;
  mailboxReport?: { report: MailboxReport; domains: ReportedDomains } | undefined;
}

async function classify(message: InboundMessage, mail: ReceivedMail): Promise<FoundFacts> {
  const { orgId, siteId } = message;
  const [sender] = [...addressesOf(mail, "from"), ...addressesOf(mail, "sender")];
  const from = sender?.email ?? unknownSender;
  const report = await readReport(mail);
  if (report) {
    const send = await findReportedSend(orgId, mail, report);
    const matchedBy = send && "reference";
    return { kind: report.kind, from, send, matchedBy, contact: undefined, report };
  }
  const mailboxReport = await findMailboxReport(orgId, mail);
  if (mailboxReport)
    return {
      kind: "report",
      from,
      send: undefined,
      matchedBy: undefined,
      contact: undefined,
      mailboxReport,
    };
  const found = sender && (await findAnsweredSend({ orgId, siteId }, mail, from));
  const contact = await findContact(message, from, found?.send);
  const facts = { from, send: found?.send, matchedBy: found?.matchedBy, contact };
  const unsubscribeToken = await findUnsubscribeToken(mail, { orgId, siteId });
  if (unsubscribeToken) return { ...facts, kind: "unsubscribe", unsubscribeToken };
  if (isAutomatic(mail)) return { ...facts, kind: "auto_reply" };
  return { ...facts, kind: found && mail.spam.isSpam !== true ? "reply" : "other" };
}

/** Undefined if the mail is no report about a domain of the organization. */
async function findMailboxReport(
  orgId: number,
  mail: ReceivedMail,
): Promise<FoundFacts["mailboxReport"]> {
  const report = findReport(mail);
  if (!report) return undefined;
  const domains = await findReportedDomains(orgId, report);
  return domains.size ? { report, domains } : undefined;
}

/** No `.invalid` domain receives mail (RFC 6761). */
const unknownSender = "unknown@unknown.invalid";

/** The contact of the send that it answers, else the one with the address of its sender. */
async function findContact(
  { orgId, siteId }: InboundMessage,
  from: string,
  send: SendItem | undefined,
): Promise<ContactItem | undefined> {
  const ofSend = send?.contactId ? await findSurvivor(orgId, send.contactId) : undefined;
  return ofSend ?? get<ContactItem>(keys.contact(orgId, siteId, normalizeEmail(from)));
}

interface NewMail {
  claim: ClaimedIds;
  found: FoundFacts;
}

/** Stores the files first, so that a stored mail never names a missing one. */
async function insert(
  { orgId, siteId, provider, receivedAt }: InboundMessage,
  mail: ReceivedMail,
  { claim: { id }, found }: NewMail,
): Promise<InboundEmailItem> {
  const { kind, from, send, matchedBy, contact } = found;
  const files = await inParallel(4, mail.files, async ({ content, ...file }, n) => {
    const blob = `inbound/${orgId}/${id}/${n}`;
    await objects.put(blob, content, file.type);
    return { ...file, size: content.length, blob };
  });
  const key = keys.inboundEmail(orgId, id);
  const { text = null, html = null, headers } = mail;
  const expires = epochSeconds(addSeconds(keptSeconds, new Date(receivedAt)));
  const [messageId] = messageIdsOf(mail, "message-id");
  const item: InboundEmailItem = {
    id,
    orgId,
    siteId,
    kind,
    provider,
    from,
    ...definedOnly({
      fromName: addressesOf(mail, "from")[0]?.name || undefined,
      messageId,
      sendId: send?.id,
      matchedBy,
      contactId: contact?.id,
      isSpam: mail.spam.isSpam,
      spamScore: mail.spam.score,
    }),
    to: recipientsOf(mail),
    subject: subjectOf(mail),
    files,
    receivedAt,
    expires,
    ...(await compress(key, { text, html, headers })),
  };
  const isInserted = await transact(
    put(key, item, { if: isNew }),
    put(keys.inboundFeed(orgId, siteId, id), { kind, expires }),
    put(keys.inboundFrom(orgId, from, id), { siteId, kind, expires }),
  );
  // Another worker stored it at the same time.
  return isInserted ? item : (await get<InboundEmailItem>(key))!;
}

const definedOnly = <T extends object>(values: T): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;

const maxRecipients = 20;
const recipientsOf = (mail: ReceivedMail): string[] => {
  const shown = addressesOf(mail, "to", "cc").map(({ email }) => email);
  const named = [...shown, ...mail.envelopeTo.map((to) => to.slice(0, 254))];
  return [...new Map(named.map((email) => [normalizeEmail(email), email])).values()].slice(
    0,
    maxRecipients,
  );
};

/** The name of the custom event that a reply is, for sequences, segments and scoring. */
const replyEventName = "email_replied";

/** The contact has a custom event, which is safe to repeat. Prepares the event for endpoints. */
async function reportReply(
  item: InboundEmailItem,
  { contact, send }: FoundFacts,
  { activityId }: ClaimedIds,
): Promise<PreparedEvents> {
  const { orgId, id, subject, receivedAt } = item;
  const { campaignId = null, sequenceId = null, stepId = null } = send!;
  const about = { inboundEmailId: id, sendId: send!.id, campaignId, sequenceId, stepId };
  if (contact)
    await recordFor(contact, {
      eventName: replyEventName,
      properties: { ...about, subject },
      id: `inbound ${id}`,
      activityId,
      receivedAt,
      newContactId: undefined,
      source: "inbound",
    }).catch((error: unknown) => {
      // The contact was deleted in between, or the site has too many names of events.
      if (isTransient(error)) throw error;
      log.warn("reply without event", { orgId, inboundEmailId: id });
    });
  return prepareEvents(orgId, () => [
    {
      event: "email.replied",
      sendId: send!.id,
      contactId: contact?.id,
      email: item.from,
      timestamp: receivedAt,
      details: {
        siteId: item.siteId,
        campaignId,
        sequenceId,
        stepId,
        data: {
          inboundEmailId: id,
          subject,
          matchedBy: item.matchedBy,
          attachmentCount: item.files.length,
        },
      },
    },
  ]);
}
