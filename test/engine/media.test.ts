// The media library: what is accepted, how it is served, found, changed, deleted and erased.
import { beforeAll, expect, test, vi } from "vitest";
import { media } from "../../functions/http/media.ts";
import { send } from "../../functions/http/send.ts";
import { sites as siteRoutes } from "../../functions/http/sites.ts";
import { templates } from "../../functions/http/templates.ts";
import { get, put, write } from "../../shared/adapters/dynamodb/table.ts";
import * as objects from "../../shared/adapters/s3/objects.ts";
import { type Media, readFile } from "../../shared/domain/content/media.ts";
import { readPicture } from "../../shared/domain/content/picture-files.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { erase } from "../../shared/domain/privacy/site-erasure.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { keys } from "../../shared/keys.ts";
import { createAccount, type TestAccount } from "../support/accounts.ts";
import { createLambdaEvent, invokeRoute, type LambdaRequest } from "../support/lambda-requests.ts";
import { photo } from "../support/real-pictures.ts";
import { tinyPicture } from "../support/tiny-picture.ts";

let ada: TestAccount;
beforeAll(async () => {
  vi.stubEnv("DEFAULT_PLAN", "enterprise");
  ada = await createShop();
});

/** An account with one site. */
async function createShop(): Promise<TestAccount> {
  const account = await createAccount();
  await sites.create(account.caller, sites.NewSite.parse({ name: "Shop" }));
  return account;
}

const as = ({ token }: TestAccount): LambdaRequest => ({
  cookies: [`${sessionCookieName}=${token}`],
});
const add = (
  raw: Buffer,
  query: Record<string, string> = {},
  { who = ada, type = "image/png" }: { who?: TestAccount; type?: string } = {},
) =>
  invokeRoute<Media>(media, "POST /media", {
    ...as(who),
    raw,
    query,
    headers: { "content-type": type },
  });
const list = (query: Record<string, string>) =>
  invokeRoute<{ media: Media[]; pagination: { nextCursor: string | null } }>(media, "GET /media", {
    ...as(ada),
    query,
  });
const byId = (
  signature: "GET /media/:id" | "PATCH /media/:id" | "DELETE /media/:id",
  id: number,
  more: LambdaRequest = {},
) =>
  invokeRoute<Media & { warnings?: string[] }>(media, signature, {
    ...as(ada),
    ...more,
    params: { id: String(id) },
  });
const partsOf = (url: string) => {
  const [orgId = "", file = ""] = url.split("/").slice(-2);
  return { orgId, file };
};
const show = (url: string) => {
  const event = createLambdaEvent("GET /media/:orgId/:file", { params: partsOf(url), base: "" });
  return media.handler(event);
};
const usedBytes = async (orgId: number) =>
  (await get<{ bytes: number }>(keys.mediaUsage(orgId)))?.bytes ?? 0;

const gif = Buffer.concat([Buffer.from("GIF89a"), Buffer.from([3, 0, 2, 0, 0, 0, 0])]);
const jpeg = Buffer.from([
  ...[0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1],
  ...[0xff, 0xc4, 0, 3, 0],
  ...[0xff, 0xc2, 0, 11, 8, 1, 0x40, 2, 0x80, 1, 1, 0x11, 0],
]);
const webp = (chunk: string, ...header: number[]) =>
  Buffer.concat([
    Buffer.from(`RIFF\0\0\0\0WEBP${chunk}\0\0\0\0`, "latin1"),
    Buffer.from(header),
    Buffer.alloc(16),
  ]);

