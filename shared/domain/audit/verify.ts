// Verifies the chain of the audit log, link by link from the oldest that is kept.
import * as z from "zod";
import { get, getMany, query } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { epochSeconds } from "../../clock.ts";
import { positionOf } from "../../kernel/paging.ts";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { indexes, keys, ranges, zeroPad } from "../../keys.ts";
import { type ChainEnd, type ChainLink, endOfRetention, hashEntry, hashLink } from "./chain.ts";
import type { AuditItem } from "./entries.ts";

const problems = {
  entry_missing: "The entry was removed.",
  entry_changed: "The entry was changed after it was chained.",
  link_missing: "The link of the chain with this number was removed.",
  link_changed: "The link of the chain was changed.",
};
type ProblemName = keyof typeof problems;

const ChainProblem = z
  .object({
    problem: z
      .enum(Object.keys(problems) as [ProblemName, ...ProblemName[]])
      .describe("What is wrong."),
    description: z.string().describe("The problem as a sentence."),
    link: RecordId.describe("Number of the link of the chain."),
    entryId: z.string().nullable().describe("Id of the entry. `null`: the link itself."),
  })
  .meta({ id: "AuditChainProblem" });
type ChainProblem = z.output<typeof ChainProblem>;

export const Verification = z
  .object({
    intact: z.boolean().describe("Whether no problem was found in this part of the chain."),
    checkedEntries: Count.describe("Number of entries that this request checked."),
    problems: z.array(ChainProblem).describe("What is wrong. Empty if the part is intact."),
    unchainedEntries: Count.describe(
      "Number of newest entries that are not chained yet, at most 1,000. A job chains them " +
        "within minutes; entries of calls that are still counted, after 15 minutes.",
    ),
    end: z
      .object({
        link: RecordId.describe("Number of the newest link."),
        hash: z.string().describe("SHA-256 of that link, which covers all links before it."),
        at: Timestamp.describe("When the link was made."),
      })
      .nullable()
      .describe(
        "End of the chain. Keep it outside of the service: if the log still has this link with " +
          "this hash later, nothing before it was changed. `null`: nothing is chained yet.",
      ),
    nextCursor: z
      .string()
      .nullable()
      .describe("Pass it as `cursor` to check the next part. `null`: the end was checked."),
  })
  .meta({ id: "AuditVerification" });
export type Verification = z.output<typeof Verification>;

export const maxLinks = 50;
export const usualLinks = 20;
const maxCountedEntries = 1000;

/** Checks up to `limit` links, each with up to 90 entries. */
export async function verify(
  { orgId }: CallerScope,
  { limit = usualLinks, ...request }: { limit?: number; cursor?: string | undefined },
): Promise<Verification> {
  const position = positionOf(request, /^\d{16}#[0-9a-f]{64}$/);
  const before = position === undefined ? undefined : toCheckedLink(position);
  // The end is read before the links, so a link that is added meanwhile is not missing.
  const end = await get<ChainEnd>(keys.auditChain(orgId));
  const [{ items, next }, unchainedEntries] = await Promise.all([
    query<ChainLink>(ranges.auditLinks(orgId), {
      limit,
      after: before && zeroPad(before.n),
      consistent: true,
    }),
    countUnchained(orgId),
  ]);
  const isKept = ({ at }: { at: string }) => endOfRetention(at) > epochSeconds();
  const links = items.filter(isKept);
  const found: ChainProblem[] = [];
  let last: CheckedLink | undefined = before;
  for (const link of links) {
    found.push(...checkLink(link, last, isKept));
    last = { n: link.n, hash: link.hash };
  }
  found.push(...(await checkEntries(orgId, links)));
  if (next === undefined) found.push(...checkEnd(end, last, isKept));
  return {
    intact: !found.length,
    checkedEntries: links.reduce((sum, { entries }) => sum + entries.length, 0),
    problems: found,
    unchainedEntries,
    end: end?.n === undefined ? null : { link: end.n, hash: end.hash!, at: end.at! },
    nextCursor: next === undefined ? null : toPosition(last ?? { n: Number(next), hash: noHash }),
  };
}

interface CheckedLink {
  n: number;
  hash: string;
}
/** Stands for a link that has expired. */
const noHash = "0".repeat(64);
const toPosition = ({ n, hash }: CheckedLink): string => `${zeroPad(n)}#${hash}`;
function toCheckedLink(position: string): CheckedLink {
  const [n = "", hash = ""] = position.split("#");
  return { n: Number(n), hash };
}

const toProblem = (problem: ProblemName, link: number, entryId: string | null = null) => ({
  problem,
  description: problems[problem],
  link,
  entryId,
});

type IsKept = (link: { at: string }) => boolean;

/** `last`: the link before, unless that has expired. */
function checkLink(link: ChainLink, last: CheckedLink | undefined, isKept: IsKept) {
  const { n, previous } = link;
  const found: ChainProblem[] = [];
  if (hashLink(link) !== link.hash) found.push(toProblem("link_changed", n));
  if (!last || last.hash === noHash) {
    // The link keeps hash and time of the one before, which must have expired.
    const isFirst = n === 1 && previous === null;
    if (!isFirst && (!previous || isKept(previous))) found.push(toProblem("link_missing", n - 1));
  } else if (n !== last.n + 1) found.push(toProblem("link_missing", last.n + 1));
  else if (previous?.hash !== last.hash) found.push(toProblem("link_changed", last.n));
  return found;
}

function checkEnd(end: ChainEnd | undefined, last: CheckedLink | undefined, isKept: IsKept) {
  if (end?.n === undefined) return last ? [toProblem("link_changed", last.n + 1)] : [];
  // A link was added while this request read the links.
  if (last && last.n > end.n) return [];
  if (last?.n === end.n) return last.hash === end.hash ? [] : [toProblem("link_changed", end.n)];
  return isKept({ at: end.at! }) ? [toProblem("link_missing", (last?.n ?? end.n - 1) + 1)] : [];
}

async function checkEntries(orgId: number, links: ChainLink[]): Promise<ChainProblem[]> {
  const expected = links.flatMap(({ n, entries }) => entries.map((entry) => ({ n, ...entry })));
  const items = await getMany<AuditItem>(
    expected.map(({ id }) => keys.auditEntry(orgId, id)),
    { consistent: true },
  );
  return expected.flatMap(({ n, id, hash }, i) => {
    const item = items[i];
    if (!item) return [toProblem("entry_missing", n, id)];
    return hashEntry(item) === hash ? [] : [toProblem("entry_changed", n, id)];
  });
}

async function countUnchained(orgId: number): Promise<number> {
  const range = indexes.unchainedEntries(orgId);
  const { items } = await query(range, { limit: maxCountedEntries });
  return items.length;
}
