import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { expect, test } from "vitest";
import { type Asked, gateway } from "../../infra/local/gateway.ts";

const routes = ["GET /sends/{id}", "GET /sends/stats", "GET /{kind}/stats/{id}", "POST /sends", "GET /files/a.b/{name}"].map((key) => {
  const [method, path] = key.split(" ") as [string, string];
  return { method, path, key };
});

const ask = (asked: Partial<Asked>): Promise<APIGatewayProxyEventV2> =>
  new Promise((resolve) => {
    const handler = async (event: APIGatewayProxyEventV2) => {
      resolve(event);
      return {};
    };
    const whole = { method: "GET", path: "/", query: "", headers: {}, cookies: [], address: "10.0.0.1", body: Buffer.alloc(0) };
    void gateway([{ routes, handler }], handler)({ ...whole, ...asked });
  });
const routeOf = async (method: string, path: string) => (await ask({ method, path })).routeKey;

test("the most specific route wins", async () => {
  expect(await routeOf("GET", "/sends/stats")).toBe("GET /sends/stats");
  expect(await routeOf("GET", "/sends/17")).toBe("GET /sends/{id}");
  expect(await routeOf("GET", "/lists/stats/3")).toBe("GET /{kind}/stats/{id}");
});

test("a literal dot in a path is a dot", async () => {
  expect(await routeOf("GET", "/files/a.b/x")).toBe("GET /files/a.b/{name}");
  expect(await routeOf("GET", "/files/aXb/x")).toBe("$default");
});

test("other methods, HEAD, OPTIONS, trailing slashes and unknown paths go to $default", async () => {
  for (const [method, path] of [
    ["DELETE", "/sends"],
    ["HEAD", "/sends/17"],
    ["OPTIONS", "/sends"],
    ["POST", "/sends/"],
    ["GET", "/nothing"],
    ["GET", "/sends/%E0%A4%A"],
  ])
    expect(await routeOf(method!, path!), `${method} ${path}`).toBe("$default");
});

test("path parameters come decoded, a slash in them too", async () => {
  const { pathParameters, rawPath } = await ask({ path: "/sends/a%2Fb%20c" });
  expect(pathParameters).toEqual({ id: "a/b c" });
  expect(rawPath).toBe("/sends/a%2Fb%20c");
});

test("repeated query parameters are joined by a comma, and the raw query stays", async () => {
  const { queryStringParameters, rawQueryString } = await ask({ path: "/sends/1", query: "a=1&b=x%20y&a=2" });
  expect(queryStringParameters).toEqual({ a: "1,2", b: "x y" });
  expect(rawQueryString).toBe("a=1&b=x%20y&a=2");
});

test("a body comes whole, in base64, whatever its bytes", async () => {
  const body = Buffer.from([0, 255, 195, 40]);
  const event = await ask({ method: "POST", path: "/sends", body });
  expect(event.isBase64Encoded).toBe(true);
  expect(Buffer.from(event.body!, "base64")).toEqual(body);
  expect((await ask({ method: "POST", path: "/sends" })).body).toBeUndefined();
});

test("the caller's address and a request id of its own come with each request", async () => {
  const [one, two] = [await ask({}), await ask({})];
  expect(one.requestContext.http.sourceIp).toBe("10.0.0.1");
  expect(one.requestContext.requestId).not.toBe(two.requestContext.requestId);
});
