// What becomes of two contacts that are merged: a source, which ends, and a target, which goes on.
// The fields of the target win, and those that it lacks come from the source. Counts add up.
import type { Write } from "../../../adapters/dynamodb/table.ts";
import type { SuppressionReason } from "../suppressions/suppressions.ts";
import type { SiteTopic } from "../topics/site-topics.ts";
import { type AppliedChoices, applyChoices, type Choice } from "../topics/topic-choices.ts";
import { hasLeft, isSubscribed } from "../topics/topic-subscription.ts";
import { consentLogWrite } from "./consent-log.ts";
import { subscriptionOf } from "./contact-events.ts";
import type { ContactItem } from "./contact-schema.ts";
import { applyChanges } from "./contact-writes.ts";
import {
  eventCountAttribute,
  firstEventAttribute,
  lastEventAttribute,
  maxCampaignsPerContact,
  maxEventNamesPerContact,
} from "./segment-attributes.ts";

export interface Pair {
  source: ContactItem;
  target: ContactItem;
}

export interface Combination {
  /** The target as the merge leaves it, without the groups of the source. */
  next: ContactItem;
  /** Topics that the target joins or leaves. */
  topics: AppliedChoices;
  /** The evidence that the status or the topics of the target changed. */
  consentWrites: Write[];
}

interface CombineContext {
  /** Topics of the site. */
  topics: SiteTopic[];
  /** Why the address of the source is suppressed. */
  suppressed: SuppressionReason | undefined;
  /** ISO 8601. */
  at: string;
}

/** Throws 400 if the target has no room for the custom fields of the source. */
export function combineContacts(
  { source, target }: Pair,
  { topics: known, suppressed, at }: CombineContext,
): Combination {
  const leaves = hasWithdrawn(source, suppressed) && subscriptionOf(target) !== "unsubscribed";
  const topics = applyChoices(target, listChoices({ source, target }, known));
  const changed = applyChanges(target, {
    ...missingFields({ source, target }),
    ...(leaves && { status: "unsubscribed" as const }),
  });
  const next: ContactItem = {
    ...changed,
    ...topics.stored,
    ...addCounts({ source, target }),
    ...latestTimes({ source, target }),
    ...uniteSets({ source, target }),
    ...addEvents({ source, target }),
    // Further mails move the older ids to the log.
    sendIds: uniteIds(source.sendIds, target.sendIds),
    counted: [...(source.counted ?? []), ...(target.counted ?? [])].slice(-maxCountedIds),
    merged: [
      ...(target.merged ?? []),
      ...(source.merged ?? []),
      { id: source.id, email: source.sk, at },
    ],
    merging: source.id,
  };
  const change = {
    ...(leaves && { status: "unsubscribed" as const }),
    ...(topics.entries.length && { topics: topics.entries }),
  };
  const consentWrites = Object.keys(change).length
    ? [consentLogWrite(target, { source: "merge" }, change)]
    : [];
  return { next, topics, consentWrites };
}

const maxCountedIds = 200;

/**
 * Whether the person of the source wants no mail. A bounce or an import says so of an address only.
 */
const hasWithdrawn = (source: ContactItem, suppressed: SuppressionReason | undefined): boolean =>
  subscriptionOf(source) === "unsubscribed" ||
  suppressed === "spam_report" ||
  suppressed === "unsubscribe" ||
  suppressed === "manual";

/** What one of the two has left stays left. The target joins what the source joined. */
const listChoices = ({ source, target }: Pair, known: SiteTopic[]): Choice[] =>
  known.flatMap((topic): Choice[] => {
    if (hasLeft(source, topic)) return [{ topic, subscribed: false }];
    const joins =
      topic.defaultSubscription === "unsubscribed" &&
      isSubscribed(source, topic) &&
      !hasLeft(target, topic);
    return joins ? [{ topic, subscribed: true }] : [];
  });

const fieldNames = [
  "firstName",
  "lastName",
  "phone",
  "company",
  "timezone",
  "locale",
  "source",
  "externalId",
] as const;

function missingFields({ source, target }: Pair) {
  const known = new Set(Object.keys(target.customFields ?? {}).map((name) => name.toLowerCase()));
  const customFields = Object.fromEntries(
    Object.entries(source.customFields ?? {}).filter(([name]) => !known.has(name.toLowerCase())),
  );
  return {
    ...Object.fromEntries(
      fieldNames.flatMap((name) => (target[name] || !source[name] ? [] : [[name, source[name]]])),
    ),
    ...(Object.keys(customFields).length && { customFields }),
  };
}

const countNames = ["score", "sendCount", "openCount", "clickCount"] as const;

const addCounts = ({ source, target }: Pair): object => ({
  ...Object.fromEntries(
    countNames.flatMap((name) =>
      source[name] === undefined ? [] : [[name, source[name] + (target[name] ?? 0)]],
    ),
  ),
  customEvents: source.customEvents + target.customEvents,
});

const timeNames = [
  "lastSentAt",
  "lastMarketingAt",
  "lastOpenedAt",
  "lastClickedAt",
  "snoozedUntil",
] as const;

const latestTimes = ({ source, target }: Pair): object =>
  Object.fromEntries(
    timeNames.flatMap((name) => {
      const latest = [source[name] ?? "", target[name] ?? ""].toSorted()[1];
      return latest ? [[name, latest]] : [];
    }),
  );

const campaignSets = ["sentCampaigns", "openedCampaigns", "clickedCampaigns"] as const;

/** DynamoDB stores no empty sets. */
const uniteSets = ({ source, target }: Pair): object =>
  Object.fromEntries([
    ...campaignSets.flatMap((name) => {
      const latest = uniteIds(source[name], target[name]).slice(-maxCampaignsPerContact);
      return latest.length ? [[name, new Set(latest)]] : [];
    }),
    ...(source.forms?.size ? [["forms", source.forms.union(target.forms ?? new Set())]] : []),
  ]);

const uniteIds = (a: Iterable<number> = [], b: Iterable<number> = []): number[] =>
  [...new Set([...a, ...b])].toSorted((x, y) => x - y);

/** Beyond the limit of names, the events of the source stay in its log and are not counted. */
function addEvents({ source, target }: Pair): object {
  const own = target.eventNames ?? new Set<string>();
  const added = [...(source.eventNames ?? [])].filter((name) => !own.has(name));
  const room = Math.max(0, maxEventNamesPerContact - own.size);
  const names = [...own, ...added.slice(0, room)];
  if (!names.length) return {};
  const counts = names.flatMap((name): [string, number | string | undefined][] => {
    const [count, first, last] = [
      eventCountAttribute(name),
      firstEventAttribute(name),
      lastEventAttribute(name),
    ];
    const counting = [source, target].filter((one) => one[count] !== undefined);
    // A first time that is unknown for one of them is unknown for both.
    const isKnown = counting.every((one) => one[first] !== undefined);
    return [
      [count, counting.reduce((sum, one) => sum + one[count]!, 0)],
      [first, isKnown ? counting.map((one) => one[first]!).toSorted()[0] : undefined],
      [
        last,
        counting
          .flatMap((one) => one[last] ?? [])
          .toSorted()
          .at(-1),
      ],
    ];
  });
  return { ...Object.fromEntries(counts), eventNames: new Set(names) };
}
