// The runtime of the SDK, with operations of its own, against a small HTTP server.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Client, type ClientOptions } from "../../shared/clients/sdk/client.ts";
import * as errors from "../../shared/clients/sdk/errors.ts";
import type { PagedList } from "../../shared/clients/sdk/paged-list.ts";

interface Asked {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

type Answer = (response: ServerResponse, asked: Asked) => unknown;

const open: (() => void)[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const close of open.splice(0)) close();
});

/** A server that gives these answers in turn; the last one again and again. */
async function serve(...answers: Answer[]) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    asked.push({ method, url, headers, body: await text(request) });
    (answers[asked.length - 1] ?? answers.at(-1)!)(response, asked.at(-1)!);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response
      .writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers })
      .end(JSON.stringify(body));
const data = (value: unknown) => json(200, { data: value });
const cut: Answer = (response) => response.destroy();
const failed = json(500, { error: "It broke", code: "internal" }, { "retry-after": "0" });
const limited = json(429, { error: "Slower", code: "rate_limited" }, { "retry-after": "0" });
const hang: Answer = () => {};

const operations = {
  things: {
    list: "GET /things qsc things",
    search: "GET /photos qp photos",
    all: "GET /all  items",
    get: "GET /things/{id}",
    create: "POST /things bks",
    update: "PUT /things/{id} b",
    delete: "DELETE /things/{id} q",
    import: "POST /things/import bqks",
    removeTag: "DELETE /things/{id}/tags/{tagId}",
    logIn: "POST /login bu",
  },
};

type Method = (...args: unknown[]) => Promise<unknown>;
type Things = Record<Exclude<keyof typeof operations.things, "list" | "search" | "all">, Method> &
  Record<"list" | "search" | "all", (...args: unknown[]) => PagedList<number, object>>;

const thingsOf = (baseUrl: string, options: Partial<ClientOptions> = {}): Things =>
  (
    new Client(operations, { apiKey: "pm_live_x", baseUrl, ...options }) as unknown as {
      things: Things;
    }
  ).things;

