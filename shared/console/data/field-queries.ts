// The queries of contact fields, as in queries.ts.
import { queryOptions } from "@tanstack/react-query";
import type { ContactField } from "pennymail";
import { standardFieldLabels } from "../parts/contact-field-types.ts";
import { api } from "./client.ts";

/** The API has English labels for the standard fields. */
const withOwnLabel = (field: ContactField): ContactField =>
  field.custom
    ? field
    : {
        ...field,
        label: (standardFieldLabels as Record<string, string>)[field.key] ?? field.label,
      };

const minute = 60_000;
export const fieldQueries = {
  list: (siteId: number) =>
    queryOptions({
      queryKey: ["contactFields", "list", siteId],
      queryFn: async () => {
        const { fields, ...rest } = await api.contactFields.get({ siteId });
        return { ...rest, fields: fields.map(withOwnLabel) };
      },
      staleTime: minute,
    }),
  uses: (siteId: number, name: string) =>
    queryOptions({
      queryKey: ["contactFields", "uses", siteId, name],
      queryFn: () => api.contactFields.listUses(name, { siteId }),
      staleTime: 0,
    }),
};
