// The queries of contact fields, as in queries.ts.
import { queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";

const minute = 60_000;
export const fieldQueries = {
  list: (siteId: number) =>
    queryOptions({
      queryKey: ["contactFields", "list", siteId],
      queryFn: () => api.contactFields.get({ siteId }),
      staleTime: minute,
    }),
  uses: (siteId: number, name: string) =>
    queryOptions({
      queryKey: ["contactFields", "uses", siteId, name],
      queryFn: () => api.contactFields.listUses(name, { siteId }),
      staleTime: 0,
    }),
};
