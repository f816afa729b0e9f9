// The job that moves the history of a merged contact, as its starter sees it; move-history.ts runs
// it.
import { put, type Write } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../clock.ts";
import type { Leased } from "../../kernel/leases.ts";
import * as log from "../../kernel/log.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../keys.ts";
import { queues } from "../../queues.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";

export interface ContactMergeItem extends Leased {
  /** The contact whose history moves. */
  id: number;
  /** The contact to which it moves. */
  into: number;
  orgId: number;
  siteId: number;
  createdAt: string;
}

/** For the transaction of the merge. Enqueue it afterwards. */
export function jobWrite({ source, target }: { source: ContactItem; target: ContactItem }): Write {
  const { orgId, siteId, id } = source;
  const item: ContactMergeItem = {
    ...{ id, into: target.id, orgId, siteId },
    createdAt: now().toISOString(),
    ...dueAttributes(id, 60),
  };
  return put(keys.contactMerge(orgId, id), item);
}

export const dueAttributes = (contactId: number, seconds: number) =>
  indexAttributes(indexes.due("MERGE", dueShardOf(contactId)), addSeconds(seconds).toISOString());

export const enqueueMerge = (orgId: number, contactId: number): Promise<void> =>
  enqueue(queues.jobs, [{ job: "merge-contact", orgId, contactId }], { group: orgId });

/** A failure does not fail the request, because the due index finds the job. */
export async function enqueueSoon(orgId: number, contactId: number): Promise<void> {
  try {
    await enqueueMerge(orgId, contactId);
  } catch (error) {
    log.error("the history of a merged contact moves later", error, { orgId });
  }
}
