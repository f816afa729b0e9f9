// Long work of the organization: what runs, and what the user started and has not put away yet.
import { queryOptions } from "@tanstack/react-query";
import type { Job } from "pennymail";
import { useEffect, useSyncExternalStore } from "react";
import { api } from "./client.ts";

/** A tenth of the age: the longer something takes, the less often the console looks at it. */
export const pollMs = (createdAt: string, [least, most]: [number, number]): number =>
  Math.min(most, Math.max(least, (Date.now() - Date.parse(createdAt)) / 10));

const pollRange: [number, number] = [3_000, 30_000];
const [shortestPollMs] = pollRange;

export const isRunning = ({ status }: Pick<Job, "status">): boolean => status === "running";

/** Tells jobs apart. A campaign can be audited again. */
export const keyOf = ({ type, id, createdAt }: Job): string => `${type} ${id} ${createdAt}`;

/** Read once, and again while something runs or when something is started here. */
export const jobsQuery = () =>
  queryOptions({
    queryKey: ["jobs", "newest"],
    queryFn: async ({ client, queryKey }) => {
      // The list can be a moment late, so what was just started may be missing.
      const isIncomplete = client.getQueryState(queryKey)?.isInvalidated === true;
      return { jobs: (await api.jobs.list({ limit: 20 })).jobs, isIncomplete };
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state: { data } }) => {
      const newest = data?.jobs.find(isRunning);
      if (newest) return pollMs(newest.createdAt, pollRange);
      return data?.isIncomplete ? shortestPollMs : false;
    },
  });

const shown = new Map<string, number>();
const nameOf = ({ type, id }: Pick<Job, "type" | "id">): string => `${type} ${id}`;

/** For a screen that shows the progress of a job itself. */
export function useShownJob(type: Job["type"], id: number): void {
  useEffect(() => {
    const name = nameOf({ type, id });
    shown.set(name, (shown.get(name) ?? 0) + 1);
    return () => {
      shown.set(name, (shown.get(name) ?? 1) - 1);
    };
  }, [type, id]);
}

export const isShown = (job: Job): boolean => (shown.get(nameOf(job)) ?? 0) > 0;

const storageKey = "pennymail-jobs-put-away";
const maxPutAway = 50;
const listeners = new Set<() => void>();
/** Used without storage. */
let lastText = "[]";

function readText(): string {
  try {
    return localStorage.getItem(storageKey) ?? "[]";
  } catch {
    return lastText;
  }
}

function parseKeys(text: string): string[] {
  try {
    return JSON.parse(text);
  } catch {
    return [];
  }
}

/** Ended jobs that are put away are not shown again. */
export function putAway(jobs: Job[]): void {
  const keys = [...new Set([...jobs.map(keyOf), ...parseKeys(readText())])];
  lastText = JSON.stringify(keys.slice(0, maxPutAway));
  try {
    localStorage.setItem(storageKey, lastText);
  } catch {
    // Without storage, they are put away until the page is left.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function usePutAway(): ReadonlySet<string> {
  return new Set(parseKeys(useSyncExternalStore(subscribe, readText)));
}
