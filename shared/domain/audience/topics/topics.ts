// Topics: kinds of email of a site that contacts can leave and join one by one. Each is a record.
// One item per site has a copy of its topics in their order. Every change of a topic compares the
// version of this item, so names stay unique and the number of topics stays bounded.

import { absent, equals } from "../../../adapters/dynamodb/conditions.ts";
import { get, getMany, update, type Write, write } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { conflict } from "../../../errors.ts";
import * as records from "../../../kernel/records.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { keys } from "../../../keys.ts";
import * as sites from "../../identity/sites.ts";
import { listOfSite, type SiteTopic, type SiteTopicsItem } from "./site-topics.ts";
import type { NewTopic, Topic, TopicChanges, TopicItem } from "./topic-schema.ts";
import { type MailTopic, maxTopicsPerSite } from "./topic-subscription.ts";

/** The topics of a site in their order, as read at one version. */
interface SiteTopics {
  siteId: number;
  topics: SiteTopic[];
  v: number | undefined;
}

async function readSite(orgId: number, siteId: number): Promise<SiteTopics> {
  const { topics = [], v } = (await get<SiteTopicsItem>(keys.siteTopics(orgId, siteId))) ?? {};
  return { siteId, topics, v };
}

/** Fails when the topics of the site have changed since they were read. */
const siteWrite = (orgId: number, { siteId, v }: SiteTopics, topics: SiteTopic[]): Write =>
  update(
    keys.siteTopics(orgId, siteId),
    { set: { topics, v: (v ?? 0) + 1 } },
    { if: v === undefined ? absent("v") : equals("v", v) },
  );

const toSiteTopic = ({
  id,
  name,
  description,
  visibility,
  defaultSubscription,
}: SiteTopic): SiteTopic => ({ id, name, description, visibility, defaultSubscription });

const toApi = (topic: TopicItem, topics: SiteTopic[]): Topic => ({
  ...topic,
  position: 1 + indexOf({ topics }, topic.id),
});

const indexOf = ({ topics }: Pick<SiteTopics, "topics">, topicId: number): number =>
  topics.findIndex(({ id }) => id === topicId);

/** 409 `topic_exists` when the name is taken, `too_many` beyond 50 topics. */
export async function create(
  caller: CallerScope,
  { siteId: requestedSiteId, ...fields }: NewTopic,
): Promise<Topic> {
  const { orgId } = caller;
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  const topic: TopicItem = { ...(await records.newRecordFields("TOPIC")), siteId, ...fields };
  return retryOnConflict("The topics", async () => {
    const site = await readSite(orgId, siteId);
    // A retry after a crash has the same id and finds its own topic.
    if (site.topics.some(({ id }) => id === topic.id)) return find(caller, topic.id);
    requireFreeName(site, topic);
    if (site.topics.length >= maxTopicsPerSite)
      throw conflict(`A site has at most ${maxTopicsPerSite} topics`, { code: "too_many" });
    const topics = [...site.topics, toSiteTopic(topic)];
    await records.insert("TOPIC", caller, {
      record: topic,
      extraWrites: [siteWrite(orgId, site, topics)],
    });
    return toApi(topic, topics);
  });
}

function requireFreeName({ topics }: SiteTopics, { id, name }: Pick<TopicItem, "id" | "name">) {
  const isTaken = topics.some(
    (topic) => topic.id !== id && topic.name.toLowerCase() === name.toLowerCase(),
  );
  if (isTaken)
    throw conflict("The site already has a topic with this name", { code: "topic_exists" });
}

export async function find(caller: CallerScope, id: number): Promise<Topic> {
  const topic = await records.find<TopicItem>("TOPIC", caller, id);
  return toApi(topic, await listOfSite(caller.orgId, topic.siteId));
}

/** All topics of one site, in their order. */
export async function list(caller: CallerScope, siteId: number | undefined): Promise<Topic[]> {
  const topics = await listOfSite(caller.orgId, await sites.resolveSiteId(caller, siteId));
  const found = await getMany<TopicItem>(
    topics.map(({ id }) => keys.record(caller.orgId, "TOPIC", id)),
    { consistent: true },
  );
  return found.flatMap((topic) => (topic ? toApi(topic, topics) : []));
}

/** 409 `topic_exists` when the new name is taken. */
export const change = (
  caller: CallerScope,
  id: number,
  { position, ...changes }: TopicChanges,
): Promise<Topic> =>
  retryOnConflict("The topics", async () => {
    const { siteId, ...topic } = await records.find<TopicItem>("TOPIC", caller, id);
    const site = await readSite(caller.orgId, siteId);
    const {
      name = topic.name,
      description = topic.description,
      visibility = topic.visibility,
    } = changes;
    const changed = toSiteTopic({ ...topic, name, description, visibility });
    requireFreeName(site, changed);
    const others = site.topics.filter((one) => one.id !== id);
    const place = position === undefined ? indexOf(site, id) : position - 1;
    await write(
      records.updateWrite("TOPIC", caller, { id, set: changes }),
      siteWrite(caller.orgId, site, others.toSpliced(place, 0, changed)),
    );
    return find(caller, id);
  });

/** Contacts keep their choices, so that mail on its way still respects them. */
export const remove = (caller: CallerScope, id: number): Promise<void> =>
  retryOnConflict("The topics", async () => {
    const { siteId } = await records.find<TopicItem>("TOPIC", caller, id);
    const site = await readSite(caller.orgId, siteId);
    await write(
      ...records.removeWrites("TOPIC", caller, { id, siteId }),
      siteWrite(
        caller.orgId,
        site,
        site.topics.filter((one) => one.id !== id),
      ),
    );
  });

/** The topic that a record names with `topicId`. 404 if it is gone, 400 if of another site. */
export const findOfSite = (
  caller: CallerScope,
  { id, siteId }: { id: number; siteId: number },
): Promise<TopicItem> =>
  records.findOfSite<TopicItem>("TOPIC", caller, { id, siteId, path: "topicId" });

export const toMailTopic = ({ id, defaultSubscription }: MailTopic): MailTopic => ({
  id,
  defaultSubscription,
});
