// What a contact is: to callers, and as it is stored.
import * as z from "zod";
import { EmailAddress, oneLine } from "../../email.ts";
import type { GroupKind } from "../../keys.ts";
import { isReserved } from "../../reserved-names.ts";
import { Timezone } from "../organizations.ts";

export const contactStatuses = ["subscribed", "unsubscribed", "pending", "suppressed"] as const;
export type ContactStatus = (typeof contactStatuses)[number];

const text = oneLine(200).nullable();
const maxCustomFields = 100;
/** A number that both JavaScript and the table can hold. */
export const isStorable = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && (value === 0 || (Math.abs(value) < 1e100 && Math.abs(value) > 1e-100));

export const CustomFields = z
  .record(
    oneLine(100)
      .min(1)
      .refine((name) => !isReserved(name), "no field can have this name"),
    z.union([z.string().max(2000), z.number().refine(isStorable, "must be of a usual size"), z.boolean(), z.null()]),
  )
  .refine((fields) => Object.keys(fields).length <= maxCustomFields, `must have at most ${maxCustomFields} fields`)
  .refine((fields) => Buffer.byteLength(JSON.stringify(fields)) <= 20_000, "must be at most 20,000 bytes of JSON");

const fields = {
  firstName: text,
  lastName: text,
  phone: text,
  company: text,
  timezone: Timezone.nullable(),
  customFields: CustomFields,
  source: text,
};

const Named = z.object({ id: z.int(), name: z.string() });

export const Contact = z
  .object({
    id: z.int(),
    siteId: z.int(),
    email: z.string().describe("As it was typed; unique in its site whatever its case"),
    ...fields,
    status: z.enum(contactStatuses),
    tags: z.array(Named),
    lists: z.array(Named),
    score: z.number(),
    sendCount: z.int(),
    openCount: z.int(),
    clickCount: z.int(),
    lastSentAt: z.string().nullable(),
    lastOpenedAt: z.string().nullable(),
    lastClickedAt: z.string().nullable(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "Contact" });
export type Contact = z.output<typeof Contact>;

const maxGroupsAtOnce = 20;
export const GroupName = oneLine(100).trim().min(1);

/** What may be given of a contact that is made, or met again in bulk. */
const given = {
  ...z.object(fields).partial().shape,
  status: z.enum(["subscribed", "unsubscribed", "pending"]).optional(),
  tags: z
    .array(GroupName)
    .max(maxGroupsAtOnce)
    .default([])
    .describe(
      "Names; a tag that is not there yet is made. Given here they earn no points and start no sequences: apply them one by one for that",
    ),
  lists: z.array(z.int().positive()).max(maxGroupsAtOnce).default([]).describe("Ids"),
};

export const NewContact = z.object({ siteId: z.int().positive().optional(), email: EmailAddress, ...given }).meta({
  examples: [{ email: "ann@example.com", firstName: "Ann", tags: ["customer"], customFields: { plan: "pro" } }],
});
export type NewContact = z.output<typeof NewContact>;

/** A row of bulk and imports: made, or changed where its address is known. */
export const ContactRow = z.object({ email: EmailAddress, ...given });
export type ContactRow = z.output<typeof ContactRow>;

export const ContactChanges = z
  .object({
    email: EmailAddress,
    ...fields,
    customFields: CustomFields.nullable().describe("Those that are named are changed; null empties them all"),
    status: z.enum(["subscribed", "unsubscribed", "pending"]).describe("A suppressed contact takes it once it is not suppressed any more"),
  })
  .partial()
  .meta({ examples: [{ firstName: "Ann", customFields: { plan: "team" } }] });
export type ContactChanges = z.output<typeof ContactChanges>;

/** As it is stored: empty fields are left out; tags and lists are sets of ids, so that a query can be filtered by them. */
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
  customFields?: Record<string, string | number | boolean | null>;
  source?: string | null;
  status: ContactStatus;
  /** What it was before it was suppressed. */
  unsuppressed?: ContactStatus;
  tags?: Set<number>;
  lists?: Set<number>;
  /** In which it is active: moved together with its enrollments. */
  sequences?: Set<number>;
  /** The collection of its memberships, once it has another address than its first. */
  home?: string;
  /** When it took the address it has (ISO 8601), and in which collections it was before. */
  movedAt?: string;
  movedFrom?: string[];
  score?: number;
  sendCount?: number;
  openCount?: number;
  clickCount?: number;
  lastSentAt?: string;
  /** For the frequency cap. */
  lastMarketingAt?: string;
  lastOpenedAt?: string;
  lastClickedAt?: string;
  /** Lower-case address, a line break and the name, for search; the break lets DynamoDB find the end of an address. */
  search: string;
  /** Folded texts of those fields that are not folded as they are, so that DynamoDB can compare them; by field, `customFields.<key>`. */
  folded?: Record<string, string> | undefined;
  /** How often each custom event happened, and the names that are counted. */
  [eventCount: `event.${string}`]: number;
  eventNames?: Set<string>;
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
  /** Rises with every fact that is counted without `updatedAt` being moved. */
  v?: number;
  createdAt: string;
  updatedAt: string;
}

/** The attribute that holds the lists or tags. */
export const groupSet = (kind: GroupKind) => (kind === "TAG" ? "tags" : "lists");

type Texts = Pick<ContactItem, "email" | (typeof textFields)[number] | "customFields">;
export const textFields = ["email", "firstName", "lastName", "phone", "company", "timezone", "source"] as const;

/** The form in which texts are compared. Character by character, so that a part of a text is folded as it is within it. */
export const fold = (text: string): string => text.toLowerCase().replaceAll("ς", "σ");

/** What is stored beside the fields to find them by; made anew whenever one of them changes. */
export function derived(fields: Texts): Pick<ContactItem, "search"> & { folded: Record<string, string> | undefined } {
  const texts = [
    ...textFields.map((field) => [field, fields[field]]),
    ...Object.entries(fields.customFields ?? {}).map(([key, value]) => [`customFields.${key}`, value]),
  ] as [string, unknown][];
  const folded = texts.flatMap(([field, text]) => (typeof text === "string" && fold(text) !== text ? [[field, fold(text)]] : []));
  return { search: searchable(fields), folded: folded.length ? Object.fromEntries(folded) : undefined };
}

/** What search looks through. */
const searchable = ({ email, firstName, lastName }: Texts): string =>
  `${email}\n${[firstName, lastName].filter(Boolean).join(" ")}`.toLowerCase();

export const told = (item: ContactItem, names: { tags: Map<number, string>; lists: Map<number, string> }): Contact => ({
  id: item.id,
  siteId: item.siteId,
  email: item.email,
  firstName: item.firstName ?? null,
  lastName: item.lastName ?? null,
  phone: item.phone ?? null,
  company: item.company ?? null,
  timezone: item.timezone ?? null,
  customFields: item.customFields ?? {},
  source: item.source ?? null,
  status: item.status,
  tags: named(item.tags, names.tags),
  lists: named(item.lists, names.lists),
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

/** A group that was deleted meanwhile is dropped: its name is gone at once, its id when the contact is next written. */
const named = (ids: Set<number> | undefined, names: Map<number, string>) =>
  [...(ids ?? [])].sort((a, b) => a - b).flatMap((id) => (names.has(id) ? [{ id, name: names.get(id)! }] : []));
