import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { AuthenticationError } from "pennymail";
import { useSyncExternalStore } from "react";
import { api } from "./client.ts";

let hasSessionEnded = false;
const listeners = new Set<() => void>();

export function setSessionEnded(isNowEnded: boolean): void {
  hasSessionEnded = isNowEnded;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether the session of the user that the console shows has ended. */
export const useSessionEnded = (): boolean =>
  useSyncExternalStore(subscribe, () => hasSessionEnded);

/** A wrong password has the same status as a session that has ended, so the service is asked. */
async function checkSession(error: unknown): Promise<void> {
  const isSignedIn = queryClient.getQueryData(["account", "me"]) !== undefined;
  if (!isSignedIn || !(error instanceof AuthenticationError)) return;
  await api.account.getCallerIdentity().catch((reason: unknown) => {
    if (reason instanceof AuthenticationError) setSessionEnded(true);
  });
}

/** The SDK repeats requests itself. */
export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: 30_000, refetchOnWindowFocus: false } },
  queryCache: new QueryCache({ onError: checkSession }),
  mutationCache: new MutationCache({ onError: checkSession }),
});
