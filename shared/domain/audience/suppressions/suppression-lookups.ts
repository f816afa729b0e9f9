// Looks up which email addresses are suppressed, for few recipients or for many.
import { getMany, getTogether, queryAll } from "../../../adapters/dynamodb/table.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { emailShardOf, emailShards, ranges, sha256 } from "../../../keys.ts";
import {
  getCounts,
  isMarketingOnly,
  keyOf,
  type Suppression,
  type SuppressionReason,
} from "./suppressions.ts";

type MailPurpose = "transactional" | "marketing";

/** The email addresses, in lower case, that must not get mail for this purpose. */
export async function filterSuppressed(
  orgId: number,
  emails: string[],
  { purpose, consistent = false }: { purpose: MailPurpose; consistent?: boolean },
): Promise<Set<string>> {
  const found =
    emails.length === 1 && !consistent
      ? [await getTogether<Suppression>(keyOf(orgId, emails[0]!))]
      : await getMany<Suppression>(
          emails.map((email) => keyOf(orgId, email)),
          { consistent },
        );
  return new Set(
    emails.filter((_, i) => found[i] && blocks(found[i], purpose)).map(normalizeEmail),
  );
}

/** By normalized address. Addresses that are not suppressed are not in it. */
export async function getReasons(
  orgId: number,
  emails: string[],
): Promise<Map<string, SuppressionReason>> {
  const found = await getMany<Suppression>(emails.map((email) => keyOf(orgId, email)));
  return new Map(
    emails.flatMap((email, i) =>
      found[i] ? [[normalizeEmail(email), found[i].reason] as const] : [],
    ),
  );
}

// A look-up costs half a read unit. Entries that are read in order cost a tenth of that, or less.
const entriesPerLookup = 10;

/**
 * Returns a function that filters marketing recipients like `filterSuppressed`, for a caller that
 * asks for most addresses of a shard. It reads the list of the shard once, as soon as that costs
 * less than the addresses that were asked for.
 */
export function createMarketingLookup(
  orgId: number,
  shard: string | undefined,
  knownSize?: Promise<number>,
): (emails: string[]) => Promise<Set<string>> {
  let asked = 0;
  let listSize = knownSize;
  let listed: Promise<Set<string>> | undefined;
  return async (emails) => {
    asked += emails.length;
    if (shard === undefined || !emails.length)
      return filterSuppressed(orgId, emails, { purpose: "marketing" });
    listSize ??= getShardSize(orgId);
    if (asked * entriesPerLookup < (await listSize))
      return filterSuppressed(orgId, emails, { purpose: "marketing" });
    listed ??= listSuppressedHashes(orgId, shard);
    const hashes = await listed;
    return new Set(emails.map(normalizeEmail).filter((email) => hashes.has(sha256(email))));
  };
}

// Fewer addresses cost less than a query for each shard.
const minAddressesForLists = 10 * emailShards.length;

/** Filters marketing recipients like `filterSuppressed`. Reads the shorter of both lists. */
export async function filterManySuppressed(orgId: number, emails: string[]): Promise<Set<string>> {
  if (emails.length < minAddressesForLists)
    return filterSuppressed(orgId, emails, { purpose: "marketing" });
  const size = getShardSize(orgId);
  const byShard = [...Map.groupBy(emails, emailShardOf)];
  const found = await inParallel(8, byShard, ([shard, ofShard]) =>
    createMarketingLookup(orgId, shard, size)(ofShard),
  );
  return new Set(found.flatMap((suppressed) => [...suppressed]));
}

const getShardSize = async (orgId: number): Promise<number> => {
  const counts = Object.values(await getCounts(orgId));
  return counts.reduce((sum, n) => sum + n, 0) / emailShards.length;
};

/** Hashes of the addresses. Every entry blocks marketing mail. */
async function listSuppressedHashes(orgId: number, shard: string): Promise<Set<string>> {
  const entries = await queryAll<{ sk: string }>(ranges.suppressions(orgId, shard), {
    attributes: ["sk"],
  });
  return new Set(entries.map(({ sk }) => sk));
}

/** An unsubscribe or a soft bounce blocks marketing mail only: a receipt still goes out. */
const blocks = (suppression: Suppression, purpose: MailPurpose): boolean =>
  purpose === "marketing" || !isMarketingOnly(suppression);
