// Stock photos against a fake Pexels that checks the requests.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { stockPhotos } from "../../functions/http/stock-photos.ts";
import type { SavedPhoto, StockPhoto } from "../../shared/domain/content/stock-photos.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { createAccount, type TestAccount } from "../support/accounts.ts";
import { createLambdaEvent, invokeRoute } from "../support/lambda-requests.ts";

const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, ...Buffer.from("a photo of Ada")]);
const pexelsPhoto = (
  id: number,
  large2x = `https://images.pexels.com/photos/${id}/p.jpeg?auto=compress&w=1880`,
) => ({
  id,
  width: 3066,
  height: 3968,
  url: `https://www.pexels.com/photo/${id}/`,
  photographer: "Lukas R.",
  photographer_url: "https://www.pexels.com/@lukas",
  photographer_id: 1,
  avg_color: "#374824",
  liked: false,
  alt: "Brown rocks",
  src: {
    original: "https://x",
    large2x,
    large: `https://images.pexels.com/photos/${id}/l.jpeg`,
    medium: `https://images.pexels.com/photos/${id}/m.jpeg`,
  },
});

let answer: (request: IncomingMessage, response: ServerResponse) => unknown;
const requests: { path: string; authorization: string | undefined; accept: string | undefined }[] =
  [];
const server = createServer((request, response) => {
  const { authorization, accept } = request.headers;
  requests.push({ path: `${request.method} ${request.url}`, authorization, accept });
  answer(request, response);
});
const json =
  (body: unknown, status = 200) =>
  (_: IncomingMessage, response: ServerResponse) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
/** A photo at Pexels and its bytes. */
const photo =
  (body: object, bytes: Uint8Array, status = 200) =>
  (request: IncomingMessage, response: ServerResponse) =>
    request.url!.startsWith("/v1/")
      ? json(body)(request, response)
      : response.writeHead(status, { "content-type": "image/webp" }).end(bytes);

