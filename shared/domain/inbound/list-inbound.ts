// Lists and reads the mail that people sent to the sites of an organization.
import { equals } from "../../adapters/dynamodb/conditions.ts";
import { get, getMany } from "../../adapters/dynamodb/table.ts";
import type { Caller, CallerScope } from "../../caller.ts";
import { epochSeconds } from "../../clock.ts";
import { missing } from "../../errors.ts";
import { readNewestFirst } from "../../kernel/newest-first.ts";
import {
  countSkipped,
  type PageRequest,
  positionOf,
  positionParts,
  toPagination,
} from "../../kernel/paging.ts";
import { permitSite } from "../../kernel/site-access.ts";
import { keys, ranges } from "../../keys.ts";
import * as sites from "../identity/sites.ts";
import {
  type InboundEmailDetail,
  type InboundEmailItem,
  type InboundKind,
  toApi,
  toDetail,
} from "./inbound-email.ts";

interface InboundFilter {
  siteId?: number | undefined;
  kind?: InboundKind | undefined;
  email?: string | undefined;
}

/** An entry of the list of a site, or of that of a sender. */
interface Entry {
  sk: string;
  /** Only in the list of a sender. */
  siteId?: number;
}

const positionPattern = new RegExp(`^${positionParts.id}$`);

/** Newest first. Expired mails are left out. */
export async function list(caller: Caller, request: PageRequest, filter: InboundFilter) {
  const siteIds = await sites.listVisibleSiteIds(caller, filter.siteId);
  const { orgId } = caller;
  const { email, kind } = filter;
  const feeds = siteIds.map((siteId) => ranges.inboundFeed(orgId, siteId));
  const entries = readNewestFirst<Entry>(
    email === undefined ? feeds : [ranges.inboundFrom(orgId, email)],
    ({ sk }) => sk,
    {
      below: positionOf(request, positionPattern),
      size: request.limit + 1,
      filter: kind && equals("kind", kind),
    },
  );
  const skipped = countSkipped(request);
  const found: Entry[] = [];
  for await (const entry of entries) {
    if (entry.siteId === undefined || siteIds.includes(entry.siteId)) found.push(entry);
    if (found.length > skipped + request.limit) break;
  }
  const page = found.slice(skipped, skipped + request.limit);
  const next = found.length > skipped + request.limit ? page.at(-1)?.sk : undefined;
  const items = await getMany<InboundEmailItem>(
    page.map(({ sk }) => keys.inboundEmail(orgId, Number(sk))),
  );
  const inboundEmails = items.filter(isKept).map(toApi);
  return { inboundEmails, pagination: toPagination(request, null, next) };
}

/** DynamoDB deletes expired items some time later. */
const isKept = (item: InboundEmailItem | undefined): item is InboundEmailItem =>
  item !== undefined && item.expires > epochSeconds();

/** Throws 404. */
export async function find(caller: CallerScope, id: number): Promise<InboundEmailDetail> {
  const notFound = () => missing("The inbound email does not exist");
  const item = await get<InboundEmailItem>(keys.inboundEmail(caller.orgId, id));
  if (!isKept(item)) throw notFound();
  await permitSite(caller, item.siteId, notFound);
  return toDetail(item);
}

/** The newest mails from an address to a site, at most 200. */
export async function listInboundFrom(
  { orgId, siteIds }: { orgId: number; siteIds?: readonly number[] | undefined },
  email: string,
): Promise<InboundEmailItem[]> {
  const entries: Entry[] = [];
  const all = readNewestFirst<Entry>([ranges.inboundFrom(orgId, email)], ({ sk }) => sk, {
    size: maxOfSender,
  });
  for await (const entry of all) {
    if (siteIds?.includes(entry.siteId!) ?? true) entries.push(entry);
    if (entries.length >= maxOfSender) break;
  }
  const items = await getMany<InboundEmailItem>(
    entries.map(({ sk }) => keys.inboundEmail(orgId, Number(sk))),
  );
  return items.filter(isKept);
}

const maxOfSender = 200;
