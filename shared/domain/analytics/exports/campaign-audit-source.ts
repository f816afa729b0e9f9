// The rows of the audit of a campaign as the source of an export. The rows of a page stay together.

import { emailShards } from "../../../keys.ts";
import {
  type AuditPage,
  type AuditRow,
  readAuditPages,
  shardOfPosition,
} from "../../campaigns/audit/audit-rows.ts";
import { movedShard } from "../../campaigns/engine/fan-out-cursors.ts";
import type { ExportSource, SourceFactory } from "./export-source.ts";

type PageRow = AuditRow & { page: string };

const columns = ["page", "contactId", "sendId", "outcome", "error"] as const;

export const campaignAuditSource: SourceFactory = async (orgId, { campaignId }) => {
  const campaign = { orgId, id: campaignId! };
  return {
    readPages: (shard, { after } = {}) => readShardPages(campaign, shard, after),
    toRows: async (items) =>
      (items as PageRow[]).map((row) =>
        Object.fromEntries(columns.map((column) => [column, row[column]])),
      ),
    customFieldsOf: () => [],
    tableFor: () => ({
      jsonName: "rows",
      columns: [...columns],
      cells: (row) => columns.map((column) => row[column] as string | number | null),
    }),
    compare: (a, b) => ((a as PageRow).page < (b as PageRow).page ? -1 : 1),
  };
};

/**
 * The moved contacts follow the last shard of addresses, because an export knows only those. The
 * last page is empty, because no page knows that it is the last.
 */
async function* readShardPages(
  campaign: { orgId: number; id: number },
  shard: string,
  after: string | undefined,
): ReturnType<ExportSource["readPages"]> {
  const shards = shard === emailShards.at(-1) ? [shard, movedShard] : [shard];
  const startShard = after === undefined ? shard : shardOfPosition(after);
  for (const one of shards.slice(shards.indexOf(startShard))) {
    const start = one === startShard ? after : undefined;
    for await (const page of readAuditPages(campaign, { shard: one, after: start }))
      yield { items: toPageRows(page), next: page.position };
  }
  yield { items: [] };
}

const toPageRows = ({ name, rows }: AuditPage): PageRow[] =>
  rows.map((row) => ({ page: name, ...row }));
