// Finds the route of a request among the routes of its group. Path patterns are in the syntax of
// API Gateway: /api/v1/sites/{id}, /api/v1/sites/{proxy+}.
import type { APIGatewayProxyEventV2 } from "aws-lambda";
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
    // Programs for the API of another service may call a path with a slash at its end.
    const hasOptionalSlash = routes.some(({ wireFormat }) => wireFormat);
    const matched = hasOptionalSlash ? rawPath.replace(/\/$/, "") : rawPath;
    const params = hasTextParameter(path) ? undefined : parse(matched);
    if (params) return { routes, params };
  }
  return { routes: [], params: {} };
}

/**
 * Returns a function that reads the parameters of a path, undecoded. It returns undefined for a
 * path that does not match.
 */
export function pathParser(pattern: string): (path: string) => Record<string, string> | undefined {
  const names = [...pattern.matchAll(/{(\w+)\+?}/g)].map(([, name]) => name!);
  const shape = pattern
    .replace(/[.]/g, "\\.")
    .replace(/{\w+\+}/g, "(.+)")
    .replace(/{\w+}/g, "([^/]+)");
  const expression = new RegExp(`^${shape}$`);
  return (path) => {
    const values = expression.exec(path)?.slice(1);
    return values && Object.fromEntries(names.map((name, i) => [name, values[i]!]));
  };
}

/**
 * Sorts like the precedence of API Gateway: from the left, literal segments, then parameters, then
 * `{proxy+}`.
 */
export function compareSpecificity(a: string, b: string): number {
  const rank = (path: string) => path.replace(/{\w+\+}/g, "\uffff").replace(/{\w+}/g, "\ufffe");
  return rank(a) < rank(b) ? -1 : 1;
}

/**
 * Whether a parameter is text, such as an email address. Text may be percent-encoded, and only the
 * gateway can decode it: in the `rawPath` from AWS, `%2F` is already a slash. Ids are plain digits.
 */
export const hasTextParameter = (pattern: string): boolean =>
  [...pattern.matchAll(/{(\w+)}/g)].some(([, name]) => !/^id$|Id$/.test(name!));
