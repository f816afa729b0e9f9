// What mail and pages know of topics: how many there are, and whether a contact is subscribed.
import { type Condition, contains, not } from "../../../adapters/dynamodb/conditions.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import type { TopicItem } from "./topic-schema.ts";

export const maxTopicsPerSite = 50;

/** What a mail stores of its topic. */
export type MailTopic = Pick<TopicItem, "id" | "defaultSubscription">;

/** Whether the contact gets mail on the topic, as far as its choices say. */
export const isSubscribed = (
  { switchedTopics }: Pick<ContactItem, "switchedTopics">,
  { id, defaultSubscription }: MailTopic,
): boolean => (defaultSubscription === "subscribed") !== (switchedTopics?.has(id) ?? false);

/** The same, for a query over contacts. */
export function subscribedCondition({ id, defaultSubscription }: MailTopic): Condition {
  const isSwitched = contains("switchedTopics", id);
  return defaultSubscription === "subscribed" ? not(isSwitched) : isSwitched;
}

/** The topics in which a contact differs from their default, as stored on the contact. */
export type StoredChoices = Pick<ContactItem, "switchedTopics" | "leftTopics">;

/** Whether the contact left the topic or declined it, so that no import subscribes it again. */
export const hasLeft = (contact: StoredChoices, topic: MailTopic): boolean =>
  topic.defaultSubscription === "subscribed"
    ? !isSubscribed(contact, topic)
    : (contact.leftTopics?.has(topic.id) ?? false);
