// Schemas of the topics of a contact and of its consent log, in the API.
import * as z from "zod";
import { RecordId, Timestamp } from "../../../kernel/record-fields.ts";
import { Confirmation, ConfirmedRequest } from "../contacts/confirmation-schema.ts";
import { contactStatuses } from "../contacts/contact-schema.ts";
import { LeaveReason } from "../contacts/leave-reason.ts";
import { TopicChoiceList, TopicState } from "./topic-choice-schemas.ts";
import { Topic } from "./topic-schema.ts";

const consentSources = [
  "api",
  "import",
  "preference_page",
  "one_click",
  "form",
  "provider",
  "sequence",
  "merge",
  "confirmation",
] as const;

export const ConsentEntry = z
  .object({
    source: z
      .enum(consentSources)
      .describe(
        "`preference_page`: the contact, on the page behind the links of an email. `one_click`: " +
          "the contact, in the mail program. `form`: the contact, who confirmed a form. " +
          "`provider`: reported by the email provider. " +
          "`api`: a request of yours. `import`: a file that you imported. `sequence`: an action " +
          "of a sequence. `merge`: taken over from a contact that was merged into it. " +
          "`confirmation`: the contact, who pressed the button behind the link of a confirmation " +
          "email.",
      ),
    ipAddress: z
      .string()
      .nullable()
      .describe(
        "IP address of the contact, or of its mail program. `null` for `api`, `import` and " +
          "`sequence`.",
      ),
    sendId: RecordId.nullable().describe(
      "Email whose link was used. `null` for `api`, `import` and `sequence`.",
    ),
    confirmation: ConfirmedRequest.nullable().describe(
      "What the contact confirmed, for `confirmation`. Otherwise `null`.",
    ),
    status: z
      .enum(["subscribed", "unsubscribed"])
      .nullable()
      .describe("New status of the contact. `null` if only topics changed."),
    topics: z
      .array(
        z.object({
          id: RecordId.describe("Id of the topic."),
          name: z.string().describe("Name of the topic at that time."),
          subscribed: z.boolean().describe("Whether the contact joined or left the topic."),
        }),
      )
      .describe("Topics that the contact joined or left."),
    snoozedUntil: Timestamp.nullable().describe(
      "Until when the contact paused marketing email. The time of the choice: it ended the " +
        "pause. `null`: neither.",
    ),
    leaving: z
      .object({
        reason: LeaveReason,
        comment: z.string().nullable().describe("Words of the contact, or `null`."),
      })
      .nullable()
      .describe("Why the contact unsubscribed, by its answer on the page. Otherwise `null`."),
    createdAt: Timestamp.describe("When the choice was made."),
  })
  .describe("A choice about email, kept as evidence of consent.")
  .meta({ id: "ConsentEntry" });
export type ConsentEntry = z.output<typeof ConsentEntry>;

export const TopicChoices = z
  .object({
    topics: TopicChoiceList.min(1),
  })
  .meta({ examples: [{ topics: [{ id: 1, subscribed: false }] }] });
export type TopicChoices = z.output<typeof TopicChoices>;

export const ContactTopic = TopicState.extend(
  Topic.pick({ description: true, visibility: true, defaultSubscription: true }).shape,
).meta({ id: "ContactTopic" });
export type ContactTopic = z.output<typeof ContactTopic>;

export const ContactTopics = z
  .object({
    status: z
      .enum(contactStatuses)
      .describe("Status of the contact. Only `subscribed` contacts get email on any topic."),
    topics: z.array(ContactTopic).describe("All topics of the contact's site, in their order."),
    log: z
      .array(ConsentEntry)
      .describe("Choices of the contact and changes by the API, newest first."),
    nextCursor: z
      .string()
      .nullable()
      .describe("Pass it as `cursor` to get older entries. `null` at the end of the log."),
    confirmation: Confirmation.nullable().describe(
      "The latest request to confirm by email (double opt-in). `null`: the contact was not " +
        "asked, or by a form, which keeps it with the submission.",
    ),
  })
  .meta({ id: "ContactTopics" });
export type ContactTopics = z.output<typeof ContactTopics>;
