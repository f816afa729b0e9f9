// Schemas of contacts: in the API and in storage.
import * as z from "zod";
import { EmailAddress, singleLineText } from "../../../kernel/email-fields.ts";
import { Locale } from "../../../kernel/locales.ts";
import { Count, CreatedAt, RecordId, Timestamp, UpdatedAt } from "../../../kernel/record-fields.ts";
import type { GroupKind } from "../../../keys.ts";
import { Timezone } from "../../identity/organizations.ts";
import type { SiteTopic } from "../topics/site-topics.ts";
import { TopicChoiceList, TopicState } from "../topics/topic-choice-schemas.ts";
import { toTopicStates } from "../topics/topic-choices.ts";
import { isConfirmable, SendConfirmation, unconfirmable } from "./confirmation-schema.ts";
import { CustomFields } from "./custom-fields.ts";
import type { FieldValue } from "./parse-field-value.ts";
import { EndOfPause, getSnoozeEnd, SnoozeEnd } from "./snooze-state.ts";

export const contactStatuses = ["subscribed", "unsubscribed", "pending", "suppressed"] as const;
export type ContactStatus = (typeof contactStatuses)[number];

const text = singleLineText(200).nullable();

export const ExternalId = singleLineText(200).min(1);

const fields = {
  firstName: text.describe("First name, or `null`. Templates read it as `firstName`."),
  lastName: text.describe("Last name, or `null`. Templates read it as `lastName`."),
  phone: text.describe("Phone number as free text, or `null`."),
  company: text.describe("Company of the contact, or `null`."),
  timezone: Timezone.nullable().describe(
    "IANA time zone of the contact, such as `Europe/Berlin`. Campaigns at local time and send " +
      "windows of sequences use it. `null`: the time zone of the window or the organization.",
  ),
  locale: Locale.nullable().describe("Language (BCP 47), such as `de` or `pt-BR`, or `null`."),
  customFields: CustomFields.describe(
    "Your own fields: up to 100 names of up to 100 characters, each with a string of up to " +
      "2,000 characters, a number, a boolean, a list of up to 100 strings or `null`. At most " +
      "20,000 bytes of JSON. The values of a declared field (PUT /contact-fields/:fieldName) are " +
      "read by its type, and only a declared list takes a list: a value that cannot be read is " +
      "refused. Templates and segments read them as `customFields.<name>`.",
  ),
  source: text.describe(
    "Where the contact came from, as free text. If none is given, imports set `import` and " +
      "forms set `form: <name>`.",
  ),
  externalId: ExternalId.nullable().describe(
    "Id of the contact in your own system, or `null`. At most one contact of a site has it; " +
      "letter case counts.",
  ),
};

/** A record that another one names, such as a tag of a contact. */
export const NamedRecord = z
  .object({
    id: RecordId.describe("Id of the record, for other requests."),
    name: z.string().describe("Name of the record."),
  })
  .meta({ id: "NamedRecord" });

