// Schemas and stored items of actions on many contacts.
import * as z from "zod";
import type { JobAttributes } from "../../../kernel/job-index.ts";
import type { Leased } from "../../../kernel/leases.ts";
import {
  Count,
  CreatedAt,
  Id,
  RecordId,
  RecordSiteId,
  UpdatedAt,
} from "../../../kernel/record-fields.ts";
import type { ContactFilter } from "../../audience/contacts/contact-listing.ts";
import { contactStatuses, GroupName } from "../../audience/contacts/contact-schema.ts";
import { FailedContact } from "../../audience/contacts/failed-contact.ts";

export const actionTypes = [
  "add_tag",
  "remove_tag",
  "add_to_list",
  "remove_from_list",
  "join_topic",
  "leave_topic",
  "enroll",
  "unsubscribe",
  "suppress",
  "delete",
] as const;
export type ActionType = (typeof actionTypes)[number];

const maxContactIds = 1000;

const filter = z.object({
  search: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .optional()
    .describe("Part of the email address or the name, ignoring case."),
  status: z.enum(contactStatuses).optional().describe("Only contacts with this status."),
  tagId: Id.optional().describe("Only contacts with this tag."),
  listId: Id.optional().describe("Only contacts on this list."),
  segmentId: Id.optional().describe("Only contacts that match this segment."),
});

export const NewContactAction = z
  .object({
    siteId: Id.optional().describe(
      "Site of the contacts. Defaults to the site of the tag, list, segment or first contact, " +
        "else to the site of the API key or the only site.",
    ),
    filter: filter
      .optional()
      .describe(
        "The contacts that GET /contacts lists for this filter. An empty object stands for all " +
          "contacts of the site. Give either this or `contactIds`.",
      ),
    contactIds: z
      .array(Id)
      .min(1)
      .max(maxContactIds)
      .optional()
      .describe("Ids of up to 1,000 contacts. Give either this or `filter`."),
    action: z
      .enum(actionTypes)
      .describe(
        "What is done with each contact. Tags and lists start the sequences that they trigger " +
          "and give no points. `suppress` blocks the addresses in the whole organization. " +
          "`delete` keeps the sends.",
      ),
    targetId: Id.optional().describe(
      "Id of the tag, list, topic or sequence of the action. Not for `unsubscribe`, `suppress` " +
        "and `delete`.",
    ),
    tag: GroupName.optional().describe(
      "For `add_tag`, instead of `targetId`: name of the tag. It is created if it does not exist.",
    ),
  })
  .meta({
    id: "NewContactAction",
    examples: [{ filter: { listId: 1, status: "subscribed" }, action: "add_tag", tag: "customer" }],
  });
export type NewContactAction = z.output<typeof NewContactAction>;

export const ContactActionPreview = z
  .object({
    siteId: RecordSiteId,
    count: Count.describe("Number of contacts that are selected now."),
    summary: z.string().describe("What the action would do, in one sentence."),
    startsSequences: z
      .array(
        z.object({
          id: RecordId.describe("Id of the sequence."),
          name: z.string().describe("Name of the sequence."),
        }),
      )
      .describe("Active sequences that the action would start for contacts that are not in them."),
  })
  .meta({ id: "ContactActionPreview" });
export type ContactActionPreview = z.output<typeof ContactActionPreview>;

export const ContactAction = z
  .object({
    id: RecordId.describe("Id of the action, for GET /contact-actions/:id."),
    siteId: RecordSiteId,
    action: z.enum(actionTypes).describe("What is done with each contact."),
    target: z
      .object({
        id: RecordId.describe("Id of the tag, list, topic or sequence."),
        name: z.string().describe("Its name when the action started."),
      })
      .nullable()
      .describe("Tag, list, topic or sequence of the action, or `null`."),
    status: z
      .enum(["queued", "running", "cancelling", "completed", "cancelled", "failed"])
      .describe(
        "`queued`: waits for a worker. `running`: contacts are being selected or changed. " +
          "`cancelling`: stops after the contacts at work. `completed`: all were processed. " +
          "`cancelled` and `failed`: stopped; what was done stays.",
      ),
    summary: z.string().describe("What the action does, in one sentence."),
    progress: Count.describe("Progress in per cent."),
    total: Count.nullable().describe("Number of selected contacts. `null` until all are selected."),
    processed: Count.describe("succeeded + failed."),
    succeeded: Count.describe(
      "Contacts that are as the action wants them, including those that were so before.",
    ),
    failed: Count.describe("Contacts for which the action was not possible: see `errors`."),
    errors: z.array(FailedContact).describe("The first 100 contacts that failed."),
    error: z.string().nullable().describe("Why the whole action failed, or `null`."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "ContactAction" });
export type ContactAction = z.output<typeof ContactAction>;

export interface StoredTarget {
  id: number;
  name: string;
}

export interface ContactActionItem extends Leased, JobAttributes {
  id: number;
  orgId: number;
  siteId: number;
  action: ActionType;
  target?: StoredTarget;
  /** Absent if the contacts were given by their ids. */
  filter?: Omit<ContactFilter, "siteId">;
  /** Whether requests of API keys or sessions suppress: the source of new suppressions. */
  source: "api" | "session";
  status: "queued" | "running" | "completed" | "cancelled" | "failed";
  cancelRequested?: boolean;
  error?: string;
  /** Progress of the selection: the shard that is read next, and the email after which. */
  shard: number;
  after?: string | null;
  /** All contacts are selected: their ids are in `pages` pages. */
  selected: boolean;
  pages: number;
  total: number;
  /** The next contact to process. */
  page: number;
  offset: number;
  processed: number;
  failed: number;
  failures: { contactId: number; error: string }[];
  createdAt: string;
  updatedAt: string;
  /** Unix seconds. */
  expires: number;
}
