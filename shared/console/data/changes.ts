import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";

interface Change<Input, Result> {
  run(input: Input): Promise<Result>;
  /** The groups of the API that the change affects. What was read from them is read again. */
  refreshes: readonly string[];
  /** Runs before the groups are read again. */
  onDone?(result: Result, input: Input): unknown;
}

/** A change at the API, with its progress and error. */
export function useChange<Input = void, Result = unknown>(change: Change<Input, Result>) {
  const { run, refreshes, onDone } = change;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: async (result, input) => {
      await onDone?.(result, input);
      await refreshGroups(queryClient, refreshes);
    },
  });
}

/** Reads again what was read from groups of the API. */
export const refreshGroups = (queryClient: QueryClient, groups: readonly string[]): Promise<void> =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [group] }) => groups.includes(group as string),
  });
