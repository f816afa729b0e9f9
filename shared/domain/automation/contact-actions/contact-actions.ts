// Actions on many contacts, as jobs. A worker first stores the ids of the selected contacts, then
// changes these contacts; see run-action.ts.
import { all, exists, oneOf } from "../../../adapters/dynamodb/conditions.ts";
import {
  get,
  getMany,
  put,
  queryPages,
  transact,
  update,
  type Write,
  write,
} from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import type { Caller, CallerScope } from "../../../caller.ts";
import { addSeconds, epochSeconds, now } from "../../../clock.ts";
import { missing } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { compress } from "../../../kernel/compressed-values.ts";
import { startedJobAttributes, toStarter } from "../../../kernel/job-index.ts";
import {
  type PageRequest,
  type Pagination,
  positionOf,
  positionParts,
  readPage,
} from "../../../kernel/paging.ts";
import { permitSite } from "../../../kernel/site-access.ts";
import { dueShardOf, indexAttributes, indexes, type Key, keys, ranges } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import * as groups from "../../audience/groups/groups.ts";
import * as sites from "../../identity/sites.ts";
import type {
  ContactAction,
  ContactActionItem,
  ContactActionPreview,
  NewContactAction,
} from "./action-schema.ts";
import { describeAction } from "./describe-action.ts";
import { countContacts, type ResolvedAction, resolveAction } from "./resolve-action.ts";

/** Says what the action would do. Creates nothing. */
export async function preview(
  caller: Caller,
  request: NewContactAction,
): Promise<ContactActionPreview> {
  const { siteId, target, startedSequences } = await resolveAction(caller, request);
  const [count, sequences] = await Promise.all([
    countContacts(caller, siteId, request),
    getMany<{ id: number; name: string }>(
      startedSequences.map((id) => keys.record(caller.orgId, "SEQUENCE", id)),
    ),
  ]);
  const name = target?.name ?? request.tag;
  return {
    siteId,
    count,
    summary: describeAction({ action: request.action, name, count }),
    startsSequences: sequences.flatMap((one) => (one ? [{ id: one.id, name: one.name }] : [])),
  };
}

const keptSeconds = 30 * 24 * 3600;

/**
 * Stores the action, then enqueues it. If the process dies in between, the schedule finds it on the
 * due index. Throws like `preview`.
 */
export async function start(caller: Caller, request: NewContactAction): Promise<ContactAction> {
  const { orgId } = caller;
  const resolved = await resolveAction(caller, request);
  const target = resolved.target ?? (await createTag(caller, resolved, request.tag));
  const id = await ids.nextId("CONTACTACTION");
  const createdAt = now().toISOString();
  const { siteId } = resolved;
  const selectedIds = [...new Set(request.contactIds)];
  const item: ContactActionItem = {
    id,
    orgId,
    siteId,
    action: request.action,
    ...(target && { target }),
    ...(request.filter && { filter: request.filter }),
    source: caller.kind === "api_key" ? "api" : "session",
    status: "queued",
    shard: 0,
    selected: !request.filter,
    pages: selectedIds.length ? 1 : 0,
    total: selectedIds.length,
    ...{ page: 0, offset: 0, processed: 0, failed: 0, failures: [] },
    createdAt,
    updatedAt: createdAt,
    startedBy: toStarter(caller),
    expires: epochSeconds(addSeconds(keptSeconds)),
    ...dueAttributes(id, 60),
    ...startedJobAttributes(orgId, { type: "contact_action", id, siteId, createdAt }),
  };
  await write(
    put(keys.contactAction(orgId, id), item),
    ...(selectedIds.length ? [await selectedPageWrite(item, 0, selectedIds)] : []),
  );
  await enqueueRun(orgId, id);
  return toApi(item);
}

async function createTag(
  caller: Caller,
  { siteId }: ResolvedAction,
  tag: string | undefined,
): Promise<ContactActionItem["target"]> {
  if (tag === undefined) return undefined;
  const id = (await groups.getOrCreateTags(caller, siteId, [tag])).get(tag)!;
  return { id, name: tag };
}

/** Stores ids of selected contacts. */
export async function selectedPageWrite(
  { orgId, id, expires }: ContactActionItem,
  page: number,
  contactIds: number[],
): Promise<Write> {
  const key = keys.selectedContacts(orgId, id, page);
  return put(key, { ...(await compress(key, contactIds)), expires });
}

export const dueAttributes = (id: number, seconds: number) =>
  indexAttributes(indexes.due("ACTION", dueShardOf(id)), addSeconds(seconds).toISOString());

export const enqueueRun = (orgId: number, actionId: number): Promise<void> =>
  enqueue(queues.jobs, [{ job: "contact-action", orgId, actionId }], { group: orgId });

const notFound = () => missing("The action does not exist");

async function findItem(caller: CallerScope, id: number): Promise<ContactActionItem> {
  const item = await get<ContactActionItem>(keys.contactAction(caller.orgId, id));
  if (!item) throw notFound();
  await permitSite(caller, item.siteId, notFound);
  return item;
}

/** Throws 404, or 403 for a caller that is limited to other sites. */
export const find = async (caller: CallerScope, id: number): Promise<ContactAction> =>
  toApi(await findItem(caller, id));

/** Newest first, of one site or of all that the caller can access. */
export async function list(
  caller: CallerScope,
  request: PageRequest,
  siteId: number | undefined,
): Promise<{ items: ContactAction[]; pagination: Pagination }> {
  const siteIds = await sites.listVisibleSiteIds(caller, siteId);
  const after = positionOf(request, new RegExp(`^${positionParts.id}$`));
  return readPage(request, {
    read: async (needed) => {
      const found: (ContactActionItem & Key)[] = [];
      const options = { newestFirst: true, limit: needed + 1, after };
      const range = ranges.contactActions(caller.orgId);
      for await (const { items } of queryPages<ContactActionItem & Key>(range, options)) {
        found.push(...items.filter((item) => siteIds.includes(item.siteId)));
        if (found.length > needed) break;
      }
      return {
        found: found.slice(0, needed),
        next: found.length > needed ? found[needed - 1]!.sk : undefined,
      };
    },
    toApi: async (items) => items.map(toApi),
  });
}

/** The contacts at work are finished. An action that has ended stays as it is. */
export async function cancel(caller: CallerScope, id: number): Promise<ContactAction> {
  await findItem(caller, id);
  const isStopped = await transact(
    update(
      keys.contactAction(caller.orgId, id),
      { set: { cancelRequested: true } },
      { if: all(exists, oneOf("status", ["queued", "running"])) },
    ),
  );
  if (isStopped) await enqueueRun(caller.orgId, id);
  return find(caller, id);
}

function toApi(item: ContactActionItem): ContactAction {
  const { selected, total, processed, failed, status, cancelRequested, target } = item;
  const isOpen = status === "queued" || status === "running";
  const percentDone = selected && total ? Math.min(99, Math.floor((100 * processed) / total)) : 0;
  const count = selected ? total : undefined;
  return {
    id: item.id,
    siteId: item.siteId,
    action: item.action,
    target: target ?? null,
    status: isOpen && cancelRequested ? "cancelling" : status,
    summary: describeAction({ action: item.action, name: target?.name, count }),
    progress: status === "completed" ? 100 : percentDone,
    total: count ?? null,
    processed,
    succeeded: processed - failed,
    failed,
    errors: item.failures,
    error: item.error ?? null,
    createdAt: item.createdAt,
    updatedAt: item.updatedAt,
  };
}
