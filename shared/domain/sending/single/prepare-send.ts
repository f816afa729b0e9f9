import { invalid, missing } from "../../../errors.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { recipientFlaw } from "../../../providers/limits.ts";
import type { Mailbox, Mailing, ProviderAdapter } from "../../../providers/provider-adapter.ts";
import { getProvider } from "../../../providers/registry.ts";
import * as engagement from "../../audience/contacts/engagement.ts";
import * as suppressionLookups from "../../audience/suppressions/suppression-lookups.ts";
import * as organizations from "../../identity/organizations.ts";
import { decryptCredentials } from "../../senders/config-secrets.ts";
import type { SendingConfig } from "../../senders/sending-config-schema.ts";
import * as attachments from "../accept/attachments.ts";
import * as eligibility from "../eligibility.ts";
import { getSourceState, sourceOf } from "../mail-sources.ts";
import { findConfig } from "../provider-calls/provider-call.ts";
import * as rateLimiter from "../provider-calls/rate-limiter.ts";
import { compose } from "../rendering/compose.ts";
import { loadLiquidMail, type MailContent } from "../rendering/mail-content.ts";
import { createMailTracking, toProviderTracking } from "../rendering/own-tracking.ts";
import { findStoredMail, type StoredMail } from "../stored-mail.ts";
import type { Contacts } from "./settle.ts";
import type { SingleSendItem } from "./single-send-item.ts";

// A little less than the longest delay of a queue message.
const maxSlotAheadMs = 890_000;

export interface PreparedSend {
  mail: StoredMail;
  config: SendingConfig;
  provider: ProviderAdapter;
  credentials: Record<string, unknown>;
  mailing: Mailing;
  slot: rateLimiter.RateSlot;
  contacts: Contacts;
  /** The organization's time zone. */
  timezone: string;
  releaseMemory(): void;
}

/**
 * Returns `no memory` while the attachments of others fill the memory, and `paused` while the
 * campaign of the mail is paused. Throws a Problem when the mail can never be sent.
 */
export async function prepareSend(
  orgId: number,
  send: SingleSendItem,
): Promise<PreparedSend | "paused" | "no memory"> {
  const [mail, config, contacts, timezone, limits] = await Promise.all([
    findMail(orgId, send),
    findConfig(orgId, send.sendingConfigId),
    send.system ? [] : engagement.getAddressees(orgId, [send]),
    organizations.getTimezone(orgId),
    rateLimiter.readState(orgId, send.sendingConfigId),
    requireNotSuppressed(orgId, send),
  ]);
  const source = sourceOf(send);
  if (source && mail.line) {
    const state = await getSourceState(orgId, source);
    if (state === "paused") return "paused";
    if (state === "cancelled") throw invalid("cancelled");
    const reason = await findExclusionReason(orgId, send, mail);
    if (reason) throw invalid(reason);
  }
  const releaseMemory = attachments.reserveMemory(mail.content.attachments);
  if (!releaseMemory) return "no memory";
  try {
    const prepared = await renderMail(orgId, send, { mail, config, limits });
    return { ...prepared, mail, config, contacts, timezone, releaseMemory };
  } catch (error) {
    releaseMemory();
    throw error;
  }
}

async function renderMail(
  orgId: number,
  send: SingleSendItem,
  {
    mail,
    config,
    limits: known,
  }: Pick<PreparedSend, "mail" | "config"> & { limits: rateLimiter.LimiterState },
): Promise<Pick<PreparedSend, "provider" | "credentials" | "mailing" | "slot">> {
  // A send that returns for its reserved slot checks only whether the whole config is paused.
  const limited = send.turnAt ? { id: config.id } : config;
  const choice = mail.line ?? {};
  const [fields, tracking, files, credentials, slot] = await Promise.all([
    loadLiquidMail(orgId, mail.content),
    createMailTracking(orgId, mail.content, choice),
    attachments.loadAttachments(mail.content.attachments),
    decryptCredentials(orgId, config),
    rateLimiter.acquireSlot(orgId, limited, { n: 1, maxAheadMs: maxSlotAheadMs, known }),
  ]);
  const composed = compose(mail.content, { ...fields, tracking }, files);
  const { common, renderRecipient } = composed;
  const provider = getProvider(config.provider)!;
  const recipient = renderRecipient(mail.recipient);
  const flaw = recipientFlaw(provider, common, recipient);
  if (flaw) throw invalid(flaw);
  const ids = { configId: config.id, recipients: [recipient] };
  const mailing = { ...common, ...toProviderTracking(composed, choice), ...ids };
  return { provider, credentials, slot, mailing };
}

async function findMail(orgId: number, send: SingleSendItem): Promise<StoredMail> {
  const mail = await findStoredMail(orgId, send);
  if (!mail) throw missing("The send was never accepted: its content is missing");
  return { ...mail, content: await leaveOutSuppressedCopies(orgId, mail.content) };
}

/** Why the contact gets no marketing mail any more. Undefined for other mail. */
export async function findExclusionReason(
  orgId: number,
  send: SingleSendItem,
  { line, head }: StoredMail,
): Promise<string | undefined> {
  if (!sourceOf(send) || !line || !head) return undefined;
  const { siteId, capDays, topic, isNotice } = head;
  const limits = { orgId, siteId, capDays, topic, isNotice };
  const [reason] = await eligibility.listExclusionReasons(limits, [line], { consistent: true });
  return reason;
}

/** The address may be suppressed since the mail was accepted. */
async function requireNotSuppressed(orgId: number, { toEmail }: SingleSendItem): Promise<void> {
  if ((await filterSuppressed(orgId, [toEmail])).has(normalizeEmail(toEmail)))
    throw invalid("suppressed");
}

const filterSuppressed = (orgId: number, emails: string[]): Promise<Set<string>> =>
  suppressionLookups.filterSuppressed(orgId, emails, { purpose: "transactional" });

async function leaveOutSuppressedCopies(orgId: number, content: MailContent): Promise<MailContent> {
  if (!content.copies) return content;
  const { to, cc, bcc } = content.copies;
  const emails = [...to, ...cc, ...bcc].map(({ email }) => email);
  const suppressed = await filterSuppressed(orgId, emails);
  const reachable = (mailboxes: Mailbox[]) =>
    mailboxes.filter(({ email }) => !suppressed.has(normalizeEmail(email)));
  return { ...content, copies: { to: reachable(to), cc: reachable(cc), bcc: reachable(bcc) } };
}