test("the size of a picture is read from its header", () => {
  const sizeOf = (bytes: Buffer) => {
    const { type, width, height } = readPicture(bytes) ?? {};
    return [type, width, height];
  };
  expect(sizeOf(tinyPicture)).toEqual(["image/png", 1, 1]);
  expect(sizeOf(gif)).toEqual(["image/gif", 3, 2]);
  expect(sizeOf(jpeg)).toEqual(["image/jpeg", 640, 320]);
  expect(sizeOf(webp("VP8X", 0, 0, 0, 0, 99, 0, 0, 49, 0, 0))).toEqual(["image/webp", 100, 50]);
  expect(sizeOf(webp("VP8L", 0x2f, 99, 0x40, 0x0c, 0))).toEqual(["image/webp", 100, 50]);
  expect(sizeOf(webp("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 100, 0, 50, 0))).toEqual([
    "image/webp",
    100,
    50,
  ]);
});

test("a damaged picture is none, whatever its length", () => {
  for (const whole of [tinyPicture, jpeg, gif, webp("VP8X", 0, 0, 0, 0, 99, 0, 0, 49)])
    for (let length = 0; length < Math.min(whole.length, 40); length++)
      expect(() => readPicture(whole.subarray(0, length))).not.toThrow();
  expect(readPicture(tinyPicture.subarray(0, 20))).toBeUndefined();
  expect(readPicture(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(2000)]))).toBe(
    undefined,
  );
});

test("a picture is stored and everybody can load it, without a cookie", async () => {
  const { status, body } = await add(tinyPicture, { name: "Logo", alt: "Corner Shop" });
  expect(status).toBe(201);
  expect(body.data).toMatchObject({
    ...{ name: "Logo", alt: "Corner Shop", contentType: "image/png" },
    ...{ size: tinyPicture.length, width: 1, height: 1 },
  });
  expect(body.data).not.toHaveProperty("file");
  expect(body.data.url).toMatch(/^https?:\/\/[^/]+\/media\/\d+\/[0-9a-f]{40}\.png$/);
  const answer = await show(body.data.url);
  expect(answer).toMatchObject({
    statusCode: 200,
    isBase64Encoded: true,
    body: tinyPicture.toString("base64"),
    headers: {
      "content-type": "image/png",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
    },
  });
  expect(answer.cookies).toBeUndefined();
  expect((await byId("GET /media/:id", body.data.id)).body.data).toEqual(body.data);
});

test("the content decides the type, not what the client says", async () => {
  const { body } = await add(gif, {}, { type: "image/jpeg" });
  expect(body.data).toMatchObject({ contentType: "image/gif", name: "Picture", alt: "" });
});

test("a form can send the file with its fields", async () => {
  const form = new FormData();
  form.set("file", new File([new Uint8Array(tinyPicture)], "Red shoes.png"));
  form.set("alt", "Two shoes");
  const request = new Request("https://a.example", { method: "POST", body: form });
  const { status, body } = await add(
    Buffer.from(await request.arrayBuffer()),
    {},
    { type: request.headers.get("content-type")! },
  );
  expect([status, body.data.name, body.data.alt]).toEqual([201, "Red shoes", "Two shoes"]);
});

test("other files are refused and store nothing", async () => {
  const bob = await createShop();
  const tooLarge = Buffer.concat([tinyPicture, Buffer.alloc(5 * 1024 * 1024)]);
  for (const [file, message, code] of [
    [Buffer.from('<?xml version="1.0"?><svg xmlns="x">'), "is an SVG", "validation_failed"],
    [Buffer.from("<html><script>1</script>"), "is no PNG", "validation_failed"],
    [Buffer.alloc(0), "is empty", "validation_failed"],
    [tooLarge, "at most 5 MB", "limit_exceeded"],
  ] as const) {
    const { status, body } = await add(file, {}, { who: bob });
    expect([status, body.code, body.details?.[0]?.path]).toEqual([400, code, "file"]);
    expect(body.error).toContain(message);
  }
  expect((await add(tinyPicture, {}, { who: bob, type: "text/plain" })).status).toBe(415);
  expect((await add(tinyPicture, { alt: "x".repeat(501) }, { who: bob })).status).toBe(400);
  expect(await usedBytes(bob.caller.orgId)).toBe(0);
});

test("a file that was uploaded first becomes a picture of its own organization only", async () => {
  const { body: upload } = await invokeRoute<{ uploadId: string }>(send, "POST /attachments", {
    ...as(ada),
    body: {
      ...{ filename: "shoes.png", type: "image/png" },
      ...{ size: tinyPicture.length, purpose: "picture" },
    },
  });
  const { uploadId } = upload.data;
  const create = (who: TestAccount) =>
    invokeRoute<Media>(media, "POST /media", { ...as(who), body: { uploadId } });
  expect((await create(ada)).status).toBe(400);
  await objects.put(`uploads/${ada.caller.orgId}/${uploadId}`, tinyPicture, "image/png");
  expect((await create(await createShop())).status).toBe(400);
  expect((await create(ada)).body.data).toMatchObject({ name: "shoes", width: 1 });
  const large = { filename: "a.png", type: "image/png", size: 6_000_000, purpose: "picture" };
  const refused = await invokeRoute(send, "POST /attachments", { ...as(ada), body: large });
  expect([refused.status, refused.body.details?.[0]?.path]).toEqual([400, "size"]);
});

