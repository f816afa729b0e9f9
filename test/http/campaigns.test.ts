import { expect, inject, test } from "vitest";
import { expectStatus, signedUp, type TestClient, waitForMail } from "../support/api-client.ts";
import { waitFor } from "../support/wait-for.ts";

interface Campaign {
  id: number;
  status: string;
  statusReason: string | null;
  scheduledAt: string | null;
  createdAt: string;
  stats: Record<string, number>;
  accounting: Record<string, number>;
  sendingConfigLabel: string | null;
  variants: Variant[];
  abTest: object | null;
}
interface Variant {
  id: number;
  name: string;
  html?: string | null;
  hasHtml: boolean;
  weight: number;
}
type Listed = { campaigns: Campaign[]; pagination: { total: number | null } };

interface Shop extends TestClient {
  templateId: number;
  listId: number;
  configId: number;
}

async function shop(): Promise<Shop> {
  const client = await signedUp();
  const made = async (path: string, body: object) =>
    expectStatus(201, await client.call<{ id: number }>("POST", path, body)).body.data.id;
  const templateId = await made("/templates", {
    name: "News",
    subject: "News, {{ firstName }}",
    html: "<p>Hello {{ firstName }}</p>",
  });
  const listId = await made("/lists", { name: "News" });
  const configId = await made("/sending-configs", {
    provider: "postmark",
    fromEmail: "shop@shop.example",
    fromName: "Shop",
    credentials: await sandboxCredentials(),
  });
  return { ...client, templateId, listId, configId };
}

/** Credentials of the local provider sandbox. */
async function sandboxCredentials(): Promise<object> {
  const answer = await fetch(`${inject("baseUrl")}/_local/sandbox`);
  const { data } = (await answer.json()) as {
    data: { providers: Record<string, { credentials: object }> };
  };
  return data.providers.postmark!.credentials;
}

const full = ({ templateId, listId, configId }: Shop) => ({
  name: "Spring",
  templateId,
  listId,
  sendingConfigId: configId,
});
const make = async (client: TestClient, body: object = { name: "Spring" }) =>
  expectStatus(201, await client.call<Campaign>("POST", "/campaigns", body)).body.data;

test("a campaign is created as an incomplete draft and changed field by field", async () => {
  const client = await shop();
  const made = await make(client);
  const empty = {
    subject: null,
    ...{ templateId: null, ownTemplateId: null },
    listId: null,
    tagId: null,
    segmentId: null,
    audience: null,
    sendingConfigId: null,
    ...{ fromEmail: null, fromName: null, replyTo: null },
    ...{ headers: {}, attachments: [], variables: {}, feedUrl: null, purpose: "marketing" },
    ...{ archive: false, archiveUrl: null, archiveError: null },
    topicId: null,
    previewText: null,
    utm: null,
    strict: false,
    abTest: null,
    ...{ conversion: null, holdOutPercent: null },
  };
  const none = {
    statusReason: null,
    scheduledAt: null,
    localTime: null,
    sendLate: false,
    startedAt: null,
    finishedAt: null,
    winner: null,
  };
  const stamps = {
    createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    updatedAt: expect.any(String),
  };
  expect(made).toEqual({
    id: expect.any(Number),
    ...{ resendOf: null, resends: [], seriesId: null },
    siteId: client.siteId,
    name: "Spring",
    ...empty,
    status: "draft",
    ...none,
    ...stamps,
  });
  const abTest = { testPercent: 20, metric: "click_rate", durationMinutes: 60 };
  const changed = await client.call<Campaign>("PUT", `/campaigns/${made.id}`, {
    ...full(client),
    abTest,
  });
  expect(changed).toMatchObject({ status: 200, body: { data: { ...full(client), abTest } } });
  const detail = expectStatus(200, await client.call<Campaign>("GET", `/campaigns/${made.id}`)).body
    .data;
  expect(detail).toMatchObject({
    sendingConfigLabel: "Shop <shop@shop.example>",
    variants: [],
    stats: { recipients: 0, openRate: 0 },
  });
  const added = [
    "accounting",
    "conversions",
    "missing",
    "sendingConfigLabel",
    "stats",
    "variants",
    "waitingForLocalTime",
    "waitingReason",
  ];
  expect(Object.keys(detail).toSorted()).toEqual([...Object.keys(made), ...added].toSorted());
  expect((await client.call("DELETE", `/campaigns/${made.id}`)).body.data).toEqual({
    id: made.id,
    deleted: true,
  });
  for (const method of ["GET", "DELETE"])
    expect((await client.call(method, `/campaigns/${made.id}`)).status).toBe(404);
});

