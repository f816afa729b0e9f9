// Schemas of topics, in the API and as stored.
import * as z from "zod";
import { singleLineText } from "../../../kernel/email-fields.ts";
import {
  CreatedAt,
  Id,
  NewSiteId,
  RecordId,
  RecordSiteId,
  UpdatedAt,
} from "../../../kernel/record-fields.ts";
import type { StoredRecord } from "../../../kernel/records.ts";
import { maxTopicsPerSite } from "./topic-subscription.ts";

const subscriptions = ["subscribed", "unsubscribed"] as const;

const fields = {
  name: singleLineText(100)
    .trim()
    .min(1)
    .describe("Name of the topic, as contacts see it. Unique in its site, ignoring case."),
  description: singleLineText(300)
    .nullable()
    .describe("What the topic is about, shown below its name on the preference page, or `null`."),
  visibility: z
    .enum(["public", "private"])
    .describe(
      "`public`: the preference page of every contact shows it. `private`: the page shows it " +
        "only behind the links of emails on this topic.",
    ),
  defaultSubscription: z
    .enum(subscriptions)
    .describe(
      "What holds for contacts who have not chosen. `subscribed`: they get the emails of the " +
        "topic until they leave it (opt-out). `unsubscribed`: they get none until they join it " +
        "(opt-in). It can never change.",
    ),
  position: z
    .int()
    .min(1)
    .max(maxTopicsPerSite)
    .describe("Place of the topic in the order of its site, from 1."),
};

export const Topic = z
  .object({
    id: RecordId.describe("Id of the topic, for `topicId` of campaigns, sequences and holidays."),
    siteId: RecordSiteId,
    ...fields,
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .describe("A kind of email of a site that contacts can leave and join by itself.")
  .meta({ id: "Topic" });
export type Topic = z.output<typeof Topic>;

export const NewTopic = z
  .object({
    siteId: NewSiteId,
    name: fields.name,
    description: fields.description.default(null),
    visibility: fields.visibility.default("public"),
    defaultSubscription: fields.defaultSubscription.default("subscribed"),
  })
  .meta({ examples: [{ name: "Product news", description: "What is new, once a month" }] });
export type NewTopic = z.output<typeof NewTopic>;

export const TopicChanges = z
  .object({
    name: fields.name,
    description: fields.description,
    visibility: fields.visibility,
    position: fields.position.describe(
      "New place of the topic in the order of its site. A place beyond the last one is the last.",
    ),
  })
  .partial()
  .meta({ examples: [{ description: "What is new, twice a month", position: 1 }] });
export type TopicChanges = z.output<typeof TopicChanges>;

/** `topicId` of what sends marketing email. */
export const TopicId = Id.nullable().describe(
  "Topic of the email. Contacts who are not subscribed to it get no email, and one-click " +
    "unsubscribe leaves only this topic. `null`: no topic.",
);

export interface TopicItem extends StoredRecord, Omit<Topic, "position" | "siteId"> {
  siteId: number;
}