test("the list is newest first, in pages, and found by name or description", async () => {
  const older = (await add(tinyPicture, { name: "Harbour", alt: "A boat" })).body.data;
  const newer = (await add(tinyPicture, { name: "Boathouse" })).body.data;
  const first = (await list({ search: "BOAT", limit: "1" })).body.data;
  expect(first.media).toEqual([newer]);
  const cursor = first.pagination.nextCursor!;
  const second = await list({ search: "BOAT", limit: "1", cursor });
  expect(second.body).toMatchObject({ data: { media: [older] } });
  expect((await list({ search: "zeppelin" })).body.data.media).toEqual([]);
});

test("a changed name and description are found, and the file stays", async () => {
  const { id, url } = (await add(tinyPicture, { name: "Old" })).body.data;
  const { body } = await byId("PATCH /media/:id", id, { body: { name: "Lighthouse", alt: "Sea" } });
  expect(body.data).toMatchObject({ id, url, name: "Lighthouse", alt: "Sea" });
  expect((await list({ search: "lightho" })).body.data.media).toEqual([body.data]);
  expect((await byId("PATCH /media/:id", id, { body: { name: "" } })).status).toBe(400);
});

test("a name and a description that are changed at the same time are both kept", async () => {
  const { id } = (await add(tinyPicture)).body.data;
  await Promise.all(
    [{ name: "Harbour" }, { alt: "Boats" }].map((body) => byId("PATCH /media/:id", id, { body })),
  );
  const found = await byId("GET /media/:id", id);
  expect(found.body.data).toMatchObject({ name: "Harbour", alt: "Boats" });
  expect((await list({ search: "harbour\nboats" })).body.data.media).toEqual([found.body.data]);
});

test("a picture that a template shows is deleted only with a warning", async () => {
  const { id, url } = (await add(tinyPicture)).body.data;
  const template = { name: "Spring", subject: "Hi", html: `<img src="${url}" alt="">` };
  const { body } = await invokeRoute<{ id: number }>(templates, "POST /templates", {
    ...as(ada),
    body: template,
  });
  const refused = await byId("DELETE /media/:id", id, { query: { ifUnused: "true" } });
  expect([refused.status, refused.body.code]).toEqual([409, "in_use"]);
  expect(refused.body.details).toEqual([
    {
      path: `templates.${body.data.id}`,
      message: `template ${body.data.id} "Spring" shows it`,
    },
  ]);
  expect((await show(url)).statusCode).toBe(200);
  const deleted = await byId("DELETE /media/:id", id);
  expect([deleted.status, (deleted.body as { warnings?: string[] }).warnings]).toEqual([
    200,
    [`The deleted picture was in use: template ${body.data.id} "Spring" shows it`],
  ]);
  expect((await show(url)).statusCode).toBe(404);
});

test("a template that no longer shows the picture does not use it", async () => {
  const { id, url } = (await add(tinyPicture)).body.data;
  const html = `<img src="${url}" alt="">`;
  const { body } = await invokeRoute<{ id: number }>(templates, "POST /templates", {
    ...as(ada),
    body: { name: "Spring", subject: "Hi", html },
  });
  await invokeRoute(templates, "PUT /templates/:id", {
    ...as(ada),
    params: { id: String(body.data.id) },
    body: { html: "<p>None</p>" },
  });
  expect((await byId("DELETE /media/:id", id, { query: { ifUnused: "true" } })).status).toBe(200);
});

