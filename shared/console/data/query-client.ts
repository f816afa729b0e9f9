import { QueryClient } from "@tanstack/react-query";

/** The SDK repeats requests itself. */
export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: 30_000, refetchOnWindowFocus: false } },
});
