// Custom events of contacts, reported by the API or by website tracking.
import * as z from "zod";
import { now } from "../../../clock.ts";
import { exactlyOneOf } from "../../../kernel/either-or.ts";
import { EmailAddress, singleLineText } from "../../../kernel/email-fields.ts";
import { Count, RecordId, RecordSiteId, Timestamp } from "../../../kernel/record-fields.ts";
import { storedObject } from "../../../kernel/stored-json.ts";
import { ExternalId } from "../contacts/contact-schema.ts";
import { type ActivityItem, activitySources } from "./activities.ts";
import { maxNameLength } from "./custom-event-names.ts";

export const EventName = singleLineText(maxNameLength).trim().min(1);
export const EventProperties = storedObject(8000);

const maxPropertyNames = 50;
const maxAgeDays = 30;
const maxClockSkewMinutes = 5;

const minutesFromNow = (time: string): number => (Date.parse(time) - now().getTime()) / 60_000;

const OccurredAt = z.iso
  .datetime({ offset: true, error: "must be a time with a zone, such as 2026-12-01T09:15:40Z" })
  .refine((time) => minutesFromNow(time) <= maxClockSkewMinutes, "must not be in the future")
  .refine(
    (time) => minutesFromNow(time) >= -maxAgeDays * 24 * 60,
    `must be at most ${maxAgeDays} days ago`,
  );

/** What an event says, apart from its contact. */
const eventFields = {
  eventName: EventName.describe("Name of the event, such as `order_placed`."),
  properties: EventProperties.refine(
    (properties) => Object.keys(properties).length <= maxPropertyNames,
    `must have at most ${maxPropertyNames} names`,
  )
    .default({})
    .describe(
      `Your own data: at most 8,000 bytes of JSON, with at most ${maxPropertyNames} names at ` +
        "the top level.",
    ),
  occurredAt: OccurredAt.optional().describe(
    `When it happened: at most ${maxAgeDays} days ago, and at most ${maxClockSkewMinutes} ` +
      "minutes ahead of the clock of the service. Events may arrive in any order. Defaults to " +
      "now.",
  ),
  id: singleLineText(200)
    .min(1)
    .optional()
    .describe(
      "Your own id of the event. Another request with the same id in the same site within 30 " +
        "days records nothing, and its response is the event of the first.",
    ),
};
/** An event of a contact that the caller finds. */
export const ContactlessEvent = z.object(eventFields);

const id = z.int().positive();
export const NewCustomEvent = exactlyOneOf(
  z.object({
    siteId: id
      .optional()
      .describe(
        "Site to look up `email` or `externalId` in. Defaults to the site of the API key, else " +
          "to the organization's only site.",
      ),
    contactId: id.optional().describe("Contact of the event. Give this, `email` or `externalId`."),
    email: EmailAddress.optional().describe(
      "Email address of the contact. Give this, `contactId` or `externalId`.",
    ),
    externalId: ExternalId.optional().describe(
      "Id of the contact in your own system. Give this, `contactId` or `email`.",
    ),
    createContact: z
      .boolean()
      .optional()
      .describe(
        "Whether an address without a contact becomes one, which needs the right to write " +
          "contacts. Otherwise the response is 404.",
      ),
    status: z
      .enum(["subscribed", "unsubscribed", "pending"])
      .optional()
      .describe(
        "Status of a contact that `createContact` creates; the status of an existing contact " +
          "stays. Defaults to `pending`: an event is no consent, so the contact gets no " +
          "marketing email. Give `subscribed` only if the person agreed to it.",
      ),
    ...eventFields,
  }),
  ["contactId", "email", "externalId"],
  ["createContact", "status"],
)
  .refine(({ createContact, email }) => !createContact || email !== undefined, {
    message: "needs email",
    path: ["createContact"],
  })
  .refine(({ createContact, status }) => status === undefined || createContact, {
    message: "needs createContact",
    path: ["status"],
  })
  .meta({
    id: "NewCustomEvent",
    examples: [
      { email: "ann@example.com", eventName: "order_placed", properties: { total: 49.9 } },
    ],
  });
export type NewCustomEvent = z.output<typeof NewCustomEvent>;

const maxEventsAtOnce = 100;
export const NewCustomEvents = z
  .object({
    siteId: id
      .optional()
      .describe("Site of the events that name none. Defaults as `siteId` of an event."),
    events: z
      .array(z.unknown().meta({ documentedAs: NewCustomEvent }))
      .min(1)
      .max(maxEventsAtOnce)
      .describe(`1 to ${maxEventsAtOnce} events, each as for a request of its own.`),
  })
  .meta({
    examples: [
      {
        events: [
          {
            email: "ann@example.com",
            eventName: "order_placed",
            properties: { total: 49.9 },
            occurredAt: "2026-12-01T09:15:40Z",
            id: "order-1041",
          },
          { email: "bob@example.com", eventName: "trial_started", createContact: true },
        ],
      },
    ],
  });
export type NewCustomEvents = z.output<typeof NewCustomEvents>;

export const CustomEvent = z
  .object({
    id: RecordId.describe("Id of the event. Later recorded events have higher ids, roughly."),
    siteId: RecordSiteId,
    contactId: RecordId.describe("Id of the contact of the event."),
    eventName: z.string().describe("Name of the event, such as `order_placed`."),
    properties: z.record(z.string(), z.unknown()).describe("Your own data given with the event."),
    url: z.string().nullable().describe("URL of the page where it happened, or `null`."),
    source: z
      .enum(activitySources)
      .describe(
        "`api`: recorded by POST /events/custom. `tracking`: reported by the tracking script. " +
          "`inbound`: the contact replied by email.",
      ),
    occurredAt: Timestamp.describe("When it happened."),
    createdAt: Timestamp.describe("When the event was recorded."),
  })
  .meta({ id: "CustomEvent" });
export type CustomEvent = z.output<typeof CustomEvent>;

const CustomEventResult = z
  .object({
    index: Count.describe("Position of the event in the request, from 0."),
    event: CustomEvent.nullable().describe("The recorded event. `null` if it failed."),
    error: z
      .string()
      .nullable()
      .describe("Why the event failed, in one sentence. `null` if it did not."),
  })
  .meta({ id: "CustomEventResult" });
export type CustomEventResult = z.output<typeof CustomEventResult>;

export const CustomEventResults = z
  .object({
    created: Count.describe("Number of events that are recorded, also by an earlier request."),
    failed: Count.describe("Number of events that failed. created + failed = events."),
    results: z
      .array(CustomEventResult)
      .describe("One entry per event, in the order of the request."),
  })
  .meta({ id: "CustomEventResults" });

export const toApi = ({
  id,
  siteId,
  contactId,
  name,
  properties,
  url,
  source,
  at,
  recordedAt = at,
}: ActivityItem): CustomEvent => ({
  id,
  siteId,
  contactId,
  eventName: name,
  properties: JSON.parse(properties ?? "{}") as Record<string, unknown>,
  url: url ?? null,
  source,
  occurredAt: at,
  createdAt: recordedAt,
});
