// Every query of the console. The first word of a key is the group of the API, so a change can
// refresh all that was read from the group.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { ListContactsQuery } from "pennymail";
import { api } from "./client.ts";

export type Period = "7d" | "30d" | "90d";
const pageLimit = 100;
const minute = 60_000;

export const queries = {
  me: () =>
    queryOptions({
      queryKey: ["account", "me"],
      queryFn: () => api.account.getCallerIdentity(),
      staleTime: 5 * minute,
    }),
  sites: () =>
    queryOptions({
      queryKey: ["sites", "list"],
      queryFn: () => api.sites.list({ limit: pageLimit }),
      staleTime: 5 * minute,
    }),
  setup: () =>
    queryOptions({
      queryKey: ["organization", "setup"],
      queryFn: () => api.organization.getSetup(),
    }),
  dashboard: (siteId: number | undefined, period: Period) =>
    queryOptions({
      queryKey: ["analytics", "dashboard", siteId, period],
      queryFn: () => api.analytics.getDashboardOverview({ period, ...(siteId && { siteId }) }),
      staleTime: minute,
      placeholderData: keepPreviousData,
    }),
  overview: (siteId: number | undefined, period: Period) =>
    queryOptions({
      queryKey: ["analytics", "overview", siteId, period],
      queryFn: () => api.analytics.getOverview({ period, ...(siteId && { siteId }) }),
      staleTime: minute,
      placeholderData: keepPreviousData,
    }),
  contacts: (filter: Omit<ListContactsQuery, "page" | "limit" | "cursor">) =>
    infiniteQueryOptions({
      queryKey: ["contacts", "list", filter],
      queryFn: ({ pageParam }) =>
        api.contacts.list({ ...filter, limit: pageLimit, ...(pageParam && { cursor: pageParam }) }),
      initialPageParam: "",
      getNextPageParam: ({ pagination }) => pagination.nextCursor,
      placeholderData: keepPreviousData,
    }),
  contact: (id: number) =>
    queryOptions({
      queryKey: ["contacts", "detail", id],
      queryFn: () => api.contacts.get(id),
    }),
  sendsOfContact: (contactId: number) =>
    queryOptions({
      queryKey: ["sends", "list", { contactId }],
      queryFn: () => api.sends.list({ contactId, limit: 20 }),
    }),
  lists: (siteId: number) =>
    queryOptions({
      queryKey: ["lists", "list", siteId],
      queryFn: () => api.lists.list({ siteId, limit: pageLimit }),
    }),
  tags: (siteId: number) =>
    queryOptions({
      queryKey: ["tags", "list", siteId],
      queryFn: () => api.tags.list({ siteId, limit: pageLimit }),
    }),
  providers: () =>
    queryOptions({
      queryKey: ["providers", "list"],
      queryFn: () => api.providers.list(),
      staleTime: 60 * minute,
    }),
  sendingConfigs: () =>
    queryOptions({
      queryKey: ["sendingConfigs", "list"],
      queryFn: () => api.sendingConfigs.list({ limit: pageLimit }),
    }),
  domain: (id: number) =>
    queryOptions({
      queryKey: ["domains", "detail", id],
      queryFn: () => api.domains.get(id),
      // DNS answers change while somebody edits them at the registrar.
      refetchInterval: ({ state }) => (state.data?.status === "verified" ? false : 10_000),
    }),
};
