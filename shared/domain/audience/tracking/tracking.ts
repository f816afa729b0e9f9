// Website tracking: records activities of visitors of a customer's pages. The activities of an
// anonymous visitor are buffered, up to 100 for 30 days, and move to the contact when the visitor
// is identified.
import * as z from "zod";
import { ConditionFailed, get } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { missing, undefinedIfMissing } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { conditional, exactlyOneOf } from "../../../kernel/either-or.ts";
import { EmailAddress, normalizeEmail } from "../../../kernel/email-fields.ts";
import { Id } from "../../../kernel/record-fields.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { isDeleted } from "../../../kernel/site-access.ts";
import { keys } from "../../../keys.ts";
import { findSurvivor } from "../contacts/contact-lookups.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import { openToken } from "../contacts/link-tokens.ts";
import * as activities from "./activities.ts";
import { EventName, EventProperties } from "./custom-events.ts";
import * as visitors from "./visitors.ts";

const visitorId = z
  .string()
  .regex(/^[\w-]{8,64}$/, "must be 8 to 64 letters, digits, - or _")
  .meta({ minLength: 8, maxLength: 64 });
const url = z.url({ protocol: /^https?$/, error: "must be an http(s) URL" }).max(2000);

export const TrackedEvent = z
  .object({
    siteId: Id.describe("Id of the site that the page belongs to."),
    visitorId: visitorId.describe(
      "Random id of the visitor, created by the page: 8 to 64 letters, digits, - or _. Keep " +
        "it private: anyone who knows it can identify the visitor.",
    ),
    type: z
      .enum(["page_view", "custom"])
      .describe("`page_view` needs `url`. `custom` needs `name`."),
    name: EventName.optional().describe("For `custom`: name of the event."),
    url: url.optional().describe("URL of the page. At most 2,000 characters."),
    properties: EventProperties.optional().describe("Your own data, at most 8,000 bytes of JSON."),
  })
  .refine(({ type, name }) => type !== "custom" || name !== undefined, {
    message: "is required",
    path: ["name"],
  })
  .refine(({ type, url: pageUrl }) => type !== "page_view" || pageUrl !== undefined, {
    message: "is required",
    path: ["url"],
  })
  .meta({
    ...conditional(
      { properties: { type: { const: "custom" } } },
      { required: ["name"] },
      { required: ["url"] },
    ),
    examples: [
      {
        siteId: 1,
        visitorId: "5b2e8c1f9a7d4e60",
        type: "page_view",
        url: "https://shop.example/pricing",
      },
    ],
  });
export type TrackedEvent = z.output<typeof TrackedEvent>;

export const Identification = exactlyOneOf(
  z.object({
    siteId: Id.describe("Id of the site that the page belongs to."),
    visitorId: visitorId.describe("`visitorId` of the visitor's events."),
    email: EmailAddress.optional().describe(
      "Email address of the contact. Give either this or `contactToken`. It proves nothing: " +
        "events of the visitor earn no points and start no sequences.",
    ),
    contactToken: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe(
        "Proves who the visitor is. Marketing email has it as `{{ contactToken }}`: put it " +
          "into links to your pages.",
      ),
  }),
  ["email", "contactToken"],
).meta({ examples: [{ siteId: 1, visitorId: "5b2e8c1f9a7d4e60", email: "ann@example.com" }] });
export type Identification = z.output<typeof Identification>;

/** The organization of a site. Throws 404. */
export async function findOrganizationId(id: number): Promise<number> {
  const key = keys.trackingSite(id);
  const item =
    (await get<{ orgId: number }>(key, { consistent: false })) ??
    (await get<{ orgId: number }>(key));
  if (!item || (await isDeleted(item.orgId, id))) throw missing("The site does not exist");
  return item.orgId;
}

/** Drops the event when the buffer of an anonymous visitor is full. 404 for an unknown site. */
export async function track(event: TrackedEvent): Promise<void> {
  const visitor: visitors.Visitor = {
    orgId: await findOrganizationId(event.siteId),
    siteId: event.siteId,
    visitorId: event.visitorId,
  };
  const activity = await createActivity(event);
  await retryOnConflict("The visitor", async () => {
    const state = await visitors.getState(visitor);
    const { contactId, moving, kept } = state;
    if (contactId === undefined) {
      if (kept >= visitors.maxBufferedVisits || (await visitors.bufferVisit(visitor, activity)))
        return;
    } else if (moving) await visitors.transferVisits(visitor, state);
    else if (await recordForContact(visitor, { ...state, contactId }, activity))
      return visitors.renewLink(visitor, state);
    // The visitor was linked or unlinked by another request, or its visits have just been moved:
    // read its state again.
    throw new ConditionFailed(0);
  });
}

const createActivity = async ({
  type,
  name,
  url: pageUrl,
  properties,
}: TrackedEvent): Promise<activities.Activity> => ({
  id: await ids.nextActivityId(),
  at: now().toISOString(),
  type,
  name: type === "custom" ? name! : activities.pageViewName,
  url: pageUrl,
  properties: properties && JSON.stringify(properties),
  source: "tracking",
});

/** Returns false if the contact does not exist any more; the visitor is then anonymous again. */
async function recordForContact(
  visitor: visitors.Visitor,
  { contactId, provenId }: visitors.Claimed & { contactId: number },
  activity: activities.Activity,
): Promise<boolean> {
  const proven = visitors.isProven({ contactId, provenId });
  const contactActivity = await visitors.toContact(visitor, activity, proven);
  const recorded = await activities
    .recordActivity(visitor.orgId, { id: contactId }, contactActivity)
    .catch(undefinedIfMissing);
  if (recorded) return true;
  await visitors.unlink(visitor, contactId);
  return false;
}

/**
 * Links a visitor to a contact; a later call replaces the link. The response does not reveal
 * whether the contact exists. 404 for an unknown site.
 */
export async function identify({
  siteId: site,
  visitorId: id,
  email,
  contactToken,
}: Identification): Promise<void> {
  const visitor: visitors.Visitor = {
    orgId: await findOrganizationId(site),
    siteId: site,
    visitorId: id,
  };
  const contact =
    contactToken === undefined
      ? await getContactByEmail(visitor, email!)
      : await getContactByToken(visitor, contactToken);
  const provenId = await visitors.linkToContact(visitor, contact?.id, contactToken !== undefined);
  await visitors.transferVisits(visitor, { contactId: contact?.id, provenId });
}

const getContactByEmail = (
  { orgId, siteId: site }: visitors.Visitor,
  email: string,
): Promise<ContactItem | undefined> =>
  get<ContactItem>(keys.contact(orgId, site, normalizeEmail(email)));

/** Undefined for a token of another site. */
async function getContactByToken(
  visitor: visitors.Visitor,
  token: string,
): Promise<ContactItem | undefined> {
  const subject = await openToken("visitor", token);
  if (!subject || subject.orgId !== visitor.orgId || subject.siteId !== visitor.siteId)
    return undefined;
  const contact =
    subject.contactId === undefined
      ? undefined
      : await findSurvivor(visitor.orgId, subject.contactId);
  return contact ?? getContactByEmail(visitor, subject.email);
}
