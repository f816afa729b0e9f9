// The queries of sequences, as in queries.ts.
import { queryOptions } from "@tanstack/react-query";
import type { ListSequenceEnrollmentsQuery, ListSequencesQuery } from "pennymail";
import { api } from "./client.ts";
import { type FilterOf, pagesOf } from "./queries.ts";

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
  enrollments: (id: number, filter: FilterOf<ListSequenceEnrollmentsQuery>) =>
    pagesOf(["sequences", "enrollments", id, filter], (page) =>
      api.sequences.listEnrollments(id, { ...filter, ...page }),
    ),
  playbooks: () =>
    queryOptions({
      queryKey: ["playbooks", "list"],
      queryFn: () => api.sequences.listPlaybooks(),
      staleTime: 3_600_000,
    }),
};
