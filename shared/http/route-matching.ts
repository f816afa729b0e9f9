// Finds the route of a request among the routes of its group.
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { compareSpecificity, hasTextParameter, pathParser } from "./paths.ts";
import type { Route } from "./route.ts";

export interface Match {
  /** Undefined if the path has no route for this method. */
  route: Route | undefined;
  /** All routes of the path. Empty for an unknown path. */
  routes: Route[];
  params: Record<string, string | undefined>;
}

type Event = Pick<APIGatewayProxyEventV2, "routeKey" | "rawPath" | "pathParameters">;

/** Returns a function that finds the route of a request. HEAD finds the GET route of its path. */
export function routeMatcher(routes: Route[]): (event: Event, method: string) => Match {
  const paths = [...Map.groupBy(routes, ({ path }) => path)]
    .map(([path, pathRoutes]) => ({ path, routes: pathRoutes, parse: pathParser(path) }))
    .sort((a, b) => compareSpecificity(a.path, b.path));
  return (event, method) => {
    const found = exactPath(paths, event) ?? parsedPath(paths, event.rawPath);
    const routeMethod = method === "HEAD" ? "GET" : method;
    return { ...found, route: found.routes.find((route) => route.method === routeMethod) };
  };
}

interface PathRoutes {
  path: string;
  routes: Route[];
  parse(path: string): Record<string, string> | undefined;
}

/** If the gateway has a route for exactly this path, it has decoded the parameters. */
function exactPath(paths: PathRoutes[], { routeKey, pathParameters = {} }: Event) {
  const gatewayPath = routeKey.slice(routeKey.indexOf(" ") + 1);
  const found = paths.find(({ path }) => path === gatewayPath);
  return found && { routes: found.routes, params: pathParameters };
}

/**
 * With `{proxy+}`, all parameters are ids, which need no decoding. Other paths have their own
 * gateway routes.
 */
function parsedPath(paths: PathRoutes[], rawPath: string) {
  for (const { path, routes, parse } of paths) {
    const params = hasTextParameter(path) ? undefined : parse(rawPath);
    if (params) return { routes, params };
  }
  return { routes: [], params: {} };
}