test("campaigns are listed newest first, by site and by status", async () => {
  const client = await shop();
  const first = await make(client, full(client));
  const second = await make(client);
  expectStatus(
    200,
    await client.call("POST", `/campaigns/${first.id}/schedule`, {
      scheduledAt: "2027-06-01T09:00:00+02:00",
    }),
  );
  const ids = async (query = "") =>
    expectStatus(
      200,
      await client.call<Listed>("GET", `/campaigns${query}`),
    ).body.data.campaigns.map(({ id }) => id);
  expect(await ids()).toEqual([second.id, first.id]);
  expect(await ids("?status=scheduled")).toEqual([first.id]);
  expect(await ids(`?siteId=${client.siteId}&status=draft`)).toEqual([second.id]);
  const scheduled = expectStatus(200, await client.call<Campaign>("GET", `/campaigns/${first.id}`))
    .body.data;
  expect(scheduled.scheduledAt).toBe("2027-06-01T07:00:00.000Z");
});

test("a campaign is scheduled at the local time of its contacts", async () => {
  const client = await shop();
  const { id, createdAt } = await make(client, full(client));
  const schedule = (body: object) =>
    client.call<Campaign>("POST", `/campaigns/${id}/schedule`, body);
  const localTime = "2027-06-01T09:00";
  for (const refused of [{}, { localTime, scheduledAt: "2027-06-01T09:00:00Z" }])
    expect(await schedule(refused)).toMatchObject({
      status: 400,
      body: { details: [{ path: "scheduledAt" }] },
    });
  for (const invalid of [`${localTime}:00Z`, "2027-06-31T09:00", "2020-01-01T09:00"])
    expect(await schedule({ localTime: invalid })).toMatchObject({
      status: 400,
      body: { details: [{ path: "localTime" }] },
    });
  const { body } = expectStatus(200, await schedule({ localTime }));
  // 14 hours before UTC, when the first time zone has this time.
  const expected = { status: "scheduled", localTime, scheduledAt: "2027-05-31T19:00:00.000Z" };
  expect(body.data).toMatchObject(expected);
  expect(JSON.stringify(body)).not.toContain("already past");
  expect(expectStatus(200, await client.call("GET", `/campaigns/${id}`)).body.data).toMatchObject({
    ...expected,
    waitingForLocalTime: null,
  });
  const late = await schedule({ localTime: createdAt.slice(0, "2027-06-01T09:00".length) });
  expect(expectStatus(200, late).body).toMatchObject({
    data: { status: "scheduled" },
    warnings: expect.arrayContaining([expect.stringContaining("already past")]),
  });
});

test.each([
  ["name", { name: "" }],
  ["subject", { subject: "{{ broken" }],
  ["abTest.testPercent", { abTest: { testPercent: 0, metric: "open_rate", durationMinutes: 10 } }],
  ["abTest.metric", { abTest: { testPercent: 10, metric: "luck", durationMinutes: 10 } }],
  [
    "abTest.durationMinutes",
    { abTest: { testPercent: 10, metric: "open_rate", durationMinutes: 100_000 } },
  ],
])("a campaign with a bad %s is refused, also as a change", async (path, bad) => {
  const client = await signedUp();
  const refused = { status: 400, body: { details: [{ path }] } };
  expect(await client.call("POST", "/campaigns", { name: "Spring", ...bad })).toMatchObject(
    refused,
  );
  const { id } = await make(client);
  expect(await client.call("PUT", `/campaigns/${id}`, bad)).toMatchObject(refused);
});

