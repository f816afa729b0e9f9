// Leaving and coming back: by one click of a mail program (RFC 8058), or on the page that the link
// in a mail opens.

import { ConditionFailed, get } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import type { Brand } from "../../email/brand/brand.ts";
import { invalid, isContended, missing } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { retryInTurn } from "../../kernel/retry-on-conflict.ts";
import { type Key, keys, zeroPad } from "../../keys.ts";
import type { Consent } from "../audience/contacts/consent-log.ts";
import { findSurvivor } from "../audience/contacts/contact-lookups.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as contactStatus from "../audience/contacts/contact-status.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { type LinkSubject, openToken } from "../audience/contacts/link-tokens.ts";
import {
  listPreferenceFields,
  type PreferenceField,
} from "../audience/contacts/preference-fields.ts";
import { getSnoozeEnd } from "../audience/contacts/snooze-state.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import * as contactTopics from "../audience/topics/contact-topics.ts";
import { listOfSite } from "../audience/topics/site-topics.ts";
import type { TopicChoice } from "../audience/topics/topic-choice-schemas.ts";
import type { TopicItem } from "../audience/topics/topic-schema.ts";
import { isSubscribed } from "../audience/topics/topic-subscription.ts";
import { defaultPreferencePage } from "../identity/consent-settings.ts";
import * as sites from "../identity/sites.ts";
import { getChunkSend } from "../sending/bulk/chunk-sends.ts";
import * as applyEvents from "./apply-events.ts";
import { eventKey, type SendWithEvents } from "./send-events.ts";

export interface UnsubscribeStatus {
  /** The address that got the mail, because others may have the link, too. */
  email: string;
  siteName: string;
  /** The brand of the site. */
  brand: Brand | null;
  /** The language of the mail, else of the contact (BCP 47). Null if neither is known. */
  locale: string | null;
  /**
   * `suppressed`: it bounced or complained, or somebody suppressed it; it gets nothing, and cannot
   * change that here.
   */
  state: "subscribed" | "unsubscribed" | "suppressed";
  /** It gets no marketing mail from any site of the organization. */
  everything: boolean;
  /** The topic of the mail with the link. */
  topicId: number | null;
  /**
   * Public topics of the site, and the topic of the mail, in their order. Empty for an address
   * without a contact.
   */
  topics: TopicSubscription[];
  /** Until when the contact has paused marketing mail (ISO 8601), or null. */
  snoozedUntil: string | null;
  /** Whether the contact can pause marketing mail here. */
  canSnooze: boolean;
  /** Whether the page asks why the contact left. */
  asksLeaveReason: boolean;
  /** What the contact can change here. */
  fields: PreferenceField[];
}

export interface TopicSubscription extends Pick<TopicItem, "id" | "name" | "description"> {
  subscribed: boolean;
}

/**
 * What the page shows. Reads only: mail programs and scanners open links. Throws 404 for a token
 * that is not ours.
 */
export async function findStatus(token: string): Promise<UnsubscribeStatus> {
  const subject = await findSubject(token);
  const { contact, site, email, mailedTo, orgId, topicId, locale } = subject;
  const page = site.preferencePage ?? defaultPreferencePage;
  const [suppression, known, fields, hasAnswered] = await Promise.all([
    suppressions.find(orgId, email),
    contact ? listOfSite(orgId, site.id) : [],
    contact ? listPreferenceFields(contact, page.fields) : [],
    contact && exists(leaveReasonKey(subject, contact)),
  ]);
  const state = stateOf(contact, suppression);
  const shown = known.filter(({ id, visibility }) => visibility === "public" || id === topicId);
  return {
    email: mailedTo,
    siteName: sites.displayNameOf(site),
    brand: site.brand ?? null,
    locale: locale ?? contact?.locale ?? null,
    state,
    everything: suppression !== undefined && !suppressions.isSoft(suppression),
    topicId: shown.some(({ id }) => id === topicId) ? topicId! : null,
    topics: shown.map((topic) => ({
      id: topic.id,
      name: topic.name,
      description: topic.description,
      subscribed: isSubscribed(contact!, topic),
    })),
    snoozedUntil: (contact && getSnoozeEnd(contact)) ?? null,
    canSnooze: contact !== undefined && page.snooze,
    asksLeaveReason: hasAnswered === false && page.leaveReason && state === "unsubscribed",
    fields,
  };
}

