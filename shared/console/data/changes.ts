import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { showDone } from "../parts/done-note.ts";
import { deleteQuery, isInUse } from "../parts/record-uses.tsx";

interface Change<Input, Result> {
  run(input: Input): Promise<Result>;
  /** The groups of the API that the change affects. What was read from them is read again. */
  refreshes: readonly string[];
  /** Runs before the groups are read again. */
  onDone?(result: Result, input: Input): unknown;
  /** What is shown when it is done. */
  says?(result: Result, input: Input): string | undefined;
}

/** A change at the API, with its progress and error. */
export function useChange<Input = void, Result = unknown>(change: Change<Input, Result>) {
  const { run, refreshes, onDone, says } = change;
  const queryClient = useQueryClient();
  // The form may be gone when the change is done.
  const announced = useRef<string>(undefined);
  const mutation = useMutation({
    mutationFn: run,
    onSuccess: async (result, input) => {
      const text = says ? says(result, input) : announced.current;
      announced.current = undefined;
      if (text !== undefined) showDone(text);
      await onDone?.(result, input);
      await refreshGroups(queryClient, refreshes);
    },
  });
  /** Sets what is shown when the next change is done, unless the change says it itself. */
  const announce = (text: string | undefined) => {
    announced.current = text;
  };
  return { ...mutation, announce };
}

/**
 * Deletes a record. The first attempt for a target fails if something uses it. The next one, which
 * the dialog offers with the list of uses, deletes it.
 */
export function useDeletion<Target>(
  deletion: Omit<Change<Target, unknown>, "run"> & {
    run(target: Target, query: { ifUnused?: "true" }): Promise<unknown>;
  },
) {
  const used = useRef<Target>(undefined);
  return useChange({
    ...deletion,
    run: async (target: Target) => {
      const query = deleteQuery(used.current === target);
      used.current = undefined;
      return deletion.run(target, query).catch((error: unknown) => {
        if (isInUse(error)) used.current = target;
        throw error;
      });
    },
  });
}

/** Reads again what was read from groups of the API. */
export const refreshGroups = (queryClient: QueryClient, groups: readonly string[]): Promise<void> =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [group] }) => groups.includes(group as string),
  });