let ada: TestAccount;
beforeAll(async () => {
  ada = await createAccount();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
const set = () => {
  process.env.PEXELS_API_KEY = "pexels-key";
  process.env.PEXELS_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
beforeAll(set);
afterEach(() => {
  set();
  requests.length = 0;
});
afterAll(() => server.close());

const as = ({ token }: TestAccount) => ({ cookies: [`${sessionCookieName}=${token}`] });
const search = (query: Record<string, string>) =>
  invokeRoute<{ photos: StockPhoto[]; pagination: object }>(stockPhotos, "GET /stock-photos", {
    ...as(ada),
    query,
  });
const save = (id: unknown, account = ada) =>
  invokeRoute<SavedPhoto>(stockPhotos, "POST /stock-photos/save", { ...as(account), body: { id } });
const readPhoto = (path: string) => {
  const [orgId = "", name = ""] = path.split("/").slice(-2);
  return stockPhotos.handler(
    createLambdaEvent("GET /photos/:orgId/:name", { params: { orgId, name } }),
  );
};

test("a search sends Pexels' parameters and returns our fields", async () => {
  answer = json({
    page: 2,
    per_page: 5,
    total_results: 12,
    photos: [pexelsPhoto(3573351)],
    next_page: "…",
  });
  const { status, body } = await search({
    q: "grünes büro",
    page: "2",
    per_page: "5",
    orientation: "landscape",
  });
  expect(status).toBe(200);
  expect(requests).toEqual([
    {
      path: "GET /v1/search?query=gr%C3%BCnes+b%C3%BCro&page=2&per_page=5&orientation=landscape",
      authorization: "pexels-key",
      accept: "application/json",
    },
  ]);
  expect(body.data).toEqual({
    photos: [
      {
        id: 3573351,
        provider: "pexels",
        width: 3066,
        height: 3968,
        alt: "Brown rocks",
        url: "https://images.pexels.com/photos/3573351/l.jpeg",
        thumbUrl: "https://images.pexels.com/photos/3573351/m.jpeg",
        photographer: "Lukas R.",
        photographerUrl: "https://www.pexels.com/@lukas",
        sourceUrl: "https://www.pexels.com/photo/3573351/",
      },
    ],
    pagination: { page: 2, limit: 5, total: 12, totalPages: 3, nextCursor: null },
  });
});

test("without a query the curated photos are requested", async () => {
  answer = json({ page: 1, per_page: 15, photos: [] });
  expect((await search({ q: "  ", orientation: "square" })).body.data.pagination).toMatchObject({
    total: null,
    totalPages: null,
  });
  expect(requests[0]!.path).toBe("GET /v1/curated?page=1&per_page=15");
});

test.each([
  { per_page: "81" },
  { per_page: "0" },
  { page: "0" },
  { orientation: "round" },
  { q: "x".repeat(201) },
])("rejects the query %j", async (query) => {
  expect((await search(query)).status).toBe(400);
  expect(requests).toEqual([]);
});

test("a saved photo is public and permanent", async () => {
  answer = photo(pexelsPhoto(7), jpeg);
  const { status, body } = await save(7);
  expect([status, body.error]).toEqual([201, undefined]);
  expect(requests.map(({ path }) => path)).toEqual([
    "GET /v1/photos/7",
    "GET /photos/7/p.jpeg?auto=compress&w=1880",
  ]);
  // The API key is only sent to the API.
  expect(requests[1]).toMatchObject({
    authorization: undefined,
    accept: "image/jpeg, image/png, image/gif",
  });
  expect(body.data).toMatchObject({
    id: 7,
    url: expect.stringMatching(
      /^http:\/\/127\.0\.0\.1:3000\/api\/v1\/photos\/\d+\/7-[0-9a-f]{40}\.jpg$/,
    ),
    contentType: "image/jpeg",
    size: jpeg.length,
    attribution: "Photo by Lukas R. on Pexels",
  });
  const { statusCode, headers, body: bytes = "", isBase64Encoded } = await readPhoto(body.data.url);
  expect([statusCode, headers?.["content-type"], headers?.["cache-control"]]).toEqual([
    200,
    "image/jpeg",
    "public, max-age=31536000, immutable",
  ]);
  expect(isBase64Encoded && Buffer.from(bytes, "base64")).toEqual(jpeg);
  expect((await save(7)).body.data.url).toBe(body.data.url);
  const bob = await createAccount();
  expect((await save(7, bob)).body.data.url).not.toBe(body.data.url);
});

test("an unknown photo or another path is a 404", async () => {
  answer = photo(pexelsPhoto(8), jpeg);
  const { url } = (await save(8)).body.data;
  const paths = [
    url.replace("/8-", "/9-"),
    url.replace(".jpg", ".png"),
    `1/${encodeURIComponent("../uploads/x")}`,
    "1/x.jpg",
    "x/y.jpg",
  ];
  for (const path of paths) expect([path, (await readPhoto(path)).statusCode]).toEqual([path, 404]);
});

test.each([0, -1, 1.5, "7/../8", "7", "https://evil.example/x.jpg", "", null, "1".repeat(16)])(
  "rejects the photo id %j",
  async (id) => {
    expect((await save(id)).status).toBe(400);
    expect(requests).toEqual([]);
  },
);

test.each([
  "http://images.pexels.com/photos/1/p.jpeg",
  "https://images.pexels.com.evil.example/p.jpeg",
  "https://images.pexels.com:8443/p.jpeg",
  "https://169.254.169.254/latest",
  "file:///etc/passwd",
  "nonsense",
])("%s is not downloaded", async (place) => {
  answer = photo(pexelsPhoto(1, place), jpeg);
  expect(await save(1)).toMatchObject({ status: 502, body: { code: "upstream" } });
  expect(requests).toHaveLength(1);
});

test.each<[string, Uint8Array, number]>([
  ["a page", Buffer.from("<html><script>alert(1)</script>"), 200],
  ["an SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 200],
  ["nothing", Buffer.alloc(0), 200],
  ["more than fits", Buffer.concat([jpeg, Buffer.alloc(4_000_000)]), 200],
  ["a refusal", jpeg, 403],
])("%s instead of a photo is not saved", async (_, bytes, status) => {
  answer = photo(pexelsPhoto(2), bytes, status);
  expect(await save(2)).toMatchObject({ status: 502 });
});

test.each([
  [400, 400, "provider_refused"],
  [401, 503, "not_configured"],
  [403, 503, "not_configured"],
  [404, 404, "not_found"],
  [429, 503, "unavailable"],
  [500, 502, "upstream"],
  [302, 502, "upstream"],
])(
  "status %i from Pexels becomes %i with our own message",
  async (status, expectedStatus, code) => {
    answer = json({ error: "their secret words" }, status);
    const response = await save(3);
    expect(response).toMatchObject({ status: expectedStatus, body: { code } });
    expect(JSON.stringify(response)).not.toMatch(/secret words|pexels-key/);
  },
);

test.each<[string, typeof answer]>([
  ["no JSON", (_, response) => response.end("<html>")],
  ["another JSON", json({ hello: "world" })],
  ["a cut connection", ({ socket }) => socket.destroy()],
])("%s is a 502", async (_, fault) => {
  answer = fault;
  expect(await search({ q: "x" })).toMatchObject({ status: 502, body: { code: "upstream" } });
});

const readStatus = () => invokeRoute(stockPhotos, "GET /stock-photos/status", as(ada));

test("without a key both endpoints name the missing setting, and the status tells before", async () => {
  expect((await readStatus()).body.data).toEqual({ configured: true });
  delete process.env.PEXELS_API_KEY;
  expect((await readStatus()).body.data).toEqual({ configured: false });
  for (const response of [await search({ q: "x" }), await save(1)])
    expect(response).toMatchObject({
      status: 503,
      body: { code: "not_configured", error: expect.stringContaining("PEXELS_API_KEY") },
    });
  expect(requests).toEqual([]);
});
