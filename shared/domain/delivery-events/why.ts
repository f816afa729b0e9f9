// Collects the facts about an address for an answer. Costs 10 to 30 read units: about 5 for the
// recipient index, 0.5 to 4 for each of up to 10 sends, and 1 each for suppression, contact and
// hold. With a frequency cap, the mail log of the site comes on top.
import * as z from "zod";
import { get } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { addSeconds, now } from "../../clock.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { inGroups, inParallel } from "../../kernel/parallel.ts";
import { RecordId, RecordSiteId, Timestamp } from "../../kernel/record-fields.ts";
import { keys } from "../../keys.ts";
import {
  type ContactItem,
  contactStatuses,
  NamedRecord,
} from "../audience/contacts/contact-schema.ts";
import { getSnoozeEnd } from "../audience/contacts/snooze-state.ts";
import { createMailReader } from "../audience/mail-counts/mail-counts.ts";
import { find as findSuppression, Suppression } from "../audience/suppressions/suppressions.ts";
import { listOfSite } from "../audience/topics/site-topics.ts";
import { isSubscribed } from "../audience/topics/topic-subscription.ts";
import * as sites from "../identity/sites.ts";
import { getAcceptedSends } from "../sending/list-sends.ts";
import { findHold, holdKinds } from "../sending/mail-holds.ts";
import { isRecipient, readSendsTo } from "../sending/recipient-index/sends-to-address.ts";
import { toApi } from "../sending/send-schema.ts";
import { explainDelivery, listMarketingBarriers, marketingBarriers } from "./delivery-answers.ts";
import { listEventsOfSend, SendDetail } from "./send-history.ts";
import { whyReasons } from "./why-reasons.ts";

export const Why = z
  .object({
    email: z.string().describe("Email address that the answer is about, in lower case."),
    siteId: RecordSiteId,
    reason: z
      .enum(whyReasons)
      .describe(
        "The first cause that applies. `suppressed`: the address gets no email, or no marketing " +
          "email after soft bounces. `unsubscribed`, `unconfirmed`, `snoozed`, `capped`: it gets " +
          "no marketing email. `not_in_topic`: it gets none on some topics. `scheduled`, " +
          "`paused`, " +
          "`held_by_provider`, `held_by_warm_up`, `held_by_domain`, `queued`: the latest email " +
          "waits. `cancelled`, `refused`, `bounced`, `uncertain`, `deferred`, `sent`, " +
          "`delivered`, `opened`: what happened to it. `not_sent`: none was accepted. " +
          "`unknown_address`: none, and there is no such contact. With `campaignId`, also " +
          "`duplicate`, `invalid_address`, `held_out`: the campaign left the contact out. " +
          "`not_in_audience`: the contact was not in its audience.",
      ),
    alsoApplies: z
      .array(z.enum(marketingBarriers))
      .describe(
        "What else keeps marketing email from the address now. A campaign leaves the contact " +
          "out, though `reason` is about an email that arrived before. `not_in_topic`: only " +
          "email on some topics.",
      ),
    answer: z.string().describe("The answer in one or two sentences, with the provider's words."),
    nextStep: z
      .string()
      .describe("What to do next, in one or two sentences that need no knowledge of the API."),
    nextRequest: z
      .string()
      .nullable()
      .describe(
        "Request of the API that the next step needs, such as `DELETE /suppressions/:email`. " +
          "`null`: none.",
      ),
    campaign: z
      .object({
        id: RecordId.describe("Id of the campaign."),
        name: z.string().describe("Name of the campaign."),
        sendId: RecordId.nullable().describe("Its email to the contact. `null`: there is none."),
      })
      .nullable()
      .describe("The campaign that the answer is about, or `null` without `campaignId`."),
    suppression: Suppression.nullable().describe("Entry on the suppression list, or `null`."),
    contact: z
      .object({
        id: RecordId.describe("Id of the contact, for GET /contacts/:id."),
        status: z.enum(contactStatuses).describe("Status of the contact."),
        snoozedUntil: Timestamp.nullable().describe(
          "Until when the contact has paused marketing email on the preference page, or `null`.",
        ),
        cappedUntil: Timestamp.nullable().describe(
          "Until when the frequency cap of the site leaves the contact out of marketing email, " +
            "or `null`.",
        ),
        otherTopics: z
          .array(NamedRecord)
          .describe("Topics of the site that the contact is not subscribed to."),
      })
      .nullable()
      .describe("Contact of the site with this address, or `null`."),
    hold: z
      .object({
        kind: z
          .enum(holdKinds)
          .describe(
            "`paused`: its campaign, sequence or holiday email is paused. `provider_failing`: " +
              "the provider fails. `provider_limit`: the provider asked for a pause, because of " +
              "its rate limit or because the account has no emails or credits left. " +
              "`warm_up`: the limit of the day is reached. `domain`: the recipient's domain " +
              "defers email.",
          ),
        until: Timestamp.nullable().describe("When it ends by itself, or `null`."),
        providerMessage: z
          .string()
          .nullable()
          .describe("The provider's own words, at most 300 characters, or `null`."),
      })
      .nullable()
      .describe("What holds the latest send, or `null`."),
    sends: z
      .array(SendDetail)
      .describe("Up to 5 sends of the last 90 days to the address, newest first, with events."),
  })
  .meta({ id: "Why" });
