import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Send } from "pennymail";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";

type Origin = Pick<Send, "siteId" | "campaignId" | "sequenceId" | "holidayId" | "batchId">;
/** The name of a record, or nothing while it is not known. */
type FindName = (group: "campaigns" | "sequences", id: number) => string | undefined;

/** Reads the names of the campaigns and sequences that the emails belong to. */
export function useOriginNames(sends: readonly Origin[]): FindName {
  const mayRead = useRight("marketing:read");
  const wanted = [
    { group: "campaigns", siteIds: siteIdsOf(sends.filter(({ campaignId }) => campaignId)) },
    { group: "sequences", siteIds: siteIdsOf(sends.filter(({ sequenceId }) => sequenceId)) },
  ] as const;
  const reads = wanted.flatMap(({ group, siteIds }) =>
    siteIds.map((siteId) => ({ group, siteId })),
  );
  const results = useQueries({
    queries: reads.map(({ group, siteId }) => ({
      ...queries.names(group, siteId),
      enabled: mayRead,
    })),
  });
  return (group, id) =>
    reads
      .flatMap((read, i) => (read.group === group ? (results[i]?.data ?? []) : []))
      .find((record) => record.id === id)?.name;
}

const siteIdsOf = (sends: readonly Origin[]): number[] => [
  ...new Set(sends.map(({ siteId }) => siteId)),
];

/** What an email belongs to, with a link to it. */
export function OriginLink({ send, findName }: { send: Origin; findName: FindName }) {
  const { campaignId, sequenceId, holidayId, batchId } = send;
  if (campaignId)
    return (
      <Link to="/campaigns/$id" params={{ id: campaignId }}>
        {findName("campaigns", campaignId) ?? t("Campaign {campaignId}", { campaignId })}
      </Link>
    );
  if (sequenceId)
    return (
      <Link to="/sequences/$id/{-$part}" params={{ id: sequenceId }}>
        {findName("sequences", sequenceId) ?? t("Sequence {sequenceId}", { sequenceId })}
      </Link>
    );
  if (holidayId)
    return <Link to="/sequences/holidays">{t("Holiday email {holidayId}", { holidayId })}</Link>;
  return batchId ? t("Batch {batchId}", { batchId }) : "API";
}
