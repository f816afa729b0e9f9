import { expect, test } from "vitest";
import { expectStatus, request, signedUp } from "../support/api-client.ts";

const unset = { physicalAddress: null, unsubscribeUrl: null, enabled: false, updatedAt: null };
const stamp = expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/);

test("settings are empty at first; an update changes the given fields, and null clears one", async () => {
  const { call } = await signedUp();
  const settings = async () => expectStatus(200, await call("GET", "/compliance")).body.data;
  expect(await settings()).toEqual(unset);
  const full = {
    physicalAddress: "Shop Ltd\n1 High Street",
    unsubscribeUrl: "https://shop.example/bye?from=mail",
    enabled: true,
  };
  expect(await call("PUT", "/compliance", full)).toMatchObject({
    status: 200,
    body: { data: { ...full, updatedAt: stamp } },
  });
  await call("PUT", "/compliance", { physicalAddress: " 2 Low Street " });
  expect(await settings()).toEqual({ ...full, physicalAddress: "2 Low Street", updatedAt: stamp });
  await call("PUT", "/compliance", { physicalAddress: "", unsubscribeUrl: null });
  expect(await settings()).toMatchObject({
    physicalAddress: null,
    unsubscribeUrl: null,
    enabled: true,
  });
});

test("each organization has its own settings; a key of one site cannot read or change them", async () => {
  const [{ call, newKey, siteId }, stranger] = await Promise.all([signedUp(), signedUp()]);
  await call("PUT", "/compliance", { enabled: true });
  expect((await stranger.call("GET", "/compliance")).body.data).toEqual(unset);
  const key = await newKey({ siteId });
  for (const [method, body] of [["GET"], ["PUT", { enabled: false }]] as const)
    expect(await call(method, "/compliance", body, { as: { key } })).toMatchObject({
      status: 403,
      body: { code: "site_forbidden" },
    });
  expect((await request("GET", "/compliance")).status).toBe(401);
});

test.each([
  ["physicalAddress", { physicalAddress: "x".repeat(501) }],
  ["physicalAddress", { physicalAddress: 7 }],
  ["unsubscribeUrl", { unsubscribeUrl: "http://shop.example/bye" }],
  ["unsubscribeUrl", { unsubscribeUrl: "javascript:alert(1)" }],
  ["unsubscribeUrl", { unsubscribeUrl: `https://shop.example/${"x".repeat(2048)}` }],
  ["unsubscribeUrl", { unsubscribeUrl: "" }],
  ["enabled", { enabled: "yes" }],
])("a bad %s is refused, and nothing changes", async (path, bad) => {
  const { call } = await signedUp();
  const refused = { status: 400, body: { code: "validation_failed", details: [{ path }] } };
  expect(
    await call("PUT", "/compliance", { enabled: true, physicalAddress: "x", ...bad }),
  ).toMatchObject(refused);
  expect((await call("GET", "/compliance")).body.data).toEqual(unset);
});