test("references must exist and belong to the campaign's site", async () => {
  const [client, other] = [await shop(), await shop()];
  const blog = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/sites", { name: "Blog" }),
  ).body.data.id;
  for (const field of ["templateId", "listId"] as const) {
    expect(
      await client.call("POST", "/campaigns", {
        siteId: client.siteId,
        name: "x",
        [field]: other[field],
      }),
    ).toMatchObject({
      status: 404,
    });
    const misplaced = await client.call("POST", "/campaigns", {
      siteId: blog,
      name: "x",
      [field]: client[field],
    });
    expect(misplaced).toMatchObject({ status: 400, body: { details: [{ path: field }] } });
  }
  expect(
    (
      await client.call("POST", "/campaigns", {
        siteId: blog,
        name: "x",
        sendingConfigId: other.configId,
      })
    ).status,
  ).toBe(404);
});

test("sending, scheduling and testing an incomplete campaign are refused with the missing field", async () => {
  const client = await shop();
  const scheduledAt = "2027-06-01T09:00:00Z";
  for (const [path, missing] of [
    ["sendingConfigId", { sendingConfigId: null }],
    ["templateId", { templateId: null }],
    ["listId", { listId: null }],
    // An A/B test without variants would mail all contacts at once.
    ["abTest", { abTest: { testPercent: 50, metric: "open_rate", durationMinutes: 60 } }],
  ] as const) {
    const { id } = await make(client, { ...full(client), ...missing });
    for (const [action, body] of [
      ["send"],
      ["schedule", { scheduledAt }],
      ["preview"],
      ["test", { emails: ["a@example.com"] }],
    ] as const)
      expect(await client.call("POST", `/campaigns/${id}/${action}`, body)).toMatchObject({
        status: 400,
        body: { details: [{ path }] },
      });
  }
  const { id } = await make(client, full(client));
  for (const invalidTime of ["2029-01-01T00:00:00Z", "2020-01-01T00:00:00Z"])
    expect(
      await client.call("POST", `/campaigns/${id}/schedule`, { scheduledAt: invalidTime }),
    ).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("scheduledAt"), details: [{ path: "scheduledAt" }] },
    });
  expectStatus(200, await client.call("POST", `/campaigns/${id}/schedule`, { scheduledAt }));
  // A scheduled campaign must stay complete.
  expect((await client.call("PUT", `/campaigns/${id}`, { sendingConfigId: null })).status).toBe(
    400,
  );
  for (const action of ["pause", "resume"])
    expect(await client.call("POST", `/campaigns/${id}/${action}`)).toMatchObject({
      status: 409,
      body: { code: "campaign_status" },
    });
  for (let n = 0; n < 2; n++)
    expect((await client.call("POST", `/campaigns/${id}/cancel`)).body.data).toMatchObject({
      status: "cancelled",
    });
  expect((await client.call("POST", `/campaigns/${id}/send`)).status).toBe(409);
});

