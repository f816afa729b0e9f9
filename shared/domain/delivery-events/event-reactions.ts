// Reactions of other areas to delivery events. Each reaction is safe to repeat: when a round stops
// before its commit, the round that takes its events over repeats the reactions.
import { domainOf, normalizeEmail } from "../../kernel/email-fields.ts";
import { inParallel } from "../../kernel/parallel.ts";
import type { EventType } from "../../providers/inbound/inbound-adapter.ts";
import type { Consent } from "../audience/contacts/consent-log.ts";
import * as contactStatus from "../audience/contacts/contact-status.ts";
import { leaveSite } from "../audience/contacts/contacts.ts";
import * as engagement from "../audience/contacts/engagement.ts";
import { type ScoringEvent, scoreEvents } from "../audience/scoring/scoring.ts";
import type { ScoringTrigger } from "../audience/scoring/scoring-rules.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import * as slowDomains from "../sending/bulk/slow-domains.ts";
import { normalizeLink } from "../sending/clicked-links.ts";
import type { SendItem } from "../sending/send-schema.ts";
import { enqueueEvents } from "../webhooks/enqueue-events.ts";
import { eventKey, isAutomatedEvent, type SendUpdate } from "./send-events.ts";
import type { SendEvent } from "./send-outcome.ts";
import { applyMailReports, isSoftBounce, type MailReport } from "./soft-bounces.ts";
import { toOutgoingEvent } from "./webhook-payload.ts";

type EventReaction = (orgId: number, updates: SendUpdate[]) => Promise<void>;

const flatMapEvents = <T>(
  updates: SendUpdate[],
  toItems: (event: SendEvent, update: SendUpdate) => T[],
): T[] =>
  updates.flatMap((update) => update.countedEvents.flatMap((event) => toItems(event, update)));

const suppressionReasons: Partial<Record<EventType, suppressions.SuppressionReason>> = {
  bounce: "bounce",
  spam_report: "spam_report",
  unsubscribe: "unsubscribe",
};

/** What a provider reports about an address. */
export interface AddressReport {
  email: string;
  type: EventType;
  detail?: string | undefined;
  provider: string;
}

/**
 * Suppresses the addresses. A hard bounce or a complaint stops all mail to the address; an
 * unsubscribe stops marketing mail only.
 */
export async function suppressRecipients(orgId: number, reports: AddressReport[]): Promise<void> {
  const newSuppressions = reports.flatMap(({ email, type, detail, provider }) => {
    const reason = suppressionReasons[type];
    if (!reason) return [];
    const text = detail?.replace(/\s+/g, " ").slice(0, suppressions.maxDetailLength) ?? null;
    const bounceType = reason === "bounce" ? ("hard" as const) : null;
    return [{ email, reason, bounceType, detail: text, source: provider }];
  });
  // Reports on the same address run one after the other: in parallel they would only conflict.
  const byAddress = Map.groupBy(newSuppressions, ({ email }) => normalizeEmail(email));
  await inParallel(8, [...byAddress.values()], async (ofAddress) => {
    for (const suppression of ofAddress) await suppressions.suppress(orgId, suppression);
  });
}

/** A report about the recipient of a mail, or about one of its copies. */
export const toMailReport = (
  { type, at, data }: Pick<SendEvent, "type" | "at" | "data">,
  email: string,
  { send, provider }: { send: SendItem; provider: string },
): MailReport => ({
  siteId: send.siteId,
  sendId: send.id,
  acceptedAt: send.createdAt,
  email,
  type,
  at,
  bounceType: data?.bounceType,
  detail: data?.reason,
  provider,
});

/**
 * A hard bounce or a complaint suppresses at once, and a soft bounce when the site says so. A later
 * mail that arrives ends the suppression by soft bounces.
 */
export async function suppressReported(orgId: number, reports: MailReport[]): Promise<void> {
  const isFinal = (report: MailReport) => report.type !== "unsubscribe" && !isSoftBounce(report);
  await suppressRecipients(orgId, reports.filter(isFinal));
  await applyMailReports(orgId, reports);
}

const suppressOnBounceOrComplaint: EventReaction = (orgId, updates) =>
  suppressReported(
    orgId,
    flatMapEvents(updates, (event, update) => [toMailReport(event, update.send.toEmail, update)]),
  );

/**
 * An unsubscribe holds for the site that sent the mail, and for no other. One that leaves a topic
 * only is ours, and `unsubscribes.ts` does the rest. A complaint about mail to a contact that was
 * merged holds for the contact that stays, whose address it does not suppress.
 */