describe("requests", () => {
  test("have path, query, body, key and site where the operation has them", async () => {
    const { asked, url } = await serve(data({ id: 1 }));
    const things = thingsOf(`${url}/api/v1/`, { siteId: 7, headers: { "x-app": "shop" } });
    expect(await things.create({ name: "a" })).toEqual({ id: 1 });
    await things.create({ name: "b", siteId: 8 }, { idempotencyKey: "order-1" });
    await things.update(5, { name: "c" }, { headers: { "x-app": "other" } });
    await things.delete(5, { force: "true", absent: undefined });
    await things.removeTag("a/b", 9);
    expect(asked.map(({ method, url: path }) => `${method} ${path}`)).toEqual([
      "POST /api/v1/things",
      "POST /api/v1/things",
      "PUT /api/v1/things/5",
      "DELETE /api/v1/things/5?force=true",
      "DELETE /api/v1/things/a%2Fb/tags/9",
    ]);
    expect(asked.slice(0, 3).map(({ body }) => JSON.parse(body))).toEqual([
      { siteId: 7, name: "a" },
      { siteId: 8, name: "b" },
      { name: "c" },
    ]);
    const [first, second, third, fourth] = asked.map(({ headers }) => headers);
    expect(first).toMatchObject({
      authorization: "Bearer pm_live_x",
      "content-type": "application/json",
      "x-app": "shop",
    });
    expect(first!["idempotency-key"]).toMatch(/^[\da-f-]{36}$/);
    expect(second!["idempotency-key"]).toBe("order-1");
    expect(third).toMatchObject({ "x-app": "other" });
    for (const headers of [third!, fourth!]) expect(headers).not.toHaveProperty("idempotency-key");
    expect(fourth).not.toHaveProperty("content-type");
  });

  test("send files as they are, with the site in the query", async () => {
    const { asked, url } = await serve(data(null));
    const things = thingsOf(url, { siteId: 7 });
    await things.import("email\na@example.com\n", { mode: "skip" });
    await things.import(
      new Blob(["{}"], { type: "application/json" }),
      {},
      { idempotencyKey: "k" },
    );
    const form = new FormData();
    form.set("file", new Blob(["email"]), "people.csv");
    await things.import(form);
    expect(asked.map(({ url: path }) => path)).toEqual([
      "/api/v1/things/import?siteId=7&mode=skip",
      "/api/v1/things/import?siteId=7",
      "/api/v1/things/import?siteId=7",
    ]);
    expect(asked.map(({ headers }) => headers["content-type"]!.split(";")[0])).toEqual([
      "text/csv",
      "application/json",
      "multipart/form-data",
    ]);
    expect(asked[0]!.body).toBe("email\na@example.com\n");
    expect(asked[1]!.headers["idempotency-key"]).toBe("k");
  });

  test("return the text of a response that is no JSON, and null for no data", async () => {
    const csv: Answer = (response) =>
      response.writeHead(200, { "content-type": "text/csv; charset=utf-8" }).end("a,b\n");
    const { url } = await serve(csv, data(null));
    const things = thingsOf(url);
    expect(await things.get(1)).toBe("a,b\n");
    expect(await things.get(1)).toBeNull();
  });

  test("are refused before they are sent if an id is missing or made of dots", async () => {
    const { asked, url } = await serve(data(null));
    const things = thingsOf(url);
    for (const id of [undefined, null, "", ".", ".."])
      expect(() => things.delete(id)).toThrow("things.delete: id is missing");
    expect(() => things.removeTag(1)).toThrow("things.removeTag: tagId is missing");
    expect(asked).toEqual([]);
    expect(() => thingsOf("")).toThrow("must be the URL of your service");
  });

  test("go to the URL of the environment with its key, if no other URL is given", async () => {
    const { asked, url } = await serve(data(null));
    const other = await serve(data(null));
    vi.stubEnv("PENNYMAIL_URL", url);
    vi.stubEnv("PENNYMAIL_API_KEY", "pm_live_env");
    const get = (options: ClientOptions) =>
      (new Client(operations, options) as unknown as { things: Things }).things.get(1);
    await get({});
    await get({ apiKey: "pm_live_own" });
    await get({ baseUrl: other.url });
    expect(asked.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer pm_live_env",
      "Bearer pm_live_own",
    ]);
    expect(other.asked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    vi.stubEnv("PENNYMAIL_URL", undefined);
    expect(() => get({})).toThrow("PENNYMAIL_URL, must be the URL of your service");
  });
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("lists", () => {
  const page = (items: number[], nextCursor: string | null) => ({
    things: items,
    pagination: { page: 1, limit: 2, total: null, totalPages: null, nextCursor },
  });

  test("yield all items, and read a page when it is needed", async () => {
    const { asked, url } = await serve(
      data(page([1, 2], "two")),
      data(page([3, 4], "three")),
      data(page([5], null)),
    );
    const found: number[] = [];
    const list = thingsOf(url, { siteId: 7 }).list({ limit: 2 });
    for await (const thing of list) {
      expect(asked).toHaveLength(Math.ceil(thing / 2));
      found.push(thing);
    }
    expect(found).toEqual([1, 2, 3, 4, 5]);
    expect(asked.map(({ url: path }) => path)).toEqual([
      "/api/v1/things?siteId=7&limit=2",
      "/api/v1/things?siteId=7&limit=2&cursor=two",
      "/api/v1/things?siteId=7&limit=2&cursor=three",
    ]);
  });

  test("stop reading when the loop is left", async () => {
    const { asked, url } = await serve(data(page([1, 2], "again")));
    for await (const thing of thingsOf(url).list({ page: 3 })) if (thing === 2) break;
    expect(asked).toHaveLength(1);
  });

  test("are the promise of the page that was asked for", async () => {
    const { asked, url } = await serve(data(page([1], "two")));
    const list = thingsOf(url).list({ page: 3 });
    expect(await list).toMatchObject({ things: [1] });
    expect(await list.then((first) => first)).toMatchObject({ things: [1] });
    expect(await list.finally(() => {})).toMatchObject({ things: [1] });
    expect(asked.map(({ url: path }) => path)).toEqual(["/api/v1/things?page=3"]);
    for await (const _ of list) break;
    expect(asked).toHaveLength(1);
  });

  test("continue a page number as a cursor", async () => {
    const { asked, url } = await serve(data(page([1], "two")), data(page([2], null)));
    expect(await collect(thingsOf(url).list({ page: 3 }))).toEqual([1, 2]);
    expect(asked[1]!.url).toBe("/api/v1/things?cursor=two");
  });

  test("count pages if there is no cursor, and have one page without pagination", async () => {
    const photos = (number: number) =>
      data({ photos: [number], pagination: { page: number, totalPages: 2, nextCursor: null } });
    const { url } = await serve(photos(1), photos(2), data({ items: [8, 9] }));
    const things = thingsOf(url);
    expect(await collect(things.search({ q: "sea" }))).toEqual([1, 2]);
    expect(await collect(things.all())).toEqual([8, 9]);
  });

  test("fail with the error of a page", async () => {
    const { url } = await serve(data(page([1], "two")), json(404, { error: "Gone", code: "x" }));
    await expect(collect(thingsOf(url).list())).rejects.toThrow(errors.NotFoundError);
    await expect(
      thingsOf(url)
        .list()
        .catch(({ code }) => code),
    ).resolves.toBe("x");
  });
});

describe("errors", () => {
  test.each([
    [400, errors.InvalidRequestError],
    [401, errors.AuthenticationError],
    [402, errors.PaymentRequiredError],
    [403, errors.PermissionError],
    [404, errors.NotFoundError],
    [405, errors.PennymailError],
    [409, errors.ConflictError],
    [413, errors.InvalidRequestError],
    [415, errors.InvalidRequestError],
    [429, errors.RateLimitError],
    [503, errors.ServerError],
  ])(
    "%i is an error with code, docs, status, request id and details",
    async (status, ErrorClass) => {
      const details = [{ path: "to", message: "to: is wrong" }];
      const docs = "https://mail.example/api/v1/docs/errors#why";
      const { url } = await serve(
        json(status, { error: "No", code: "why", docs, details }, { "x-request-id": "r-1" }),
      );
      const error = await thingsOf(url, { maxRetries: 0 })
        .get(1)
        .catch((one: unknown) => one);
      expect(error).toBeInstanceOf(errors.PennymailError);
      expect((error as Error).constructor).toBe(ErrorClass);
      expect(error).toMatchObject({
        name: ErrorClass.name,
        message: "No",
        code: "why",
        docs,
        status,
        requestId: "r-1",
        details,
      });
    },
  );

  test("of a proxy have the status, and name the address of a redirect", async () => {
    const page: Answer = (response) =>
      response.writeHead(404, { "content-type": "text/html" }).end("<p>No</p>");
    const moved: Answer = (response) =>
      response.writeHead(301, { location: "https://new.example/" }).end();
    const { url } = await serve(page, moved);
    await expect(thingsOf(url).get(1)).rejects.toMatchObject({
      code: "unexpected_response",
      message: "The service responded with status 404",
    });
    await expect(thingsOf(url).get(1)).rejects.toThrow("use that as baseUrl");
  });
});

describe("retries", () => {
  test("repeat a request after 429, 5xx and a broken connection, with the same key", async () => {
    const half: Answer = (response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"data":');
    const running = json(
      409,
      { error: "Running", code: "idempotency_in_progress" },
      { "retry-after": "0" },
    );
    const { asked, url } = await serve(cut, half, failed, limited, running, data({ id: 1 }));
    expect(await thingsOf(url, { maxRetries: 5 }).create({ name: "a" })).toEqual({ id: 1 });
    expect(asked).toHaveLength(6);
    const keys = asked.map(({ headers }) => headers["idempotency-key"]);
    expect(new Set(keys).size).toBe(1);
    expect(new Set(asked.map(({ body }) => body)).size).toBe(1);
  });

  test("end after maxRetries with the last error", async () => {
    const { asked, url } = await serve(failed);
    await expect(thingsOf(url, { maxRetries: 2 }).get(1)).rejects.toThrow("It broke");
    expect(asked).toHaveLength(3);
    await expect(thingsOf(url).get(1, { maxRetries: 0 })).rejects.toThrow("It broke");
    expect(asked).toHaveLength(4);
  });

  test("are made after 429 only if a request could be done twice", async () => {
    const { asked, url } = await serve(limited, cut);
    await expect(thingsOf(url).logIn({ email: "a" })).rejects.toMatchObject({
      name: "ConnectionError",
      code: "connection_failed",
      status: 0,
    });
    expect(asked).toHaveLength(2);
  });

  test("are not made for other errors, nor if the service asks for a long wait", async () => {
    const { asked, url } = await serve(
      json(400, { error: "No", code: "validation_failed" }),
      json(409, { error: "Other", code: "idempotency_mismatch" }),
      json(503, { error: "Not configured", code: "not_configured" }),
      json(429, { error: "Locked", code: "rate_limited" }, { "retry-after": "900" }),
    );
    for (const code of ["validation_failed", "idempotency_mismatch", "not_configured"])
      await expect(thingsOf(url).create({})).rejects.toMatchObject({ code });
    await expect(thingsOf(url).create({})).rejects.toMatchObject({ retryAfter: 900 });
    expect(asked).toHaveLength(4);
  });

  test("wait as long as Retry-After asks", async () => {
    const slower = json(429, { error: "Slower", code: "rate_limited" }, { "retry-after": "1" });
    const { url } = await serve(slower, data(1));
    const started = performance.now();
    await thingsOf(url).get(1);
    expect(performance.now() - started).toBeGreaterThanOrEqual(990);
  });

  test("follow a timeout of an attempt", async () => {
    const { asked, url } = await serve(hang, data(1));
    expect(await thingsOf(url, { timeout: 100, maxRetries: 1 }).get(1)).toBe(1);
    expect(asked).toHaveLength(2);
    const { url: silent } = await serve(hang);
    await expect(thingsOf(silent).get(1, { timeout: 20, maxRetries: 0 })).rejects.toMatchObject({
      name: "TimeoutError",
      code: "timeout",
    });
  });

  test("end when the signal of the caller is aborted, also during a wait", async () => {
    const slower = json(429, { error: "Slower", code: "rate_limited" }, { "retry-after": "60" });
    for (const answer of [hang, slower]) {
      const { asked, url } = await serve(answer);
      const controller = new AbortController();
      const hooks = { response: () => controller.abort(new Error("Enough")) };
      const call = thingsOf(url, { hooks }).get(1, { signal: controller.signal });
      if (answer === hang) setTimeout(() => controller.abort(new Error("Enough")), 20);
      await expect(call).rejects.toThrow("Enough");
      expect(asked.length).toBeLessThanOrEqual(1);
    }
    const { asked, url } = await serve(data(1));
    const signal = AbortSignal.abort(new Error("Never"));
    await expect(thingsOf(url).get(1, { signal })).rejects.toThrow("Never");
    expect(asked).toEqual([]);
  });
});

test("hooks see each attempt and response, and can add headers", async () => {
  const { asked, url } = await serve(
    failed,
    json(200, { data: 1, warnings: ["Ignored fields: x"] }, { "x-request-id": "r-2" }),
  );
  const seen: unknown[] = [];
  const things = thingsOf(url, {
    hooks: {
      request: ({ operation, attempt, headers }) => {
        headers.set("traceparent", `trace-${attempt}`);
        seen.push([operation, attempt]);
      },
      response: ({ status, requestId, body, request }) =>
        void seen.push([request.attempt, status, requestId, body]),
    },
  });
  await things.get(1);
  expect(seen).toEqual([
    ["things.get", 1],
    [1, 500, undefined, { error: "It broke", code: "internal" }],
    ["things.get", 2],
    [2, 200, "r-2", { data: 1, warnings: ["Ignored fields: x"] }],
  ]);
  expect(asked.map(({ headers }) => headers.traceparent)).toEqual(["trace-1", "trace-2"]);
});