test("variants are created, changed and deleted; deleting the last one removes the A/B test", async () => {
  const client = await shop();
  const abTest = { testPercent: 50, metric: "open_rate", durationMinutes: 60 };
  const { id } = await make(client, { ...full(client), abTest });
  const add = async (body: object) =>
    expectStatus(201, await client.call<Variant>("POST", `/campaigns/${id}/variants`, body)).body
      .data;
  const [a, b] = [
    await add({ subject: "A?" }),
    await add({ html: "<p>{{ firstName }}</p>", subject: "B!", weight: 100 }),
  ];
  expect([a.name, b.name, a.weight, a.hasHtml, b.hasHtml, b.html]).toEqual([
    "A",
    "B",
    50,
    false,
    true,
    "<p>{{ firstName }}</p>",
  ]);
  const path = `/campaigns/${id}/variants/${b.id}`;
  const changed = expectStatus(
    200,
    await client.call<Variant>("PUT", path, { html: "<b>{{ firstName }}</b>", weight: 60 }),
  ).body.data;
  expect(changed).toMatchObject({
    html: "<b>{{ firstName }}</b>",
    weight: 60,
    recipients: 0,
    openRate: 0,
    isWinner: false,
  });
  const bare = expectStatus(
    200,
    await client.call<Variant>("PUT", path, { templateId: client.templateId }),
  ).body.data;
  expect(bare).toMatchObject({ html: null, hasHtml: false, templateId: client.templateId });
  const listed = expectStatus(
    200,
    await client.call<{ variants: Variant[] }>("GET", `/campaigns/${id}/variants`),
  ).body.data.variants;
  expect(listed.map((one) => one.id)).toEqual([a.id, b.id]);
  expect(
    await client.call("POST", `/campaigns/${id}/variants`, { html: "{% if %}" }),
  ).toMatchObject({
    status: 400,
    body: { details: [{ path: "html" }] },
  });
  expect(
    (
      await client.call("POST", `/campaigns/${id}/variants`, {
        html: "<p></p>",
        templateId: client.templateId,
      })
    ).status,
  ).toBe(400);
  expectStatus(200, await client.call("DELETE", path));
  expect((await client.call("GET", path)).status).toBe(404);
  // An A/B test needs two variants.
  expect(await client.call("POST", `/campaigns/${id}/send`)).toMatchObject({
    status: 400,
    body: { details: [{ path: "abTest" }] },
  });
  expectStatus(200, await client.call("DELETE", `/campaigns/${id}/variants/${a.id}`));
  expect(
    expectStatus(200, await client.call<Campaign>("GET", `/campaigns/${id}`)).body.data,
  ).toMatchObject({ abTest: null, variants: [] });
  for (let n = 0; n < 10; n++) await add({});
  expect(await client.call("POST", `/campaigns/${id}/variants`, {})).toMatchObject({
    status: 409,
    body: { code: "too_many_variants" },
  });
});

test("a campaign is previewed, tested with a proof, and sent to the whole list", async () => {
  const client = await shop();
  const addresses = Array.from({ length: 3 }, (_, i) => `p${i}-${crypto.randomUUID()}@example.com`);
  for (const [i, email] of addresses.entries())
    expectStatus(
      201,
      await client.call("POST", "/contacts", {
        email,
        firstName: `P${i}`,
        lists: [client.listId],
        ...(i === 2 && { status: "unsubscribed" }),
      }),
    );
  const { id } = await make(client, full(client));
  const { data, warnings } = expectStatus(
    200,
    await client.call<Record<string, unknown>>("POST", `/campaigns/${id}/preview`),
  ).body;
  expect(warnings).toEqual([
    expect.stringMatching(/^Marketing mail must show a postal address/),
    expect.stringMatching(/^Sending config \d+ is not verified/),
  ]);
  const [link = ""] =
    /http[^"]*\/unsubscribe\/preview/.exec((data.samples as { html: string }[])[0]!.html) ?? [];
  const page = await fetch(link, { headers: { accept: "text/html" } });
  expect([page.status, page.headers.get("content-type")]).toEqual([
    404,
    "text/html; charset=utf-8",
  ]);
  expect(data).toMatchObject({ candidates: 3, wouldReceive: 2, unsubscribed: 1, exact: true });
  expect(data.samples).toHaveLength(2);
  const proof = `boss-${crypto.randomUUID()}@example.com`;
  expectStatus(202, await client.call("POST", `/campaigns/${id}/test`, { emails: [proof] }));
  expect((await waitForMail(proof)).subject).toMatch(/^\[Test\] News, P[01]$/);
  const started = expectStatus(200, await client.call<Campaign>("POST", `/campaigns/${id}/send`));
  expect(started.body).toMatchObject({ data: { status: "sending" }, warnings });
  expect((await client.call("POST", `/campaigns/${id}/send`)).status).toBe(409);
  const mail = await waitForMail(addresses[0]!);
  expect(mail).toMatchObject({ subject: "News, P0" });
  expect(mail.html).toContain("/api/v1/unsubscribe/");
  const sentCampaign = await waitFor(async () => {
    const { data } = expectStatus(200, await client.call<Campaign>("GET", `/campaigns/${id}`)).body;
    expect(data.status).toBe("sent");
    return data;
  });
  expect(sentCampaign).toMatchObject({
    status: "sent",
    accounting: { candidates: 3, accepted: 2, unsubscribed: 1 },
    stats: { recipients: 2 },
  });
});

test("sending and scheduling count against the send limit", async () => {
  const client = await shop();
  const { id } = await make(client, full(client));
  const scheduled = await client.call("POST", `/campaigns/${id}/schedule`, {
    scheduledAt: "2027-06-01T09:00:00Z",
  });
  const sent = await client.call("POST", `/campaigns/${id}/send`);
  for (const { status, headers } of [scheduled, sent]) {
    expect(status).toBeLessThan(500);
    expect(headers.get("x-ratelimit-limit")).toBe("20");
    expect(Number(headers.get("x-ratelimit-remaining"))).toBeLessThan(20);
  }
});

test("an API key of another site sees no campaign", async () => {
  const client = await shop();
  const { id } = await make(client, full(client));
  const blog = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/sites", { name: "Blog" }),
  ).body.data.id;
  const key = await client.newKey({ siteId: blog });
  expect(
    (await client.call<Listed>("GET", "/campaigns", undefined, { as: { key } })).body.data
      .campaigns,
  ).toEqual([]);
  for (const [method, action] of [
    ["GET", ""],
    ["POST", "/send"],
    ["POST", "/cancel"],
    ["DELETE", ""],
  ] as const)
    expect(
      (await client.call(method, `/campaigns/${id}${action}`, undefined, { as: { key } })).status,
    ).toBe(403);
});