export const Contact = z
  .object({
    id: RecordId.describe(
      "Id of the contact, for GET /contacts/:id and `contactId` of other requests.",
    ),
    siteId: RecordId.describe(
      "Site that the contact belongs to. The same email address on two sites is two contacts.",
    ),
    email: z.string().describe("Email address as it was given. Unique in its site, ignoring case."),
    ...fields,
    status: z
      .enum(contactStatuses)
      .describe(
        "`subscribed`: receives marketing email. `unsubscribed` and `pending` (not confirmed " +
          "yet): receives none. `suppressed`: the email address is on the suppression list.",
      ),
    tags: z.array(NamedRecord).describe("Tags of the contact, lowest id first."),
    lists: z.array(NamedRecord).describe("Lists that the contact is on, lowest id first."),
    topics: z
      .array(TopicState)
      .describe(
        "All topics of the contact's site, in their order. Only `subscribed` contacts get email " +
          "on any of them.",
      ),
    snoozedUntil: SnoozeEnd,
    score: z
      .number()
      .describe(
        "Lead score: the sum of all points from scoring rules and manual changes. 0 at first.",
      ),
    sendCount: Count.describe("Number of emails handed to a provider for this contact."),
    openCount: Count.describe(
      "Number of opens by the contact, repeated ones included. Opens by machines are not " +
        "counted.",
    ),
    clickCount: Count.describe(
      "Number of clicks by the contact, repeated ones included. Clicks by machines are not " +
        "counted.",
    ),
    lastSentAt: Timestamp.nullable().describe(
      "When the latest email was handed to a provider. `null`: never.",
    ),
    lastOpenedAt: Timestamp.nullable().describe(
      "When the contact last opened an email. `null`: never.",
    ),
    lastClickedAt: Timestamp.nullable().describe(
      "When the contact last clicked a link in an email. `null`: never.",
    ),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .describe("A person of the audience of a site.")
  .meta({ id: "Contact" });
export type Contact = z.output<typeof Contact>;

const maxGroupsAtOnce = 20;
export const GroupName = singleLineText(100).trim().min(1);

/** Input for a new contact, or for a row of an upsert. */
const inputFields = {
  ...z.object(fields).partial().shape,
  status: z
    .enum(["subscribed", "unsubscribed", "pending"])
    .optional()
    .describe(
      "Status of the new contact. Defaults to `subscribed`. For an update by POST " +
        "/contacts/bulk: the status stays if none is given.",
    ),
  sendConfirmation: SendConfirmation.optional(),
  tags: z
    .array(GroupName)
    .max(maxGroupsAtOnce)
    .default([])
    .describe(
      "Names of up to 20 tags. A tag that does not exist yet is created. Tags and lists " +
        "start the sequences that they trigger (in an import: with `startSequences`). Only " +
        "POST /contacts/:id/tags gives points.",
    ),
  lists: z
    .array(z.int().positive())
    .max(maxGroupsAtOnce)
    .default([])
    .describe("Ids of up to 20 lists of the site."),
  topics: TopicChoiceList.optional().describe(
    "Topics that the contact joins or leaves, each at most once; join topics only with its " +
      "consent. The others stay. By POST /contacts/bulk, an existing contact joins a topic that " +
      "it left only with `resubscribe`.",
  ),
};

export const NewContact = z
  .object({
    siteId: z
      .int()
      .positive()
      .optional()
      .describe(
        "Site of the contact. Defaults to the site of the API key, else to the " +
          "organization's only site.",
      ),
    email: EmailAddress.describe(
      "Email address of the contact. Must be new in its site, ignoring case.",
    ),
    ...inputFields,
  })
  .refine(isConfirmable, unconfirmable)
  .meta({
    examples: [
      {
        email: "ann@example.com",
        firstName: "Ann",
        tags: ["customer"],
        customFields: { plan: "pro" },
      },
    ],
  });
export type NewContact = z.output<typeof NewContact>;

const RowEmail = EmailAddress.describe(
  "Email address of the contact. A contact of the site that has it is updated.",
);
/** A row of a bulk request or an import. */
export const ContactRow = z
  .object({ email: RowEmail, ...inputFields })
  .refine(isConfirmable, unconfirmable);
export type ContactRow = z.output<typeof ContactRow>;

export const ContactChanges = z
  .object({
    email: EmailAddress.describe("New email address. Must be new in its site, ignoring case."),
    ...fields,
    customFields: CustomFields.nullable().describe(
      "Custom fields to change. Fields that are not named stay; a field set to `null` is " +
        "removed. `null` removes all of them.",
    ),
    status: z
      .enum(["subscribed", "unsubscribed", "pending"])
      .describe(
        "New status. For a suppressed contact, it applies once the suppression is removed.",
      ),
    topics: TopicChoiceList.describe(
      "Topics to join or leave, each at most once; join topics only with the consent of the " +
        "contact. The others stay.",
    ),
    snoozedUntil: EndOfPause,
  })
  .partial()
  .meta({ examples: [{ firstName: "Ann", customFields: { plan: "team" } }] });
export type ContactChanges = z.output<typeof ContactChanges>;

export interface MergedContact {
  id: number;
  email: string;
  /** When it was merged (ISO 8601). */
  at: string;
}

/**
 * The stored contact. Empty fields are left out; tags and lists are sets of ids, so that a query
 * can filter by them.
 */
export interface ContactItem {
  pk: string;
  sk: string;
  id: number;
  orgId: number;
  siteId: number;
  email: string;
  firstName?: string | null;
  lastName?: string | null;
  phone?: string | null;
  company?: string | null;
  timezone?: string | null;
  locale?: string | null;
  customFields?: Record<string, FieldValue | null>;
  source?: string | null;
  externalId?: string | null;
  status: ContactStatus;
  /** Status that takes effect when the suppression is removed. */
  unsuppressed?: ContactStatus;
  tags?: Set<number>;
  lists?: Set<number>;
  /** Topics to which it is subscribed against their default, or not subscribed against it. */
  switchedTopics?: Set<number> | undefined;
  /** Until when it has paused marketing mail (ISO 8601). */
  snoozedUntil?: string | undefined;
  /** Opt-in topics that it left or declined. */
  leftTopics?: Set<number> | undefined;
  /** Sequences with an active enrollment. */
  sequences?: Set<number>;
  /** Membership shard, set once the email has changed. */
  home?: string;
  /** When the email last changed (ISO 8601), and the shards of the earlier emails. */
  movedAt?: string;
  movedFrom?: string[];
  score?: number;
  /** Counts no mails of campaigns and holidays, except those of small and of old chunks. */
  sendCount?: number;
  openCount?: number;
  clickCount?: number;
  lastSentAt?: string;
  /** For the frequency cap. */
  lastMarketingAt?: string;
  lastOpenedAt?: string;
  lastClickedAt?: string;
  /**
   * For search: lower-case email, name, and other spellings of both, a line each. The line break
   * marks the end of the email.
   */
  search: string;
  /**
   * Case-folded texts of fields that differ from their case-folded form, by field name or
   * `customFields.<key>`.
   */
  folded?: Record<string, string | string[]> | undefined;
  /** The number of custom events by name. `eventNames` lists the names that are counted. */
  [eventCount: `event.${string}`]: number;
  /**
   * When the first and the last custom event of a name happened (ISO 8601). The first one is
   * unknown if events were counted before its time was stored.
   */
  [firstEvent: `firstEventAt.${string}`]: string;
  [lastEvent: `lastEventAt.${string}`]: string;
  eventNames?: Set<string>;
  /** Number of its custom events. */
  customEvents: number;
  /** Forms it submitted. */
  forms?: Set<number>;
  /** Its latest campaigns. */
  sentCampaigns?: Set<number>;
  openedCampaigns?: Set<number>;
  clickedCampaigns?: Set<number>;
  /** Its latest sends; older ones are in its log. */
  sendIds?: number[];
  /** Events that were counted last. */
  counted?: number[];
  /** The contacts that were merged into it, also by way of others, in that order. */
  merged?: MergedContact[];
  /** The contact whose history is still moving to it. */
  merging?: number;
  /** Version: every write raises it, also writes that do not change `updatedAt`. */
  v: number;
  createdAt: string;
  updatedAt: string;
}

/**
 * A contact whose fields include the mails that mail-counts.ts adds: `sendCount`, `lastSentAt`,
 * `lastMarketingAt`, `sentCampaigns`. It is never stored, and mails are never added twice.
 */
export type CountedContact = ContactItem & { hasAllMails: true };
export type StoredContact = ContactItem & { hasAllMails?: never };

/** The attribute that holds the lists or tags. */
export const groupAttribute = (kind: GroupKind) => (kind === "TAG" ? "tags" : "lists");

export const toApi = (
  item: CountedContact,
  names: { tags: Map<number, string>; lists: Map<number, string>; topics: SiteTopic[] },
): Contact => ({
  id: item.id,
  siteId: item.siteId,
  email: item.email,
  ...{ firstName: item.firstName ?? null, lastName: item.lastName ?? null },
  ...{ phone: item.phone ?? null, company: item.company ?? null },
  ...{ timezone: item.timezone ?? null, locale: item.locale ?? null },
  customFields: item.customFields ?? {},
  ...{ source: item.source ?? null, externalId: item.externalId ?? null },
  status: item.status,
  tags: toNamedGroups(item.tags, names.tags),
  lists: toNamedGroups(item.lists, names.lists),
  topics: toTopicStates(item, names.topics),
  snoozedUntil: getSnoozeEnd(item) ?? null,
  score: item.score ?? 0,
  sendCount: item.sendCount ?? 0,
  openCount: item.openCount ?? 0,
  clickCount: item.clickCount ?? 0,
  lastSentAt: item.lastSentAt ?? null,
  lastOpenedAt: item.lastOpenedAt ?? null,
  lastClickedAt: item.lastClickedAt ?? null,
  createdAt: item.createdAt,
  updatedAt: item.updatedAt,
});

/**
 * Leaves out deleted groups: the name is gone at once, the id is removed from the contact later.
 */
const toNamedGroups = (ids: Set<number> | undefined, names: Map<number, string>) =>
  [...(ids ?? [])]
    .sort((a, b) => a - b)
    .flatMap((id) => (names.has(id) ? [{ id, name: names.get(id)! }] : []));
