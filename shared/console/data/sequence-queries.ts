// The queries of sequences, as in queries.ts.
import { queryOptions } from "@tanstack/react-query";
import type { ListSequenceEnrollmentsQuery, ListSequencesQuery } from "pennymail";
import { api } from "./client.ts";
import { type FilterOf, pagesOf } from "./queries.ts";

/** What a walk asks for. */
export type WalkCall = Parameters<typeof api.sequences.walk>[1];

export const sequenceQueries = {
  list: (filter: FilterOf<ListSequencesQuery>) =>
    pagesOf(["sequences", "list", filter], (page) => api.sequences.list({ ...filter, ...page })),
  funnels: (siteId: number) =>
    queryOptions({
      queryKey: ["sequences", "funnels", siteId],
      queryFn: () => api.reports.listSequenceFunnels({ siteId, limit: 100 }),
    }),
  detail: (id: number) =>
    queryOptions({
      queryKey: ["sequences", "detail", id],
      queryFn: () => api.sequences.getDetail(id),
      refetchInterval: ({ state }) => (state.data?.status === "active" ? 10_000 : false),
    }),
  /** The draft of the steps, by its version. It is not read again after it is published. */
  draft: (id: number, draftVersion: number) =>
    queryOptions({
      queryKey: ["sequenceDrafts", id, draftVersion],
      queryFn: () => api.sequences.getDraft(id),
    }),
  enrollments: (id: number, filter: FilterOf<ListSequenceEnrollmentsQuery>) =>
    pagesOf(["sequences", "enrollments", id, filter], (page) =>
      api.sequences.listEnrollments(id, { ...filter, ...page }),
    ),
  walk: (id: number, stepsVersion: number, request: WalkCall) =>
    queryOptions({
      queryKey: ["sequences", "walk", id, stepsVersion, request],
      queryFn: () => api.sequences.walk(id, request),
    }),
  playbooks: () =>
    queryOptions({
      queryKey: ["playbooks", "list"],
      queryFn: () => api.sequences.listPlaybooks(),
      staleTime: 3_600_000,
    }),
};
