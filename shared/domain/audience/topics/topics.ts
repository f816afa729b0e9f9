// Topics: kinds of email of a site that contacts can leave and join one by one. One item per site
// lists the ids of its topics in their order. Every change of a topic compares the version of this
// item, so names stay unique and the number of topics stays bounded.

import { absent, equals } from "../../../adapters/dynamodb/conditions.ts";
import { get, getMany, update, type Write, write } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { conflict } from "../../../errors.ts";
import * as records from "../../../kernel/records.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { keys } from "../../../keys.ts";
import * as sites from "../../identity/sites.ts";
import type { NewTopic, Topic, TopicChanges, TopicItem } from "./topic-schema.ts";
import { type MailTopic, maxTopicsPerSite } from "./topic-subscription.ts";

/** The topics of a site in their order, as read at one version. */
interface SiteTopics {
  siteId: number;
  topics: TopicItem[];
  v: number | undefined;
}

async function readSite(orgId: number, siteId: number): Promise<SiteTopics> {
  const { ids = [], v } =
    (await get<{ ids: number[]; v: number }>(keys.siteTopics(orgId, siteId))) ?? {};
  const found = await getMany<TopicItem>(
    ids.map((id) => keys.record(orgId, "TOPIC", id)),
    { consistent: true },
  );
  return { siteId, topics: found.flatMap((topic) => topic ?? []), v };
}

/** The topics of a site in their order. */
export const listOfSite = async (orgId: number, siteId: number): Promise<TopicItem[]> =>
  (await readSite(orgId, siteId)).topics;

/** Fails when the topics of the site have changed since they were read. */
const orderWrite = (orgId: number, { siteId, v }: SiteTopics, ids: number[]): Write =>
  update(
    keys.siteTopics(orgId, siteId),
    { set: { ids, v: (v ?? 0) + 1 } },
    { if: v === undefined ? absent("v") : equals("v", v) },
  );

const toApi = (topic: TopicItem, topics: TopicItem[]): Topic => ({
  ...topic,
  position: 1 + topics.findIndex(({ id }) => id === topic.id),
});

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
    const topics = [...site.topics, topic];
    const ids = topics.map(({ id }) => id);
    await records.insert("TOPIC", caller, {
      record: topic,
      extraWrites: [orderWrite(orgId, site, ids)],
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
  return topics.map((topic) => toApi(topic, topics));
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
    requireFreeName(site, { id, name: changes.name ?? topic.name });
    const ids = site.topics.map((one) => one.id);
    const others = ids.filter((other) => other !== id);
    await write(
      records.updateWrite("TOPIC", caller, { id, set: changes }),
      orderWrite(
        caller.orgId,
        site,
        position === undefined ? ids : others.toSpliced(position - 1, 0, id),
      ),
    );
    return find(caller, id);
  });

/** Contacts keep their choices, so that mail on its way still respects them. */
export const remove = (caller: CallerScope, id: number): Promise<void> =>
  retryOnConflict("The topics", async () => {
    const { siteId } = await records.find<TopicItem>("TOPIC", caller, id);
    const site = await readSite(caller.orgId, siteId);
    const ids = site.topics.map((one) => one.id).filter((other) => other !== id);
    await write(
      ...records.removeWrites("TOPIC", caller, { id, siteId }),
      orderWrite(caller.orgId, site, ids),
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
