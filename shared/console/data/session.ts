// The signed-in user and the site that the console shows.
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import type { Site } from "pennymail";
import { useSyncExternalStore } from "react";
import { queries } from "./queries.ts";
import { readStored, writeStored } from "./stored-choice.ts";

export const useMe = () => useSuspenseQuery(queries.me()).data;

/** Tells whether the role of the user has a right. The API decides; the console only explains. */
export function useRights(): (right: string) => boolean {
  const { scopes } = useMe().auth;
  return (right) => scopes.includes("*") || scopes.includes(right);
}

export const useRight = (right: string): boolean => useRights()(right);

const siteKey = "pennymail-site";
const listeners = new Set<() => void>();

const readChosenSite = (): number => Number(readStored(siteKey));

export function chooseSite(id: number): void {
  writeStored(siteKey, String(id));
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export interface SiteChoice {
  /** Undefined while they load, and before there is one. */
  site: Site | undefined;
  sites: Site[];
  isLoaded: boolean;
}

const oldestOf = (sites: Site[]): Site | undefined =>
  sites.toSorted((one, other) => one.id - other.id)[0];

/** The site that the user chose, else the oldest: a new site does not take the screen over. */
export function useSite(): SiteChoice {
  const chosen = useSyncExternalStore(subscribe, readChosenSite);
  const { data } = useQuery(queries.sites());
  const sites = data?.sites ?? [];
  const site = sites.find(({ id }) => id === chosen) ?? oldestOf(sites);
  return { site, sites, isLoaded: data !== undefined };
}