test("a scheduled campaign becomes a draft again, also by a repeated request", async () => {
  const client = await shop();
  const { id } = await make(client, full(client));
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString();
  expectStatus(200, await client.call("POST", `/campaigns/${id}/schedule`, { scheduledAt }));
  for (let n = 0; n < 2; n++) {
    const answer = await client.call<Campaign>("POST", `/campaigns/${id}/unschedule`);
    expect(expectStatus(200, answer).body.data).toMatchObject({
      status: "draft",
      scheduledAt: null,
      statusReason: null,
    });
  }
  expectStatus(200, await client.call("POST", `/campaigns/${id}/cancel`));
  const late = await client.call("POST", `/campaigns/${id}/unschedule`);
  expect(late).toMatchObject({ status: 409, body: { code: "campaign_status" } });
});

test("equal variants are refused when the campaign starts", async () => {
  const client = await shop();
  const { id } = await make(client, full(client));
  const variantIds: number[] = [];
  for (let n = 0; n < 2; n++) {
    const variant = await client.call<Variant>("POST", `/campaigns/${id}/variants`, {});
    variantIds.push(expectStatus(201, variant).body.data.id);
  }
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString();
  const schedule = () => client.call("POST", `/campaigns/${id}/schedule`, { scheduledAt });
  const refused = [await schedule(), await client.call("POST", `/campaigns/${id}/send`)];
  for (const { status, body } of refused)
    expect([status, body.error, body.details?.[0]?.path]).toEqual([
      400,
      "Variants A and B are equal: give them different subjects or templates",
      "variants",
    ]);
  const other = { subject: "Something else" };
  expectStatus(200, await client.call("PUT", `/campaigns/${id}/variants/${variantIds[0]}`, other));
  expectStatus(200, await schedule());
});

test("own fields with spaces, umlauts and hyphens are known to a campaign", async () => {
  const client = await shop();
  const customFields = { "Letzter Kauf": "2026-05-05", "größe-eu": 42 };
  const email = `ada-${crypto.randomUUID()}@example.com`;
  const contact = { email, firstName: "Ada", lists: [client.listId], customFields };
  expectStatus(201, await client.call("POST", "/contacts", contact));
  const html = (field: string) =>
    `<p>{{ customFields["Letzter Kauf"] }} {{ customFields['größe-eu'] }} {{ ${field} }}</p>`;
  const change = (body: object) => client.call("PUT", `/templates/${client.templateId}`, body);
  const { id } = await make(client, full(client));
  const unknownOf = async () => {
    const { body } = await client.call("POST", `/campaigns/${id}/preview`);
    return body.warnings?.find((text) => text.startsWith("No contact of the site"));
  };
  expectStatus(200, await change({ html: html("firstName") }));
  expect(await unknownOf()).toBeUndefined();
  expectStatus(200, await change({ html: html('customFields["Nie gehört"]') }));
  expect(await unknownOf()).toMatch(/: customFields\["Nie gehört"\]$/);
});
