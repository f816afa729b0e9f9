// Stores the steps of a sequence. Every edit stores the whole graph as a new version, so a worker
// reads the graph before an edit or after it, never a mixture.

import { get, put, update, type Write } from "../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds } from "../../clock.ts";
import { missing } from "../../errors.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { keys } from "../../keys.ts";
import type { SequenceItem } from "./sequence-schema.ts";
import { emptyGraph, type StepGraph } from "./step-graph.ts";

/** Fields that steps of earlier versions of the service do not have. */
const addedFields = { splitConfig: null, waitConfig: null, actionConfig: null };

const graphCache = createLruCache<StepGraph>(16_000_000);

/** Cached in the process: a version never changes. */
export async function getGraph(
  orgId: number,
  { id, stepsVersion }: Pick<SequenceItem, "id" | "stepsVersion">,
): Promise<StepGraph> {
  if (!stepsVersion) return emptyGraph;
  const name = `${orgId}/${id}/${stepsVersion}`;
  const cached = graphCache.get(name);
  if (cached) return cached;
  const item = await get<CompressedValue>(
    keys.recordBody(orgId, "SEQUENCE", { id, version: stepsVersion }),
  );
  if (!item) throw missing("The sequence does not exist");
  const stored = await decompress<StepGraph>(item);
  const graph = { ...stored, steps: stored.steps.map((step) => ({ ...addedFields, ...step })) };
  graphCache.set(name, graph, 2 * JSON.stringify(graph).length + 500);
  return graph;
}

/** For the transaction that sets the version on the record. */
export async function graphWrite(
  orgId: number,
  { sequenceId, version }: { sequenceId: number; version: number },
  graph: StepGraph,
): Promise<Write> {
  const key = keys.recordBody(orgId, "SEQUENCE", { id: sequenceId, version });
  return put(key, await compress(key, graph, "templates"));
}

const oldVersionTtlSeconds = 24 * 3600;

/** Lets a replaced version expire later: workers may still be reading it. */
export const expireGraphWrites = (orgId: number, { id, stepsVersion }: SequenceItem): Write[] =>
  stepsVersion
    ? [
        update(keys.recordBody(orgId, "SEQUENCE", { id, version: stepsVersion }), {
          set: { expires: epochSeconds(addSeconds(oldVersionTtlSeconds)) },
        }),
      ]
    : [];
