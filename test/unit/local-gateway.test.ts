import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { createGateway, type GatewayRequest, readBody } from "../../infra/local/gateway.ts";

const paths = ["/sends/{id}", "/sends/stats", "/sends", "/files/a.b/{name}"];
const routes = paths.map((path) => ({ method: "GET" as const, path: `/api/v1${path}` }));

const ask = (changes: Partial<GatewayRequest>): Promise<APIGatewayProxyEventV2> =>
  new Promise((resolve) => {
    const handler = async (event: APIGatewayProxyEventV2) => {
      resolve(event);
      return {};
    };
    const whole = {
      method: "GET",
      path: "/",
      query: "",
      headers: {},
      cookies: [],
      clientAddress: "10.0.0.1",
      body: Buffer.alloc(0),
    };
    void createGateway([{ name: "things", routes, handler }], handler, async () => true).answer({
      ...whole,
      ...changes,
    });
  });
const routeOf = async (path: string) => (await ask({ path: `/api/v1${path}` })).routeKey;

test("routes all paths of a group to it, including unknown ones", async () => {
  expect(await routeOf("/sends")).toBe("ANY /api/v1/sends");
  expect(await routeOf("/sends/17")).toBe("ANY /api/v1/sends/{proxy+}");
  expect(await routeOf("/sends/17/nothing")).toBe("ANY /api/v1/sends/{proxy+}");
});

test("matches a dot in a path literally", async () => {
  expect(await routeOf("/files/a.b/x")).toBe("ANY /api/v1/files/a.b/{name}");
  expect(await routeOf("/files/aXb/x")).toBe("$default");
});

test("routes paths of no group to $default", async () => {
  for (const path of ["/nothing", "/sendsmore", "/files/a.b/%E0%A4%A"])
    expect(await routeOf(path), path).toBe("$default");
});

test("decodes path parameters, including slashes", async () => {
  const { pathParameters, rawPath } = await ask({ path: "/api/v1/files/a.b/a%2Fb%20c" });
  expect(pathParameters).toEqual({ name: "a/b c" });
  expect(rawPath).toBe("/api/v1/files/a.b/a%2Fb%20c");
});

test("joins repeated query parameters with a comma and keeps the raw query", async () => {
  const { queryStringParameters, rawQueryString } = await ask({
    path: "/sends/1",
    query: "a=1&b=x%20y&a=2",
  });
  expect(queryStringParameters).toEqual({ a: "1,2", b: "x y" });
  expect(rawQueryString).toBe("a=1&b=x%20y&a=2");
});

test("passes every body in base64", async () => {
  const body = Buffer.from([0, 255, 195, 40]);
  const event = await ask({ method: "POST", path: "/sends", body });
  expect(event.isBase64Encoded).toBe(true);
  expect(Buffer.from(event.body!, "base64")).toEqual(body);
  expect((await ask({ method: "POST", path: "/sends" })).body).toBeUndefined();
});

test("adds the client address and a unique request id", async () => {
  const [one, two] = [await ask({}), await ask({})];
  expect(one.requestContext.http.sourceIp).toBe("10.0.0.1");
  expect(one.requestContext.requestId).not.toBe(two.requestContext.requestId);
});

describe("the size of a body", () => {
  const path = "/things";
  const things = [
    { method: "POST", path },
    { method: "PUT", path, auth: "public" },
    { method: "PATCH", path, auth: "public", maxSignedBytes: 1000 },
  ] as const;
  const head = { path, query: "", headers: {}, cookies: [], clientAddress: "10.0.0.1" };
  const maxOf = (method: string, known: boolean) =>
    createGateway(
      [{ name: "things", routes: [...things], handler: async () => ({}) }],
      async () => ({}),
      async () => known,
    ).maxBytes({ ...head, method });
  const [account, signed, anyone] = [36 * 1024 * 1024, 1000, 64 * 1024];

  test("is at most 64 KB without a valid credential, 36 MB with one, and that of the route for a signed body", async () => {
    expect(await maxOf("POST", true)).toBe(account);
    expect(await maxOf("POST", false)).toBe(anyone);
    expect(await maxOf("PUT", true)).toBe(anyone);
    expect(await maxOf("PATCH", false)).toBe(signed);
    expect(await maxOf("DELETE", true)).toBe(anyone);
  });

  test.each([
    ["10 bytes", 10, 10],
    ["exactly 64 KB", anyone, anyone],
    ["more than the limit", 3_000_000, 1_000_001],
  ])(
    "is read up to its limit, and the credential is checked only above 64 KB: %s",
    async (_, size, kept) => {
      async function* chunks() {
        for (let left = size; left > 0; left -= 50_000)
          yield Buffer.alloc(Math.min(left, 50_000), "x");
      }
      let checks = 0;
      const body = await readBody(chunks(), async () => {
        checks++;
        return 1_000_000;
      });
      expect(body).toHaveLength(kept);
      expect(checks).toBe(size > anyone ? 1 : 0);
    },
  );
});
