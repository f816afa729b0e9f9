import { describe, expect, test } from "vitest";
import * as z from "zod";
import { groups } from "../../functions/route-groups.ts";
import { gatewayRoutes } from "../../shared/http/gateway-routes.ts";
import { type RouteMethod, route } from "../../shared/http/route.ts";
import { compareSpecificity, pathParser, routeMatcher } from "../../shared/http/route-matching.ts";
import { maxPathTextLength, parsePathParams } from "../../shared/http/validate.ts";

const handler = { returns: z.null(), handle: async () => null };
const routes = [
  route("GET /things", "List", handler),
  route("POST /things", "Create", handler),
  route("GET /things/:id", "One", handler),
  route("POST /things/bulk", "Many", handler),
  route("DELETE /things/by-email/:email", "Delete by address", handler),
];
const match = routeMatcher(routes);
const through = (routeKey: string, rawPath: string, pathParameters = {}) => ({
  routeKey,
  rawPath,
  pathParameters,
});
const proxied = (path: string) => through("ANY /api/v1/things/{proxy+}", `/api/v1/things/${path}`);

describe("the matcher of a group", () => {
  test("finds the route of a path and a method, with its parameters", () => {
    expect(match(proxied("17"), "GET")).toMatchObject({
      route: { key: "GET /api/v1/things/{id}" },
      params: { id: "17" },
    });
    expect(match(through("ANY /api/v1/things", "/api/v1/things"), "POST").route?.key).toBe(
      "POST /api/v1/things",
    );
  });

  test("prefers a literal segment to a parameter for every method of the path", () => {
    expect(match(proxied("bulk"), "POST").route?.key).toBe("POST /api/v1/things/bulk");
    const { route, routes: found } = match(proxied("bulk"), "GET");
    expect([route, found.map(({ method }) => method)]).toEqual([undefined, ["POST"]]);
  });

  test("finds the GET route for HEAD", () => {
    expect(match(proxied("17"), "HEAD").route?.method).toBe("GET");
  });

  test("finds no route for a path with more or fewer segments", () => {
    for (const path of ["17/more", "", "17/"])
      expect(match(proxied(path), "GET").routes, path).toEqual([]);
  });

  test("leaves text parameters to the gateway route of their path", () => {
    const own = through("ANY /api/v1/things/by-email/{email}", "/whatever", {
      email: "a/b@example.com",
    });
    expect(match(own, "DELETE").params).toEqual({ email: "a/b@example.com" });
    expect(match(proxied("by-email/a%2Fb@example.com"), "DELETE").routes).toEqual([]);
  });
});

test("finds every endpoint behind the gateway route that AWS selects", () => {
  const table = gatewayRoutes(groups)
    .map((one) => ({ ...one, parse: pathParser(one.path) }))
    .sort((a, b) => compareSpecificity(a.path, b.path));
  for (const { name, routes } of groups) {
    const find = routeMatcher(routes);
    for (const { key, path, method } of routes) {
      const rawPath = path.replace(/{\w+}/g, "7");
      const picked = table.find(({ parse }) => parse(rawPath));
      expect(picked?.group, key).toBe(name);
      const event = {
        routeKey: `ANY ${picked!.path}`,
        rawPath,
        pathParameters: picked!.parse(rawPath)!,
      };
      expect(find(event, method satisfies RouteMethod).route?.key).toBe(key);
    }
  }
});

test.each([
  ["token", 1000],
  ["link", 2000],
])("%s in the path has at most %d characters", (name, max) => {
  const text = "a".repeat(max);
  expect(maxPathTextLength(name)).toBe(max);
  expect(parsePathParams({ [name]: text })).toEqual({ [name]: text });
  expect(() => parsePathParams({ [name]: `${text}a` })).toThrow(`more than ${max} characters`);
});
