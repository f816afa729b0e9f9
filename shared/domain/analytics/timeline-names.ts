// Names of the records in a timeline.
import { getMany } from "../../adapters/dynamodb/table.ts";
import { keys, type RecordKind } from "../../keys.ts";
import type { TimelineRecord } from "./timeline-event.ts";

const recordKinds: Record<TimelineRecord["type"], RecordKind> = {
  tag: "TAG",
  list: "LIST",
  form: "FORM",
  sequence: "SEQUENCE",
  campaign: "CAMPAIGN",
  holiday: "HOLIDAY",
  scoring_rule: "RULE",
};

/** Returns a function that gives the name of one of the records; null if it was deleted. */
export async function getRecordNames(
  orgId: number,
  records: TimelineRecord[],
): Promise<(record: TimelineRecord) => string | null> {
  const toText = ({ type, id }: TimelineRecord) => `${type} ${id}`;
  const distinct = [...new Map(records.map((record) => [toText(record), record])).values()];
  const items = await getMany<{ name: string }>(
    distinct.map(({ type, id }) => keys.record(orgId, recordKinds[type], id)),
  );
  const names = new Map(distinct.map((record, i) => [toText(record), items[i]?.name ?? null]));
  return (record) => names.get(toText(record)) ?? null;
}
