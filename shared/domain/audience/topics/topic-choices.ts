// Applies choices of topics to a contact. The contact stores the topics in which it differs from
// their default, and the opt-in topics that it left, because it does not differ in these.
import { invalid } from "../../../errors.ts";
import type { ConsentEntry } from "./contact-topic-schemas.ts";
import type { SiteTopic } from "./site-topics.ts";
import type { TopicChoice, TopicState } from "./topic-choice-schemas.ts";
import type { TopicChange } from "./topic-counts.ts";
import { hasLeft, isSubscribed, type StoredChoices } from "./topic-subscription.ts";

// More than a site has topics, because choices about deleted topics stay for mail on its way.
const maxStoredTopics = 200;

export interface Choice {
  topic: SiteTopic;
  subscribed: boolean;
}

/** Throws 400 for a topic that `known` lacks or that occurs twice. */
export function resolveChoices(choices: TopicChoice[], known: SiteTopic[]): Choice[] {
  return choices.map(({ id, subscribed }, i) => {
    const topic = known.find((one) => one.id === id);
    const isRepeated = choices.findIndex((choice) => choice.id === id) !== i;
    if (topic && !isRepeated) return { topic, subscribed };
    const message = isRepeated ? "occurs twice" : "is not a topic of the contact's site";
    throw invalid(`Topic ${id} ${message}`, { details: [{ path: `topics.${i}.id`, message }] });
  });
}

export interface AppliedChoices {
  /** For the contact. DynamoDB stores no empty sets. */
  stored: Required<StoredChoices>;
  /** Topics that the contact joins or leaves, for the consent log. */
  entries: ConsentEntry["topics"];
  /** The same topics, for the counters. */
  changes: TopicChange[];
  /** Whether `stored` differs from the contact. */
  isChange: boolean;
}

export function applyChoices(contact: StoredChoices, choices: Choice[]): AppliedChoices {
  const changed = choices.filter(
    ({ topic, subscribed }) => isSubscribed(contact, topic) !== subscribed,
  );
  const { switchedTopics = new Set(), leftTopics = new Set() } = contact;
  const optIn = choices.filter(({ topic }) => topic.defaultSubscription === "unsubscribed");
  const left = leftTopics
    .difference(idsOf(optIn.filter(({ subscribed }) => subscribed)))
    .union(idsOf(optIn.filter(({ subscribed }) => !subscribed)));
  return {
    changes: changed.map(({ topic: { id }, subscribed }) => ({
      id,
      isSwitched: !switchedTopics.has(id),
      leaves: !subscribed,
    })),
    stored: {
      switchedTopics: toStoredSet(switchedTopics.symmetricDifference(idsOf(changed))),
      leftTopics: toStoredSet(left),
    },
    entries: changed.map(({ topic: { id, name }, subscribed }) => ({ id, name, subscribed })),
    isChange: changed.length > 0 || leftTopics.symmetricDifference(left).size > 0,
  };
}

const idsOf = (choices: Choice[]): Set<number> => new Set(choices.map(({ topic }) => topic.id));

/** Beyond the limit, the older ids belong to topics that were deleted. */
function toStoredSet(ids: Set<number>): Set<number> | undefined {
  if (!ids.size) return undefined;
  return new Set([...ids].toSorted((a, b) => b - a).slice(0, maxStoredTopics));
}

/** What a bulk request may apply: nobody joins again who left, without `resubscribe`. */
export const permittedChoices = (
  contact: StoredChoices,
  choices: Choice[],
  resubscribe: boolean,
): Choice[] =>
  choices.filter(({ topic, subscribed }) => resubscribe || !subscribed || !hasLeft(contact, topic));

/** All topics of the contact's site, in their order. */
export const toTopicStates = (contact: StoredChoices, known: SiteTopic[]): TopicState[] =>
  known.map((topic) => ({
    id: topic.id,
    name: topic.name,
    subscribed: isSubscribed(contact, topic),
    left: hasLeft(contact, topic),
  }));
