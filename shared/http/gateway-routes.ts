// Which paths API Gateway sends to which group. It allows 300 routes by default, so a group has two
// for all its endpoints:
// /api/v1/contacts and /api/v1/contacts/{proxy+}. The function finds the endpoint in its route
// table. The local gateway uses the same list.

import { basePath, type Route } from "./route.ts";
import { hasTextParameter, pathParser } from "./route-matching.ts";

export interface GatewayRoute {
  /** In API Gateway's syntax. Matches any method. */
  path: string;
  /** Name of the route group. */
  group: string;
}

interface RouteGroup {
  name: string;
  routes: Pick<Route, "path">[];
}

/** Every path that has a gateway route. All other paths go to the fallback function. */
export function gatewayRoutes(groups: RouteGroup[]): GatewayRoute[] {
  const endpoints = groups.flatMap(({ name, routes }) =>
    routes.map(({ path }) => ({ path, group: name, segment: firstSegment(path) })),
  );
  const owners = segmentOwners(endpoints);
  const ownRoutes = new Set(
    endpoints
      .filter(
        ({ path, group, segment }) =>
          isPage(path) || owners.get(segment) !== group || hasTextParameter(path),
      )
      .map(({ path }) => path),
  );
  // `/suppressions/{email}` takes precedence over {proxy+}, so `/suppressions/import` needs its own
  // route.
  const parsers = [...ownRoutes].map(pathParser);
  for (const { path } of endpoints) if (parsers.some((parse) => parse(path))) ownRoutes.add(path);
  const byPath = new Map(
    endpoints.map(({ path, group, segment }) => {
      const shared = path === basePath + segment ? path : `${basePath}${segment}/{proxy+}`;
      const gatewayPath = ownRoutes.has(path) ? path : shared;
      return [gatewayPath, { path: gatewayPath, group }];
    }),
  );
  return [...byPath.values()];
}

const isPage = (path: string): boolean => !path.startsWith(`${basePath}/`);

/** `/contacts`, or the whole path of a page at the root. */
const firstSegment = (path: string): string =>
  isPage(path) ? path : `/${path.slice(basePath.length + 1).split("/")[0]}`;

/**
 * If groups share a first segment, the group with the collection (`/webhooks`) owns it. Otherwise
 * its `/webhooks/{id}` would take precedence for `/webhooks/sendgrid`. Without a collection, the
 * first group owns it.
 */
function segmentOwners(endpoints: { path: string; group: string; segment: string }[]) {
  const owners = new Map<string, string>();
  for (const { path, group, segment } of endpoints)
    if (path === basePath + segment || !owners.has(segment)) owners.set(segment, group);
  return owners;
}
