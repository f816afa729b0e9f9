// Website tracking: what visitors of a customer's pages do. Until somebody says who a visitor is, it is kept with the visitor, a
// little while and not too much of it; then it becomes the contact's, each thing once.
import * as z from "zod";
import { now } from "../clock.ts";
import { get } from "../doors/table.ts";
import { canonical, EmailAddress } from "../email.ts";
import { missing, unlessMissing } from "../errors.ts";
import * as ids from "../ids.ts";
import { keys } from "../keys.ts";
import * as activities from "./contacts/activities.ts";
import type { ContactItem } from "./contacts/contact.ts";
import * as contacts from "./contacts.ts";
import { EventName, Properties } from "./custom-events.ts";
import * as eventNames from "./event-names.ts";
import { opened } from "./tracking/visitor-tokens.ts";
import * as visitors from "./tracking/visitors.ts";

const siteId = z.int().positive();
const visitorId = z.string().regex(/^[\w-]{8,64}$/, "must be 8 to 64 letters, digits, - or _");
const url = z.url({ protocol: /^https?$/, error: "must be an http(s) address" }).max(2000);

export const TrackedEvent = z
  .object({
    siteId,
    visitorId: visitorId.describe("Made by the page, at random: whoever knows it may say who the visitor is"),
    type: z.enum(["page_view", "custom"]),
    name: EventName.optional().describe("Of a custom event"),
    url: url.optional(),
    properties: Properties.optional(),
  })
  .refine(({ type, name }) => type !== "custom" || name !== undefined, { message: "is required", path: ["name"] })
  .refine(({ type, url: page }) => type !== "page_view" || page !== undefined, { message: "is required", path: ["url"] })
  .meta({ examples: [{ siteId: 1, visitorId: "5b2e8c1f9a7d4e60", type: "page_view", url: "https://shop.example/pricing" }] });
export type TrackedEvent = z.output<typeof TrackedEvent>;

export const Identification = z
  .object({
    siteId,
    visitorId,
    email: EmailAddress.optional(),
    contactToken: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe("What a template of marketing mail knows as `{{ contactToken }}`: put it into links to your pages"),
  })
  .refine(({ email, contactToken }) => (email === undefined) !== (contactToken === undefined), {
    message: "give email or contactToken, one of the two",
    path: ["email"],
  })
  .meta({ examples: [{ siteId: 1, visitorId: "5b2e8c1f9a7d4e60", email: "ann@example.com" }] });
export type Identification = z.output<typeof Identification>;

/** The organization of a site. Throws 404. */
export async function organizationOf(id: number): Promise<number> {
  const address = keys.trackingSite(id);
  const found = (await get<{ orgId: number }>(address, { consistent: false })) ?? (await get<{ orgId: number }>(address));
  if (!found) throw missing("There is no such site");
  return found.orgId;
}

const mostTries = 8;

/** Past what is kept of an unknown visitor, nothing more is. Throws 404 for an unknown site. */
export async function track(event: TrackedEvent): Promise<void> {
  const visitor: visitors.Visitor = { orgId: await organizationOf(event.siteId), siteId: event.siteId, visitorId: event.visitorId };
  if (event.type === "custom") await eventNames.keep(visitor.orgId, visitor.siteId, event.name!);
  const activity = await activityOf(event);
  for (let tries = 1; tries <= mostTries; tries++) {
    const state = await visitors.find(visitor);
    const { contactId, moving, kept } = state;
    if (contactId === undefined) {
      if (kept >= visitors.mostKept || (await visitors.keep(visitor, activity))) return;
    } else if (moving) await visitors.move(visitor, contactId);
    else if (await recorded(visitor, contactId, activity)) return visitors.stay(visitor, state);
  }
  throw new Error("A visitor kept changing while its event was written");
}

const activityOf = async ({ type, name, url: page, properties }: TrackedEvent): Promise<activities.Activity> => ({
  id: await ids.takeActivity(),
  at: now().toISOString(),
  type,
  name: type === "custom" ? name! : activities.pageView,
  url: page,
  properties: properties && JSON.stringify(properties),
  source: "tracking",
});

/** False when the contact is gone: then nobody knows the visitor any more. */
async function recorded(visitor: visitors.Visitor, contactId: number, activity: activities.Activity): Promise<boolean> {
  if (await activities.record(visitor.orgId, contactId, activity).catch(unlessMissing)) return true;
  await visitors.forget(visitor, contactId);
  return false;
}

/**
 * Says who a visitor is; the last to say so is believed, for what comes then. Whether there is such a contact is not
 * told. Throws 404 for an unknown site.
 */
export async function identify({ siteId: site, visitorId: id, email, contactToken }: Identification): Promise<void> {
  const visitor: visitors.Visitor = { orgId: await organizationOf(site), siteId: site, visitorId: id };
  const contact = contactToken === undefined ? await contactAt(visitor, email!) : await contactOf(visitor, contactToken);
  await visitors.link(visitor, contact?.id);
  await visitors.move(visitor, contact?.id);
}

const contactAt = ({ orgId, siteId: site }: visitors.Visitor, email: string): Promise<ContactItem | undefined> =>
  get<ContactItem>(keys.contact(orgId, site, canonical(email)));

/** A token of another site is no token here. */
async function contactOf(visitor: visitors.Visitor, token: string): Promise<ContactItem | undefined> {
  const reader = await opened(token);
  if (!reader || reader.orgId !== visitor.orgId || reader.siteId !== visitor.siteId) return undefined;
  const [known] = reader.contactId === undefined ? [] : await contacts.byIds(visitor.orgId, [reader.contactId]);
  return known ?? contactAt(visitor, reader.email);
}