test("bytes are counted, and an organization has room for 5 GB", async () => {
  const cy = await createShop();
  const { orgId } = cy.caller;
  const { id } = (await add(tinyPicture, {}, { who: cy })).body.data;
  expect(await usedBytes(orgId)).toBe(tinyPicture.length);
  const room = 5 * 1024 ** 3;
  await write(put(keys.mediaUsage(orgId), { bytes: room - tinyPicture.length + 1 }));
  const refused = await add(tinyPicture, {}, { who: cy });
  expect([refused.status, refused.body.code]).toEqual([409, "too_many"]);
  await write(put(keys.mediaUsage(orgId), { bytes: room }));
  await byId("DELETE /media/:id", id, as(cy));
  expect(await usedBytes(orgId)).toBe(room - tinyPicture.length);
});

test("a request whose file could not be stored is repeated with the same key", async () => {
  const dee = await createShop();
  const addOnce = () =>
    invokeRoute<Media>(media, "POST /media", {
      ...as(dee),
      raw: tinyPicture,
      headers: { "content-type": "image/png", "idempotency-key": "logo" },
    });
  const bucket = process.env.BUCKET_NAME!;
  vi.stubEnv("BUCKET_NAME", "does-not-exist");
  expect((await addOnce()).status).toBeGreaterThanOrEqual(500);
  vi.stubEnv("BUCKET_NAME", bucket);
  const { status, body } = await addOnce();
  expect(status).toBe(201);
  expect((await show(body.data.url)).statusCode).toBe(200);
  const found = await invokeRoute<{ media: Media[] }>(media, "GET /media", as(dee));
  expect(found.body.data.media).toEqual([body.data]);
  expect(await usedBytes(dee.caller.orgId)).toBe(tinyPicture.length);
});

test("the erasure of a site deletes its files", async () => {
  const eve = await createShop();
  const { orgId } = eve.caller;
  const { body } = await invokeRoute<{ id: number }>(siteRoutes, "POST /sites", {
    ...as(eve),
    body: { name: "Short-lived" },
  });
  const siteId = body.data.id;
  const { url } = (await add(tinyPicture, { siteId: String(siteId) }, { who: eve })).body.data;
  await invokeRoute(siteRoutes, "DELETE /sites/:id", {
    ...as(eve),
    params: { id: String(siteId) },
  });
  await erase(orgId, siteId);
  expect((await show(url)).statusCode).toBe(404);
  expect(await usedBytes(orgId)).toBe(0);
});

test("on AWS, a picture that is too large for a response is a redirect to S3", async () => {
  const large = Buffer.concat([gif, Buffer.alloc(4_500_000)]);
  const { url } = (await add(large, {}, { type: "image/gif" })).body.data;
  const { orgId, file } = partsOf(url);
  const here = await readFile(Number(orgId), file);
  expect("bytes" in here && here.bytes.length).toBe(large.length);
  const spy = vi.spyOn((await import("../../shared/config.ts")).config, "usesOwnS3", "get");
  spy.mockReturnValue(false);
  const answer = await show(url);
  spy.mockRestore();
  expect(answer).toMatchObject({
    statusCode: 302,
    headers: { "cache-control": "public, max-age=1800" },
  });
  const { location } = answer.headers as { location: string };
  expect(location).toContain(`/media/${orgId}/${file}`);
  expect(location).toContain("response-content-type=image%2Fgif");
  expect(location).toContain("X-Amz-Signature=");
});

test("names of no file are not looked up", async () => {
  for (const file of ["..%2Fsecret", "a.png", `${"0".repeat(40)}.svg`])
    expect((await show(`/media/${ada.caller.orgId}/${file}`)).statusCode).toBe(404);
});

test("a photo is stored without the place where it was taken, and its size is as it is shown", async () => {
  const { status, body } = await add(photo(6), { name: "Beach" }, { type: "image/jpeg" });
  expect(status).toBe(201);
  // The file has 16 by 8 pixels, and is shown turned.
  expect(body.data).toMatchObject({ contentType: "image/jpeg", width: 8, height: 16 });
  const file = body.data.url.split("/").at(-1)!;
  const stored = await readFile(ada.caller.orgId, file);
  const bytes = Buffer.from("bytes" in stored ? stored.bytes : []);
  expect(bytes.length).toBe(body.data.size);
  expect(bytes.toString("latin1")).not.toContain("GPS");
});