/** Marks that the contact said why it left, once for each mail. */
export const leaveReasonKey = ({ orgId, sendId = 0 }: LinkSubject, { id }: ContactItem): Key =>
  keys.contactLog(orgId, id, `LEAVING|${zeroPad(sendId)}`);

const exists = async (key: Key): Promise<boolean> => (await get(key)) !== undefined;

function stateOf(
  contact: ContactItem | undefined,
  suppression: suppressions.Suppression | undefined,
): UnsubscribeStatus["state"] {
  if (suppression && !suppressions.isMarketingOnly(suppression)) return "suppressed";
  const hasLeft = suppression?.reason === "unsubscribe" || (contact && isUnsubscribed(contact));
  return hasLeft ? "unsubscribed" : "subscribed";
}

const isUnsubscribed = ({ status, unsuppressed }: ContactItem): boolean =>
  (status === "suppressed" ? unsuppressed : status) === "unsubscribed";

/** How the person used the link. */
export type LinkUse = Pick<Consent, "ipAddress"> & {
  source: "one_click" | "preference_page";
};
const byPage: LinkUse = { source: "preference_page" };

/**
 * No more mail on the topic of the mail whose link it was, and an event of that mail. Without a
 * topic, or when it was deleted: no more marketing mail from this site. Safe to repeat; a repeat
 * completes a request that stopped half-way.
 */
export async function unsubscribe(token: string, use: LinkUse = byPage): Promise<void> {
  const subject = await findSubject(token);
  const topic = await findTopic(subject);
  // The event comes first, because it is recorded only of a person who has not left yet. The person
  // leaves whether or not it can be recorded.
  await recordUnsubscribeEvent(subject, use, topic).finally(() =>
    topic ? leaveTopic(subject, use, topic) : leaveSite(subject, use),
  );
}

/** No more marketing mail from this site, whatever the topic of the mail. */
export async function unsubscribeFromSite(token: string, use: LinkUse = byPage): Promise<void> {
  const subject = await findSubject(token);
  await recordUnsubscribeEvent(subject, use).finally(() => leaveSite(subject, use));
}

/** No more marketing mail from any site of the organization. */
export async function unsubscribeFromEverything(
  token: string,
  use: LinkUse = byPage,
): Promise<void> {
  const subject = await findSubject(token);
  const { orgId, contact, email } = subject;
  await recordUnsubscribeEvent(subject, use).finally(async () => {
    if (contact)
      await contactStatus.setSubscription(contact, "unsubscribed", toConsent(subject, use));
    await suppressions.suppress(orgId, { email, reason: "unsubscribe", detail: null, source });
  });
}

async function leaveSite(subject: TokenSubject, use: LinkUse): Promise<void> {
  const { orgId, siteId, contact, email } = subject;
  const consent = toConsent(subject, use);
  if (contact && (await contactStatus.setSubscription(contact, "unsubscribed", consent))) return;
  await contacts.leaveSite(orgId, { siteId, email, source });
}

const leaveTopic = async (subject: TokenSubject, use: LinkUse, { id }: TopicItem): Promise<void> =>
  void (await contactTopics.change({ orgId: subject.orgId }, subject.contact!.id, {
    choices: [{ id, subscribed: false }],
    consent: toConsent(subject, use),
  }));

/**
 * Joins and leaves topics that the page shows, and records an event when the topic of the mail is
 * left. Throws 400 for another topic.
 */
export async function chooseTopics(
  token: string,
  use: LinkUse,
  choices: TopicChoice[],
): Promise<void> {
  const subject = await findSubject(token);
  const { topics: shown } = await findStatus(token);
  const unknown = choices.find(({ id }) => !shown.some((topic) => topic.id === id));
  if (unknown) throw invalid(`Topic ${unknown.id} is not on this page`);
  if (!subject.contact || !choices.length) return;
  const leavesTopic = choices.some(({ id, subscribed }) => id === subject.topicId && !subscribed);
  const topic = leavesTopic ? await findTopic(subject) : undefined;
  const change = { choices, consent: toConsent(subject, use) };
  await (topic ? recordUnsubscribeEvent(subject, use, topic) : Promise.resolve()).finally(() =>
    contactTopics.change({ orgId: subject.orgId }, subject.contact!.id, change),
  );
}

