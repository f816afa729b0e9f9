import { useQuery } from "@tanstack/react-query";
import { queries } from "./queries.ts";

/** Turns the key of a provider into its name: "postmark" into "Postmark". */
export function useProviderNames(): (key: string) => string {
  const { data } = useQuery(queries.providers());
  return (key) => data?.providers.find((provider) => provider.key === key)?.name ?? key;
}
