// Clicked links of campaigns. Each campaign numbers the first 100 of its clicked links; clicks on
// further ones are counted together. The counters of a link change in the transaction that counts
// its events, so they are exact. A round of events costs two to six write units more for each
// variant with clicks, however many clicks it has; a new link costs one write more, once.
import { all, type Condition, equals, exists, isNew } from "../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  get,
  put,
  queryAll,
  transact,
  update,
  type Write,
} from "../../adapters/dynamodb/table.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { splitIntoBatches } from "../../kernel/parallel.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { toShownCount } from "../../kernel/sharded-counters.ts";
import { counterShardOf, type Key, keys, ranges } from "../../keys.ts";

export const maxLinks = 100;
/** The number of all links of a campaign after the first 100. */
const otherLinks = 0;

/** Counters of one link of one send. Those of people count each send at most once. */
export const linkCounterNames = ["clicked", "clickedByMachine", "uniqueClicked"] as const;
export type LinkCounterName = (typeof linkCounterNames)[number];
/** By the number of the link. */
export type LinkCounter = `link.${number}.${LinkCounterName}`;
export type LinkCounts = Partial<Record<LinkCounter, number>>;

export const linkCounter = (link: number, name: LinkCounterName): LinkCounter =>
  `link.${link}.${name}`;
export const isLinkCounter = (name: string): name is LinkCounter => name.startsWith("link.");

/** Parameters with which tools for advertising, analytics and mail tell visitors apart. */
const trackingParameters = [
  /^utm_|clid$/i,
  /^(gbraid|wbraid|igshid|epik|li_fat_id|s_cid|_gl|_ke|_kx)$/i,
  /^(mc_cid|mc_eid|mkt_tok|_hsenc|_hsmi|vero_id|vero_conv|oly_enc_id|oly_anon_id)$/i,
];
const isTracking = (name: string): boolean =>
  trackingParameters.some((pattern) => pattern.test(name));
/** Tokens in links of the service: base64url text of 60 bytes or more. */
const token = /^(?=.*[A-Z])(?=.*\d)[\w-]{80,}$/;

/**
 * The link without what differs from one recipient to another: no tracking parameters, and
 * `{email}`, `{contactId}` and `{token}` in place of the values. Everything else stays as it is
 * written.
 */
export function normalizeLink(
  url: string,
  { toEmail, contactId }: { toEmail: string; contactId?: number | null | undefined },
): string {
  const [, address = "", query, fragment = ""] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url.trim())!;
  const parameters = (query?.slice(1).split("&") ?? []).flatMap((parameter) => {
    const [name = "", value] = parameter.split(/=(.*)/s);
    if (isTracking(decode(name))) return [];
    const isContact = /contact|subscriber|user/i.test(name) && value === String(contactId);
    if (isContact) return [`${name}={contactId}`];
    return [value === undefined ? name : `${name}=${replaceValue(value, toEmail)}`];
  });
  const path = normalizeOrigin(address)
    .split("/")
    .map((segment) => replaceValue(segment, toEmail))
    .join("/");
  return `${path}${parameters.join("") ? `?${parameters.join("&")}` : ""}${fragment}`;
}

/** Scheme and host in lower case, and the path `/` if there is none. */
function normalizeOrigin(address: string): string {
  const [, origin] = /^(https?:\/\/[^/]+)/i.exec(address) ?? [];
  if (!origin) return address;
  return `${URL.parse(origin)?.origin ?? origin}${address.slice(origin.length) || "/"}`;
}

