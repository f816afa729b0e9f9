// The job that erases what a deleted site owned, as its starter sees it; privacy/site-erasure.ts
// runs it.
import { get, put, type Write } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../clock.ts";
import {
  type JobAttributes,
  type JobStarter,
  startedJobAttributes,
} from "../../kernel/job-index.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../keys.ts";
import { queues } from "../../queues.ts";

/** A site that was deleted. */
export interface DeletedSite {
  orgId: number;
  siteId: number;
}

export interface ErasureProgress {
  /** Contacts that the site had. */
  contacts: number;
  contactsErased: number;
  itemsErased: number;
}

export interface SiteErasure extends ErasureProgress, JobAttributes {
  orgId: number;
  kind: "SITE";
  /** The site's id, under the name that the due index knows. */
  group: number;
  /** Name of the site. */
  name: string;
  deletedAt: string;
}

/** Belongs to the transaction that deletes the site. */
export function startErasureWrite(
  { orgId, siteId }: DeletedSite,
  { name, contacts, startedBy }: { name: string; contacts: number; startedBy: JobStarter },
): Write {
  const deletedAt = now().toISOString();
  const item: SiteErasure = {
    orgId,
    kind: "SITE",
    group: siteId,
    name,
    deletedAt,
    startedBy,
    contacts,
    contactsErased: 0,
    itemsErased: 0,
    ...dueAt(siteId, addSeconds(60)),
    ...startedJobAttributes(orgId, {
      type: "site_erasure",
      id: siteId,
      siteId: null,
      createdAt: deletedAt,
    }),
  };
  return put(keys.siteErasure(orgId, siteId), item);
}

export const dueAt = (siteId: number, at: Date) =>
  indexAttributes(indexes.due("GROUP", dueShardOf(siteId)), at.toISOString());

export const eraseSoon = (orgId: number, siteId: number): Promise<void> =>
  enqueue(queues.jobs, [{ job: "sweep", orgId, kind: "SITE", groupId: siteId }], { group: orgId });

/** Undefined when the site is not being erased. */
export const getErasureProgress = (
  orgId: number,
  siteId: number,
): Promise<ErasureProgress | undefined> => get<SiteErasure>(keys.siteErasure(orgId, siteId));