export type Why = z.output<typeof Why>;

/** Throws 404 for a site that does not exist, and 400 if `siteId` is needed. */
export async function answerWhy(
  caller: Caller,
  { email: given, siteId: givenSiteId }: { email: string; siteId?: number | undefined },
): Promise<Why> {
  const { orgId } = caller;
  const email = normalizeEmail(given);
  const site = await sites.find(caller, await sites.resolveSiteId(caller, givenSiteId));
  const [suppression, contact, sends] = await Promise.all([
    findSuppression(orgId, email),
    get<ContactItem>(keys.contact(orgId, site.id, email)),
    listLatestSends({ orgId, siteId: site.id }, email),
  ]);
  const [latest] = sends;
  const isWaiting = latest?.status === "queued" || latest?.status === "sending";
  const [hold, cappedUntil, otherTopics] = await Promise.all([
    isWaiting ? findHold(orgId, latest) : undefined,
    contact && findCapEnd(contact, site.sendFrequencyCapDays),
    contact ? listOtherTopics(contact) : [],
  ]);
  const contactStatus = contact?.status;
  const snoozedUntil = contact && getSnoozeEnd(contact);
  const facts = {
    ...{ email, suppression, contactStatus, snoozedUntil, cappedUntil, latest, hold },
    otherTopics: otherTopics.map(({ name }) => name),
  };
  const explained = explainDelivery(facts);
  return {
    email,
    siteId: site.id,
    nextRequest: null,
    ...explained,
    alsoApplies: listMarketingBarriers(facts).filter((barrier) => barrier !== explained.reason),
    campaign: null,
    suppression: suppression ?? null,
    contact: contact
      ? {
          id: contact.id,
          status: contact.status,
          snoozedUntil: snoozedUntil ?? null,
          cappedUntil: cappedUntil ?? null,
          otherTopics,
        }
      : null,
    hold: hold ?? null,
    sends,
  };
}

async function listOtherTopics(contact: ContactItem): Promise<z.output<typeof NamedRecord>[]> {
  const ofSite = await listOfSite(contact.orgId, contact.siteId);
  return ofSite
    .filter((topic) => !isSubscribed(contact, topic))
    .map(({ id, name }) => ({ id, name }));
}

const maxSends = 5;
const sendsPerRead = 10;
// Sends of other sites to the address are read too.
const maxScanned = 50;

async function listLatestSends(
  { orgId, siteId }: { orgId: number; siteId: number },
  email: string,
): Promise<SendDetail[]> {
  const found: SendDetail[] = [];
  let scanned = 0;
  for await (const positions of inGroups(readSendsTo({ orgId, email }), sendsPerRead)) {
    const items = await getAcceptedSends(orgId, positions);
    const wanted = items
      .flatMap((item) => item ?? [])
      .filter((item) => item.siteId === siteId && isRecipient(item, email));
    const details = await inParallel(maxSends, wanted.slice(0, maxSends), async (item) => ({
      ...toApi(item),
      events: await listEventsOfSend(orgId, item),
    }));
    found.push(...details);
    scanned += positions.length;
    if (found.length >= maxSends || scanned >= maxScanned) break;
  }
  return found.slice(0, maxSends);
}

/** Undefined if the cap does not leave the contact out now. */
async function findCapEnd(
  contact: ContactItem,
  capDays: number | null | undefined,
): Promise<string | undefined> {
  if (!capDays) return undefined;
  const [counted] = await createMailReader(contact, { consistent: true })([contact]);
  const { lastMarketingAt } = counted!;
  if (!lastMarketingAt) return undefined;
  const end = addSeconds(capDays * 24 * 3600, new Date(lastMarketingAt));
  return end > now() ? end.toISOString() : undefined;
}