/** Puts `{token}` or `{email}` in the place of such a value. */
function replaceValue(value: string, email: string): string {
  if (token.test(decode(value))) return "{token}";
  const lowerCase = value.toLowerCase();
  const spelling = [email, encodeURIComponent(email)].find((one) =>
    lowerCase.includes(one.toLowerCase()),
  );
  if (spelling === undefined) return value;
  const at = lowerCase.indexOf(spelling.toLowerCase());
  return `${value.slice(0, at)}{email}${value.slice(at + spelling.length)}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The numbered links of a campaign. The first has number 1. */
interface LinkTable {
  urls: string[];
  n: number;
}

// A link keeps its number, so known links are not read again.
const knownTables = createLruCache<string[]>(8_000_000);

/**
 * Returns the number of each link, and numbers new ones. A link that is not among the first 100
 * has the number `otherLinks`.
 */
export async function numberLinks(
  orgId: number,
  campaignId: number,
  urls: string[],
): Promise<Map<string, number>> {
  const known = knownTables.get(`${orgId} ${campaignId}`) ?? [];
  const isComplete = known.length >= maxLinks || urls.every((url) => known.includes(url));
  const table = isComplete ? known : await extendTable(orgId, campaignId, urls);
  return new Map(urls.map((url) => [url, table.indexOf(url) + 1 || otherLinks]));
}

const extendTable = (orgId: number, campaignId: number, urls: string[]): Promise<string[]> =>
  retryOnConflict("The campaign", async () => {
    const key = keys.campaignLinks(orgId, campaignId);
    const stored = await get<LinkTable>(key);
    const before = stored?.urls ?? [];
    const table = [...new Set([...before, ...urls])].slice(0, maxLinks);
    if (table.length > before.length) {
      const item: LinkTable = { urls: table, n: table.length };
      const condition: Condition = stored ? all(exists, equals("n", stored.n)) : isNew;
      if (!(await transact(put(key, item, { if: condition })))) throw new ConditionFailed(0);
    }
    const weight = table.reduce((sum, url) => sum + 2 * url.length + 50, 0);
    knownTables.set(`${orgId} ${campaignId}`, table, weight);
    return table;
  });

export interface LinkCountChange {
  campaignId: number;
  /** Absent if the campaign has no variants. */
  variantId?: number | null | undefined;
  counts: LinkCounts;
}

// DynamoDB allows an update expression of at most 4 KB.
const maxCountersPerWrite = 150;

/**
 * Usually one write for each campaign and variant. Writes with different `shardSeed` use different
 * counter shards, so that parallel transactions seldom conflict.
 */
export function linkCountWrites(
  orgId: number,
  shardSeed: number,
  changes: LinkCountChange[],
): Write[] {
  const groups = Map.groupBy(changes, ({ campaignId, variantId }) => `${campaignId} ${variantId}`);
  return [...groups.values()].flatMap((group) => {
    const [{ campaignId, variantId }] = group as [LinkCountChange];
    const sums = new Map<string, number>();
    for (const { counts } of group)
      for (const [name, n = 0] of Object.entries(counts))
        sums.set(toAttribute(name), (sums.get(toAttribute(name)) ?? 0) + n);
    const nonZero = [...sums].filter(([, n]) => n);
    return splitIntoBatches(nonZero, maxCountersPerWrite).map((batch, i) => {
      const shard = counterShardOf(shardSeed + i);
      const key = keys.linkCount(orgId, campaignId, { variantId: variantId ?? 0, shard });
      return update(key, { add: Object.fromEntries(batch) });
    });
  });
}

// Short names keep the items small: `12c` counts the clicks on link 12.
const letters: Record<string, LinkCounterName> = {
  c: "clicked",
  m: "clickedByMachine",
  u: "uniqueClicked",
};
const toAttribute = (counter: string): string => {
  const [, link, name] = counter.split(".");
  return `${link}${Object.entries(letters).find(([, full]) => full === name)![0]}`;
};

export type LinkTotals = Record<LinkCounterName, number>;
export interface LinkRow {
  /** Undefined for the links after the first 100. */
  url: string | undefined;
  all: LinkTotals;
  /** By variant. */
  variants: Map<number, LinkTotals>;
}

const noClicks = (): LinkTotals => ({ clicked: 0, clickedByMachine: 0, uniqueClicked: 0 });

/** The links with clicks, the most clicked first. */
export async function listLinkTotals(orgId: number, campaignId: number): Promise<LinkRow[]> {
  const items = await queryAll<Partial<LinkTable> & Key>(ranges.campaignLinks(orgId, campaignId), {
    consistent: true,
  });
  const urls = items.find((item) => Array.isArray(item.urls))?.urls ?? [];
  const rows = new Map<number, LinkRow>();
  for (const item of items) {
    const variantId = Number(item.sk.split("#")[0]);
    for (const [attribute, n] of Object.entries(item)) {
      const [, digits, letter] = /^(\d+)([cmu])$/.exec(attribute) ?? [];
      if (!letter || typeof n !== "number") continue;
      const link = Number(digits);
      const row = rows.get(link) ?? { url: urls[link - 1], all: noClicks(), variants: new Map() };
      const ofVariant = row.variants.get(variantId) ?? noClicks();
      for (const totals of [row.all, ofVariant]) totals[letters[letter]!] += n;
      if (variantId) row.variants.set(variantId, ofVariant);
      rows.set(link, row);
    }
  }
  for (const { all, variants } of rows.values())
    for (const totals of [all, ...variants.values()])
      for (const name of Object.values(letters)) totals[name] = toShownCount(totals[name]);
  return [...rows.values()]
    .filter((row) => row.all.clicked > 0)
    .toSorted((a, b) => b.all.clicked - a.all.clicked || byUrl(a, b));
}

const byUrl = (a: LinkRow, b: LinkRow): number => ((a.url ?? "") < (b.url ?? "") ? -1 : 1);
