import { expect, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";

interface Site {
  domain: string | null;
  id: number;
  name: string;
  updatedAt: string;
}
type Listed = { sites: Site[]; pagination: { total: number } };

const full = {
  name: "Shop",
  domain: "shop.example",
  autoBcc: "archive@shop.example",
  replyTo: "help@shop.example",
  sendFrequencyCapDays: 3,
  companyName: "Shop Ltd",
  physicalAddress: "1 Main Street\nSpringfield",
  softBounceLimit: 3,
  archive: true,
  confirmationReminderHours: 48,
  brand: {
    logo: {
      url: "https://shop.example/logo.png",
      alt: "Shop",
      link: "https://shop.example/",
      width: 120,
    },
    colors: { accent: "#1f5fbf", background: "#eeeeee", surface: "#ffffff", text: "#222222" },
    font: "georgia",
    corners: "round",
    socialLinks: [{ name: "Mastodon", url: "https://social.example/@shop" }],
    footerText: "Shop Ltd\nCompany 1234",
    language: "de",
  },
};
const make = async ({ call }: TestClient, name: string) =>
  expectStatus(201, await call<Site>("POST", "/sites", { name })).body.data.id;

test("a site is created with all fields, or with a name only", async () => {
  const { call } = await signedUp();
  const created = await call<Site>("POST", "/sites", full);
  const stamps = {
    createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    updatedAt: expect.any(String),
  };
  expect(created).toMatchObject({ status: 201 });
  expect(created.body.data).toEqual({
    id: expect.any(Number),
    ...full,
    trackingDomain: null,
    trackingDomainState: null,
    confirmationTemplateId: null,
    preferencePage: { fields: [], snooze: true, leaveReason: true },
    archiveUrl: expect.stringMatching(/\/archive\/\d+$/),
    ...stamps,
  });
  expect((await call("GET", `/sites/${created.body.data.id}`)).body).toEqual(created.body);

  const bare = await call<Site>("POST", "/sites", { name: "Blog" });
  const nothing = {
    domain: null,
    autoBcc: null,
    replyTo: null,
    sendFrequencyCapDays: null,
    companyName: null,
    physicalAddress: null,
    softBounceLimit: null,
    archive: false,
    archiveUrl: expect.any(String),
    trackingDomain: null,
    trackingDomainState: null,
    confirmationTemplateId: null,
    confirmationReminderHours: null,
    brand: null,
    preferencePage: { fields: [], snooze: true, leaveReason: true },
  };
  expect(bare.body.data).toEqual({ id: expect.any(Number), name: "Blog", ...nothing, ...stamps });
});

test("an update changes the given fields only, and null clears a field", async () => {
  const { call } = await signedUp();
  const { id, ...rest } = expectStatus(201, await call<Site>("POST", "/sites", full)).body.data;
  const changed = await call<Site>("PUT", `/sites/${id}`, {
    companyName: "Shop Inc",
    autoBcc: null,
  });
  expect(changed.status).toBe(200);
  expect(changed.body.data).toEqual({
    ...rest,
    id,
    companyName: "Shop Inc",
    autoBcc: null,
    updatedAt: expect.any(String),
  });
  expect(changed.body.data.updatedAt >= rest.updatedAt).toBe(true);
  expect((await call("GET", `/sites/${id}`)).body).toEqual(changed.body);
});

test.each([
  ["name", {}],
  ["name", { name: " " }],
  ["name", { name: "x".repeat(201) }],
  ["domain", { name: "Shop", domain: "https://shop.example/" }],
  ["domain", { name: "Shop", domain: "shop..example" }],
  ["autoBcc", { name: "Shop", autoBcc: "nobody" }],
  ["replyTo", { name: "Shop", replyTo: "nobody" }],
  ["sendFrequencyCapDays", { name: "Shop", sendFrequencyCapDays: -1 }],
  ["sendFrequencyCapDays", { name: "Shop", sendFrequencyCapDays: 1.5 }],
  ["softBounceLimit", { name: "Shop", softBounceLimit: 0 }],
  ["softBounceLimit", { name: "Shop", softBounceLimit: 11 }],
  ["confirmationReminderHours", { name: "Shop", confirmationReminderHours: 721 }],
  ["companyName", { name: "Shop", companyName: "two\nlines" }],
  ["physicalAddress", { name: "Shop", physicalAddress: "x".repeat(501) }],
])("a site with a bad %s is refused", async (path, body) => {
  const { call, siteId } = await signedUp();
  expect(await call("POST", "/sites", body)).toMatchObject({
    status: 400,
    body: { code: "validation_failed", details: [{ path }] },
  });
  const { name: _, ...change } = { name: undefined, ...body };
  if (path !== "name")
    expect(await call("PUT", `/sites/${siteId}`, change)).toMatchObject({
      status: 400,
      body: { details: [{ path }] },
    });
});

test("sites are listed newest first, with an exact total", async () => {
  const client = await signedUp();
  const ids = [client.siteId, await make(client, "Second"), await make(client, "Third")];
  const { sites, pagination } = (await client.call<Listed>("GET", "/sites")).body.data;
  expect(sites.map(({ id }) => id)).toEqual(ids.toReversed());
  expect(pagination).toEqual({ page: 1, limit: 50, total: 3, totalPages: 1, nextCursor: null });
  const second = (await client.call<Listed>("GET", "/sites?page=2&limit=2")).body.data;
  expect(second.sites.map(({ id }) => id)).toEqual([client.siteId]);
});

test("a domain is returned in lower case, as its document says", async () => {
  const client = await signedUp();
  const made = await client.call<Site>("POST", "/sites", { name: "Shop", domain: "Shop.Example" });
  expect(made.body.data.domain).toBe("shop.example");
  const { id } = made.body.data;
  const changed = await client.call<Site>("PUT", `/sites/${id}`, { domain: "WWW.Shop.Example" });
  expect(changed.body.data.domain).toBe("www.shop.example");
});

test("a deleted site is not found, listed or counted", async () => {
  const client = await signedUp();
  const id = await make(client, "Short-lived");
  expect(await client.call("DELETE", `/sites/${id}`)).toMatchObject({
    status: 200,
    body: { data: { id, deleted: true } },
  });
  for (const method of ["GET", "PUT", "DELETE"])
    expect(
      await client.call(method, `/sites/${id}`, method === "PUT" ? { name: "Back" } : undefined),
    ).toMatchObject({
      // 410 with the progress while a background job erases it, then 404.
      status: method === "GET" ? expect.toBeOneOf([404, 410]) : 404,
    });
  expect((await client.call<Listed>("GET", "/sites")).body.data.pagination.total).toBe(1);
});

test("a bound key can read its own site only", async () => {
  const client = await signedUp();
  const other = await make(client, "Other");
  const as = { key: await client.newKey({ siteId: client.siteId }) };
  const { sites, pagination } = (await client.call<Listed>("GET", "/sites", undefined, { as })).body
    .data;
  expect(sites.map(({ id }) => id)).toEqual([client.siteId]);
  expect(pagination).toMatchObject({ total: 1, totalPages: 1, nextCursor: null });
  expect(
    (await client.call<Listed>("GET", "/sites?page=2", undefined, { as })).body.data.sites,
  ).toEqual([]);
  expect(
    (await client.call("PUT", `/sites/${client.siteId}`, { name: "Mine" }, { as })).status,
  ).toBe(200);
  for (const method of ["GET", "PUT", "DELETE"])
    expect(
      await client.call(
        method,
        `/sites/${other}`,
        method === "PUT" ? { name: "Mine" } : undefined,
        { as },
      ),
    ).toMatchObject({
      status: 403,
      body: {
        error: "API key has no access to this site",
        code: "site_forbidden",
      },
    });
  expect((await client.call<Site>("GET", `/sites/${other}`)).body.data.name).toBe("Other");
});

test("the sites of another organization are a 404 for every credential", async () => {
  const [one, stranger] = await Promise.all([signedUp(), signedUp()]);
  const bound = { key: await one.newKey({ siteId: one.siteId }) };
  for (const as of ["key", "session", bound] as const)
    for (const method of ["GET", "PUT", "DELETE"])
      expect(
        await one.call(
          method,
          `/sites/${stranger.siteId}`,
          method === "PUT" ? { name: "Mine" } : undefined,
          { as },
        ),
      ).toMatchObject({
        status: 404,
        body: { code: "not_found" },
      });
  expect((await stranger.call<Site>("GET", `/sites/${stranger.siteId}`)).body.data.name).toBe(
    "Shop",
  );
});

test("deleting a site deletes its keys", async () => {
  const client = await signedUp();
  const siteId = await make(client, "Short-lived");
  const as = { key: await client.newKey({ siteId }) };
  expect((await client.call("GET", "/sites", undefined, { as })).status).toBe(200);
  expectStatus(200, await client.call("DELETE", `/sites/${siteId}`));
  expect((await client.call("GET", "/sites", undefined, { as })).status).toBe(401);
});

test("a brand is replaced as a whole, and what is left out has its default", async () => {
  const { call } = await signedUp();
  const { id } = expectStatus(201, await call<Site>("POST", "/sites", full)).body.data;
  const brand = { colors: { accent: "#AA1155" }, logo: { url: "https://shop.example/a.png" } };
  const changed = expectStatus(200, await call<Site>("PUT", `/sites/${id}`, { brand }));
  expect(changed.body.data).toMatchObject({
    name: "Shop",
    brand: {
      logo: { url: "https://shop.example/a.png", alt: "", link: null, width: 140 },
      colors: { accent: "#AA1155", background: "#f3f4f7", surface: "#ffffff", text: "#23262d" },
      ...{ font: "system", corners: "soft", socialLinks: [], footerText: null, language: null },
    },
  });
  const cleared = expectStatus(200, await call<Site>("PUT", `/sites/${id}`, { brand: null }));
  expect(cleared.body.data).toMatchObject({ brand: null });
});

const link = { name: "Blog", url: "https://shop.example/" };
test.each([
  ["brand.colors.accent", { colors: { accent: "red" } }],
  ["brand.colors.text", { colors: { text: "#12345" } }],
  ["brand.font", { font: "comic" }],
  ["brand.corners", { corners: 8 }],
  ["brand.logo.url", { logo: { alt: "Shop" } }],
  ["brand.logo.url", { logo: { url: "javascript:alert(1)" } }],
  ["brand.logo.url", { logo: { url: `https://shop.example/${"x".repeat(1000)}` } }],
  ["brand.logo.width", { logo: { url: "https://shop.example/a.png", width: 401 } }],
  ["brand.socialLinks", { socialLinks: Array(11).fill(link) }],
  ["brand.socialLinks.0.url", { socialLinks: [{ ...link, url: "shop.example" }] }],
  ["brand.socialLinks.0.name", { socialLinks: [{ ...link, name: " " }] }],
  ["brand.footerText", { footerText: "x".repeat(1001) }],
  ["brand.language", { language: "tlh" }],
])("a brand with a wrong %s is refused and changes nothing", async (path, brand) => {
  const { call } = await signedUp();
  const created = expectStatus(201, await call<Site>("POST", "/sites", full)).body;
  const refused = await call("PUT", `/sites/${created.data.id}`, { name: "Other", brand });
  expect([refused.status, refused.body.details?.map((detail) => detail.path)]).toEqual([
    400,
    [path],
  ]);
  expect((await call("GET", `/sites/${created.data.id}`)).body).toEqual(created);
});

test("a tracking domain is refused unless a verified domain is above it", async () => {
  const { call, siteId } = await signedUp();
  const set = (trackingDomain: unknown) => call("PUT", `/sites/${siteId}`, { trackingDomain });
  const refused = await set("click shop.example");
  expect([refused.status, refused.body.details?.map(({ path }) => path)]).toEqual([
    400,
    ["trackingDomain"],
  ]);
  expect(await set("click.shop.example")).toMatchObject({
    status: 409,
    body: { code: "domain_not_verified" },
  });
  expect(await set(null)).toMatchObject({
    status: 200,
    body: { data: { trackingDomain: null, trackingDomainState: null } },
  });
});