const unsubscribeContacts: EventReaction = async (orgId, updates) => {
  const refusals = flatMapEvents(updates, (event, { send, provider }) =>
    (event.type === "unsubscribe" && !event.topic) || event.type === "spam_report"
      ? [{ event, send, provider }]
      : [],
  );
  const contacts = await engagement.getAddressees(
    orgId,
    refusals.map(({ send }) => send),
  );
  await inParallel(8, refusals, async ({ event, send, provider: source }, i) => {
    const { siteId, contactId, toEmail: email } = send;
    const contact = contacts[i];
    const isMerged = contact?.merged?.some(({ id }) => id === contactId) ?? false;
    if (event.type === "spam_report" && !isMerged) return;
    const consent: Consent = {
      source: event.via ?? "provider",
      ipAddress: event.ip,
      sendId: send.id,
    };
    if (contact && (await contactStatus.setSubscription(contact, "unsubscribed", consent))) return;
    await leaveSite(orgId, { siteId, email, source });
  });
};

/**
 * Unsubscribes an address from every site: an unsubscribe event without a send names no site. An
 * address without a contact is suppressed for marketing.
 */
export async function leaveEverywhere(orgId: number, reports: AddressReport[]): Promise<void> {
  const byAddress = Map.groupBy(reports, ({ email }) => normalizeEmail(email));
  await inParallel(8, [...byAddress.values()], async ([report]) => {
    const contacts = await contactStatus.getContactsByEmail(orgId, [report!.email]);
    const unsubscribed = await inParallel(8, contacts, (contact) =>
      contactStatus.setSubscription(contact, "unsubscribed"),
    );
    if (!unsubscribed.includes(true)) await suppressRecipients(orgId, [report!]);
  });
}

const recordEngagement: EventReaction = (orgId, updates) =>
  engagement.recordEngagement(
    orgId,
    flatMapEvents(updates, (event, { send }) => {
      const { type } = event;
      if ((type !== "open" && type !== "click") || isAutomatedEvent(event, send)) return [];
      const { siteId, contactId, toEmail, campaignId, sequenceId, stepId } = send;
      const mail = { siteId, contactId, toEmail, campaignId, sequenceId, stepId };
      const url = linkOf(event, send);
      const isFirst = !(send.events ?? []).some(
        (other) =>
          other.type === type &&
          other.at < event.at &&
          linkOf(other, send) === url &&
          !isAutomatedEvent(other, send),
      );
      return [{ ...mail, key: event.id, type, at: event.at, url, isFirst }];
    }),
  );

const linkOf = ({ data }: SendEvent, send: SendItem): string | undefined =>
  data?.url === undefined ? undefined : normalizeLink(data.url, send);

const forwardToWebhooks: EventReaction = (orgId, updates) =>
  enqueueEvents(
    orgId,
    flatMapEvents(updates, (event, { send }) => [toOutgoingEvent(send, event)]),
  );

const scoringTriggers: Partial<Record<EventType, ScoringTrigger>> = {
  open: "email_open",
  click: "email_click",
  unsubscribe: "unsubscribe",
  bounce: "bounce",
};

const scoreContacts: EventReaction = async (orgId, updates) => {
  const scored = flatMapEvents(updates, (event, { send }) => {
    const trigger = scoringTriggers[event.type];
    if (!trigger || isAutomatedEvent(event, send)) return [];
    const happening: ScoringEvent = {
      trigger,
      key: `send ${send.id} ${eventKey(event)}`,
      at: event.at,
      facts: { url: event.data?.url, campaignId: send.campaignId ?? undefined },
    };
    return [
      { siteId: send.siteId, contactId: send.contactId, email: send.toEmail, event: happening },
    ];
  });
  for (const [siteId, ofSite] of Map.groupBy(scored, (event) => event.siteId))
    await scoreEvents(orgId, siteId, ofSite);
};

const noteDeferrals: EventReaction = (orgId, updates) =>
  slowDomains.recordDeferrals(
    orgId,
    flatMapEvents(updates, ({ type, data }, { send }) =>
      type === "deferred" && data?.cause !== "auto_reply"
        ? [{ configId: send.sendingConfigId, domain: domainOf(send.toEmail) }]
        : [],
    ),
  );

export const eventReactions: EventReaction[] = [
  suppressOnBounceOrComplaint,
  unsubscribeContacts,
  recordEngagement,
  noteDeferrals,
  forwardToWebhooks,
  scoreContacts,
];