/** The person subscribes again. An address that bounced or complained stays suppressed. */
export async function resubscribe(token: string, use: LinkUse = byPage): Promise<void> {
  const subject = await findSubject(token);
  const { contact, email, orgId } = subject;
  if (contact) await contactStatus.setSubscription(contact, "subscribed", toConsent(subject, use));
  await suppressions.removeIfUnsubscribed(orgId, email);
}

export const toConsent = ({ sendId }: TokenSubject, use: LinkUse): Consent => ({
  ...use,
  sendId,
});

/** The topic that the link leaves. Undefined without a contact, who alone can leave a topic. */
async function findTopic({
  orgId,
  topicId,
  contact,
}: TokenSubject): Promise<TopicItem | undefined> {
  if (topicId === undefined || !contact) return undefined;
  return get<TopicItem>(keys.record(orgId, "TOPIC", topicId));
}

export interface TokenSubject extends LinkSubject {
  contact: ContactItem | undefined;
  /** The contact's address as it is now, else that of the mail. Never shown. */
  email: string;
  /** The address of the mail with the link. */
  mailedTo: string;
  site: sites.Site;
}

const invalidLink = () => missing("This link is not valid");

export async function findSubject(token: string): Promise<TokenSubject> {
  const subscriber = await openToken("unsubscribe", token);
  if (!subscriber) throw invalidLink();
  const { orgId, siteId, email } = subscriber;
  const [site, contact] = await Promise.all([
    get<sites.Site>(keys.record(orgId, "SITE", siteId)),
    getContact(subscriber),
  ]);
  if (!site) throw invalidLink();
  return { ...subscriber, contact, email: contact?.email ?? email, mailedTo: email, site };
}

/**
 * The contact, or the one that it was merged into. Finds one that was deleted and created again by
 * its address.
 */
async function getContact({
  orgId,
  siteId,
  contactId,
  email,
}: LinkSubject): Promise<ContactItem | undefined> {
  const known = contactId === undefined ? undefined : await findSurvivor(orgId, contactId);
  return known ?? get<ContactItem>(keys.contact(orgId, siteId, normalizeEmail(email)));
}

const source = "unsubscribe link";

/**
 * What events of providers do: the send has it in its history, its campaign counts it, endpoints
 * and scoring rules hear of it, once for each mail. Who had left already leaves no other mail; a
 * repeat of the one that was told ends what died on the way.
 */
const recordUnsubscribeEvent = async (
  { orgId, sendId, contact, email }: TokenSubject,
  { source: via, ipAddress }: LinkUse,
  topic?: TopicItem,
): Promise<void> => {
  if (sendId === undefined) return;
  const event = {
    type: "unsubscribe" as const,
    providerEventId: topic ? `topic ${topic.id}` : "link",
    data: {},
    via,
    ...(topic && { topic: { topicId: topic.id, topicName: topic.name } }),
  };
  await retryInTurn(`send ${orgId} ${sendId}`, "The mail", async () => {
    const send = await get<SendWithEvents>(keys.send(orgId, sendId));
    if (!send && !(await getChunkSend(orgId, sendId))) return;
    const isRecorded = send?.events?.some((entry) => eventKey(entry) === eventKey(event));
    const hasLeft =
      contact && (isUnsubscribed(contact) || (topic && !isSubscribed(contact, topic)));
    if (hasLeft && !isRecorded) return;
    const inboundEvent = {
      ...event,
      id: await ids.nextEventIds(1),
      sendId,
      email,
      timestamp: now().toISOString(),
      ipAddress,
    };
    await applyEvents
      .applyEvents(orgId, [{ body: { orgId, provider: source, events: [inboundEvent] } }])
      .catch((error: unknown) => {
        // Simultaneous clicks in other processes abandon each other's rounds.
        throw isContended(error) ? new ConditionFailed(0) : error;
      });
  });
};
