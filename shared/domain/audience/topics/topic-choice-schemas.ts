// Schemas of the topics of a contact: as requests choose them, and as contacts show them.
import * as z from "zod";
import { Id, RecordId } from "../../../kernel/record-fields.ts";
import { maxTopicsPerSite } from "./topic-subscription.ts";

export const TopicChoice = z
  .object({
    id: Id.describe("Id of a topic of the contact's site."),
    subscribed: z.boolean().describe("true: joins the topic. false: leaves it."),
  })
  .meta({ id: "TopicChoice" });
export type TopicChoice = z.output<typeof TopicChoice>;

export const TopicChoiceList = z
  .array(TopicChoice)
  .max(maxTopicsPerSite)
  .describe("Topics to join or leave, each at most once. The others stay as they are.");

export const TopicState = z
  .object({
    id: RecordId.describe("Id of the topic."),
    name: z.string().describe("Name of the topic."),
    subscribed: z.boolean().describe("Whether the contact is subscribed to the topic."),
    left: z
      .boolean()
      .describe(
        "Whether the contact left the topic or declined it. Imports and POST /contacts/bulk " +
          "subscribe it again only with `resubscribe`.",
      ),
  })
  .meta({ id: "TopicState" });
export type TopicState = z.output<typeof TopicState>;
