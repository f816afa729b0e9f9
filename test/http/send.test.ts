import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { expectStatus, signedUp } from "../support/api-client.ts";
import {
  type AcceptedSend,
  createSendingClient,
  downloadBytes,
  fromEmail,
  isLocalService,
  type ListedSend,
  listInbox,
  runUntilIdle,
  type SendingClient,
  type SendPage,
  uniqueAddresses,
} from "../support/sending-client.ts";

const isLocal = await isLocalService();
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const one = () => uniqueAddresses(1)[0]!;
const ended = ["sent", "delivered"];

/** For tests that only create sends. */
let from: SendingClient;
beforeAll(async () => {
  from = await createSendingClient();
});

test("a list of mails is accepted one by one, and a repeated request sends none again", async () => {
  const [first, second, third] = uniqueAddresses(3);
  const content = { sendingConfigId: from.configId, subject: "Order", html: "<p>Order</p>" };
  const body = {
    messages: [
      { ...content, to: first, subject: "Order 1" },
      { ...content, to: "nobody" },
      { ...content, to: second, subject: "Order 2", scheduledAt: inDays(1) },
      { ...content, to: third, templateId: 999_999_999 },
    ],
  };
  const headers = { "idempotency-key": randomBytes(8).toString("hex") };
  const post = async () =>
    expectStatus(202, await from.call("POST", "/send/messages", body, { headers })).body.data;
  const sent = await post();
  expect(sent).toMatchObject({
    accepted: 2,
    rejected: 2,
    results: [
      { index: 0, status: "queued", error: null },
      { index: 1, id: null, status: "rejected", error: expect.stringMatching(/^to: /) },
      { index: 2, status: "scheduled", error: null },
      { index: 3, id: null, status: "rejected", error: expect.stringContaining("emplate") },
    ],
  });
  expect(await post()).toEqual(sent);
  if (!isLocal) return;
  await runUntilIdle();
  expect((await listInbox(first!)).map(({ subject }) => subject)).toEqual(["Order 1"]);
});

test("a mail of a list for a site that the key cannot access is rejected alone", async () => {
  const client = await createSendingClient();
  const other = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/sites", { name: "Other" }),
  ).body.data;
  const bound = await client.newKey({ siteId: client.siteId });
  const content = { sendingConfigId: client.configId, subject: "Order", html: "<p>Order</p>" };
  const later = { ...content, scheduledAt: inDays(1) };
  const messages = [
    { ...later, to: one() },
    { ...later, to: one(), siteId: other.id },
  ];
  const options = { as: { key: bound }, headers: { "idempotency-key": "list" } };
  for (let tries = 0; tries < 2; tries++) {
    const answer = await client.call("POST", "/send/messages", { messages }, options);
    expect(expectStatus(202, answer).body.data).toMatchObject({
      accepted: 1,
      results: [{ status: "scheduled" }, { status: "rejected", error: expect.any(String) }],
    });
  }
  const { body } = await client.call<SendPage>("GET", "/sends");
  expect(body.data.sends).toHaveLength(1);
});

test("a list without a valid mail is refused with the field", async () => {
  const answer = await from.call("POST", "/send/messages", { messages: [{ to: one() }] });
  expect(answer.status).toBe(400);
  expect(answer.body.details?.[0]?.path).toBe("messages.0.templateId");
});

test("a mail to several addresses shows them to each other, but not the blind copies", async () => {
  const [to, also, cc, bcc] = uniqueAddresses(4);
  const sent = expectStatus(
    202,
    await from.send({
      to: [{ email: to, name: "Ada" }, also],
      cc: [cc],
      bcc,
      replyTo: ["help@shop.example", "sales@shop.example"],
      subject: "Minutes for {{ name }}",
      html: "<p>Minutes</p>",
    }),
  );
  expect(sent.body.warnings).toEqual([expect.stringContaining("not verified")]);
  expect(await row(from, sent.body.data.id)).toMatchObject({
    toEmail: to,
    subject: "Minutes for Ada",
  });
  if (!isLocal) return;
  await runUntilIdle();
  const mails = await Promise.all([to, also, cc, bcc].map((email) => listInbox(email!)));
  expect(mails.map(([mail]) => [mail?.subject, mail?.copy])).toEqual(
    [null, null, "cc", "bcc"].map((copy) => ["Minutes for Ada", copy]),
  );
});

const row = async ({ call }: SendingClient, id: number) =>
  expectStatus(200, await call<ListedSend>("GET", `/sends/${id}`)).body.data;

test("a mail is accepted at once, and can be read before and after it is sent", async () => {
  const to = one();
  const sent = expectStatus(
    202,
    await from.send({
      to,
      toName: "Ada",
      subject: "Hi {{ name }}",
      html: "<p>Hi {{ name }} &amp; {{ more }}</p>",
      variables: { more: "<you>" },
    }),
  );
  expect(sent.body).toEqual({
    data: { id: expect.any(Number), status: "queued" },
    warnings: [expect.stringContaining("not verified")],
  });
  const { id } = sent.body.data;
  const first = await row(from, id);
  expect(first).toMatchObject({
    id,
    siteId: from.siteId,
    toEmail: to,
    fromEmail,
    fromName: "Shop",
    subject: "Hi Ada",
    sendingConfigId: from.configId,
    batchId: null,
    provider: "postmark",
  });
  expect(["queued", "sending", ...ended]).toContain(first.status);
  if (!isLocal) return;
  await runUntilIdle();
  expect(ended).toContain((await row(from, id)).status);
  expect(await listInbox(to)).toMatchObject([
    {
      subject: "Hi Ada",
      html: "<p>Hi Ada &amp; &lt;you&gt;</p>",
      text: "Hi Ada & <you>",
      from: { email: fromEmail, name: "Shop" },
    },
  ]);
});

test("fromEmail selects the sending config with the address, or a verified one of its domain", async () => {
  const to = one();
  expectStatus(
    202,
    await from.send({
      to,
      sendingConfigId: undefined,
      fromEmail: "SHOP@pennymail.test",
      fromName: "Other",
    }),
  );
  const other = await from.send({
    to,
    sendingConfigId: undefined,
    fromEmail: "else@pennymail.test",
  });
  expect([other.status, other.body.code]).toEqual([400, "no_sending_config"]);
  if (!isLocal) return;
  await runUntilIdle();
  expect(await listInbox(to)).toMatchObject([
    { from: { email: "SHOP@pennymail.test", name: "Other" } },
  ]);
});

test("a batch sends each recipient a separate mail and is listed by its id", async () => {
  const [ada, bob] = uniqueAddresses(2);
  const recipients = [
    { to: ada, toName: "Ada", variables: { code: 1 } },
    { email: bob, variables: { code: 2 } },
    { to: ada },
    { to: "not an address" },
  ];
  const { body, status } = await from.sendBatch(recipients, {
    subject: "{{ code }}",
    html: "<p>{{ name | default: 'you' }}</p>",
  });
  expect(status).toBe(202);
  expect(body.data).toMatchObject({ accepted: 2, rejected: 2 });
  expect(body.data.results).toMatchObject([
    { index: 0, to: ada, status: "queued", error: null },
    { index: 1, to: bob, status: "queued", error: null },
    { index: 2, to: ada, id: null, status: "rejected", error: "duplicate" },
    {
      index: 3,
      to: "not an address",
      id: null,
      status: "rejected",
      error: "to: must be one valid email address",
    },
  ]);
  const listed = await from.sends(`?batchId=${body.data.batchId}`);
  expect(listed.sends.map(({ id }) => id)).toEqual(
    body.data.results.slice(0, 2).map(({ id }) => id),
  );
  expect(listed.sends.map(({ subject }) => subject)).toEqual(["1", "2"]);
  if (!isLocal) return;
  await runUntilIdle();
  expect((await listInbox(ada!)).map(({ text }) => text)).toEqual(["Ada"]);
  expect((await listInbox(bob!)).map(({ text }) => text)).toEqual(["you"]);
});

test.runIf(isLocal)("uploaded and inline attachments arrive unchanged with each mail", async () => {
  const [uploaded, inline] = [randomBytes(300_000), randomBytes(1000)];
  const uploadRequest = { filename: "big.pdf", type: "application/pdf", size: uploaded.length };
  const place = expectStatus(
    201,
    await from.call<{ uploadId: string; uploadUrl: string }>("POST", "/attachments", uploadRequest),
  ).body.data;
  const [ada, bob] = uniqueAddresses(2);
  const attachments = [
    { filename: "a.txt", content: inline.toString("base64") },
    { filename: "renamed.pdf", uploadId: place.uploadId },
  ];
  const early = await from.sendBatch([{ to: ada }], { attachments });
  expect([early.status, early.body.details?.[0]?.path]).toEqual([400, "attachments.1.uploadId"]);
  const put = await fetch(place.uploadUrl, {
    method: "PUT",
    headers: { "content-type": "application/pdf" },
    body: uploaded,
  });
  expect(put.status).toBe(200);
  const other = expectStatus(
    201,
    await from.call<typeof place>("POST", "/attachments", { ...uploadRequest, size: 10 }),
  ).body.data;
  await fetch(other.uploadUrl, {
    method: "PUT",
    headers: { "content-type": "application/pdf" },
    body: uploaded,
  });
  const refused = await from.send({
    to: ada,
    attachments: [{ filename: "a.pdf", uploadId: other.uploadId }],
  });
  expect([refused.status, refused.body.details?.[0]?.path]).toEqual([
    400,
    "attachments.0.uploadId",
  ]);
  expectStatus(202, await from.sendBatch([{ to: ada }, { to: bob }], { attachments }));
  await runUntilIdle();
  for (const email of [ada!, bob!]) {
    const [mail] = await listInbox(email);
    expect(mail!.attachments.map(({ filename }) => filename)).toEqual(["a.txt", "renamed.pdf"]);
    const [a, b] = await Promise.all(mail!.attachments.map(({ url }) => downloadBytes(url)));
    expect([a!.equals(inline), b!.equals(uploaded)]).toEqual([true, true]);
  }
});

test("an upload of another organization cannot be sent", async () => {
  const other = await signedUp();
  const { body } = await other.call<{ uploadId: string }>("POST", "/attachments", {
    filename: "a.pdf",
    type: "application/pdf",
    size: 10,
  });
  const refused = await from.send({
    to: one(),
    attachments: [{ filename: "a.pdf", uploadId: body.data.uploadId }],
  });
  expect([refused.status, refused.body.details?.[0]?.path]).toEqual([
    400,
    "attachments.0.uploadId",
  ]);
});

test("a send to a suppressed address fails and is not mailed", async () => {
  const [suppressed, ok] = uniqueAddresses(2);
  expectStatus(201, await from.call("POST", "/suppressions", { email: suppressed }));
  const { data: single, warnings } = expectStatus(
    202,
    await from.send({ to: suppressed!.toUpperCase() }),
  ).body;
  expect(single.status).toBe("failed");
  expect(warnings).toEqual([expect.stringContaining("is suppressed")]);
  expect(await row(from, single.id)).toMatchObject({ status: "failed", error: "suppressed" });
  const batch = expectStatus(202, await from.sendBatch([{ to: suppressed }, { to: ok }])).body.data;
  expect(batch).toMatchObject({
    accepted: 1,
    rejected: 1,
    results: [{ status: "failed", error: "suppressed" }, { status: "queued" }],
  });
  if (!isLocal) return;
  await runUntilIdle();
  expect(await listInbox(suppressed!)).toEqual([]);
  expect(await listInbox(ok!)).toHaveLength(1);
});

test("scheduled mail waits and can be cancelled until it is sent", async () => {
  const [a, b, c] = uniqueAddresses(3);
  const scheduledAt = inDays(29);
  const single = expectStatus(202, await from.send({ to: a, scheduledAt })).body.data;
  const batch = expectStatus(202, await from.sendBatch([{ to: b }, { to: c }], { scheduledAt }))
    .body.data;
  expect([single.status, ...batch.results.map(({ status }) => status)]).toEqual([
    "scheduled",
    "scheduled",
    "scheduled",
  ]);
  const line = batch.results[0]!.id!;
  for (const id of [single.id, line]) {
    expect(await row(from, id)).toMatchObject({ status: "scheduled", scheduledAt });
    expect(
      expectStatus(200, await from.call<ListedSend>("POST", `/sends/${id}/cancel`)).body.data,
    ).toMatchObject({
      id,
      status: "cancelled",
    });
    expect((await from.call("POST", `/sends/${id}/cancel`)).status).toBe(409);
    expect((await row(from, id)).status).toBe("cancelled");
  }
  expect((await row(from, batch.results[1]!.id!)).status).toBe("scheduled");
  const past = expectStatus(202, await from.send({ to: one(), scheduledAt: inDays(-1) })).body.data;
  expect(past.status).toBe("queued");
  if (isLocal) await runUntilIdle();
  expect((await from.call("POST", `/sends/${past.id}/cancel`)).status).toBe(409);
});

test("the same Idempotency-Key and body send once; another body is refused", async () => {
  const to = one();
  const key = { headers: { "idempotency-key": crypto.randomUUID() } };
  const first = expectStatus(202, await from.send({ to }, key));
  const again = expectStatus(202, await from.send({ to }, key));
  expect(again.body).toEqual(first.body);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(first.headers.get("idempotent-replayed")).toBeNull();
  expect((await from.send({ to, subject: "Other" }, key)).body.code).toBe("idempotency_mismatch");
  const batchKey = { headers: { "idempotency-key": crypto.randomUUID() } };
  const newContacts = uniqueAddresses(3).map((email) => ({ email }));
  const answers = await Promise.all(
    [1, 2, 3, 4].map(() => from.sendBatch(newContacts, {}, batchKey)),
  );
  expect(new Set(answers.map(({ status }) => status)).difference(new Set([202, 409])).size).toBe(0);
  const accepted = answers.filter(({ status }) => status === 202);
  expect(new Set(accepted.map(({ body }) => body.data.batchId)).size).toBe(1);
  if (!isLocal) return;
  await runUntilIdle();
  expect(await listInbox(to)).toHaveLength(1);
  expect(await listInbox(newContacts[0]!.email)).toHaveLength(1);
});

test("GET /sends lists each send once, by page or cursor, while others are sent", async () => {
  const client = await createSendingClient();
  const before = expectStatus(
    202,
    await client.sendBatch(uniqueAddresses(130).map((to) => ({ to }))),
  ).body.data.results.map(({ id }) => id!);
  before.push(expectStatus(202, await client.send({ to: one() })).body.data.id);
  const sending = Promise.all(uniqueAddresses(8).map((to) => client.send({ to })));
  const seen: number[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: SendPage = await client.sends(`?limit=17${cursor && `&cursor=${cursor}`}`);
    seen.push(...page.sends.map(({ id }) => id));
    cursor = page.pagination.nextCursor;
  }
  const after = (await sending).map((answer) => expectStatus(202, answer).body.data.id);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.filter((id) => before.includes(id)).sort()).toEqual(before.sort());
  const pages = await Promise.all([1, 2, 3].map((page) => client.sends(`?limit=50&page=${page}`)));
  expect(pages.map(({ pagination }) => pagination.total)).toEqual([139, 139, 139]);
  expect(pages.flatMap(({ sends }) => sends.map(({ id }) => id)).sort()).toEqual(
    [...before, ...after].sort(),
  );
  expect(pages[2]!.pagination.nextCursor).toBeNull();
});

test("GET /sends filters by status, batch, site and address", async () => {
  const client = await createSendingClient();
  const { batchId, results } = expectStatus(
    202,
    await client.sendBatch([{ to: one() }, { to: one() }], { scheduledAt: inDays(1) }),
  ).body.data;
  const single = expectStatus(202, await client.send({ to: one(), scheduledAt: inDays(1) })).body
    .data;
  expectStatus(200, await client.call("POST", `/sends/${single.id}/cancel`));
  const other = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/sites", { name: "Other" }),
  ).body.data;
  const elsewhere = expectStatus(
    202,
    await client.send({ to: one(), siteId: other.id, scheduledAt: inDays(1) }),
  ).body.data;
  const ids = async (query: string) => (await client.sends(query)).sends.map(({ id }) => id).sort();
  const lines = results.map(({ id }) => id!);
  expect(await ids("?status=cancelled")).toEqual([single.id]);
  expect(await ids(`?batchId=${batchId}`)).toEqual(lines.sort());
  expect(await ids(`?siteId=${other.id}`)).toEqual([elsewhere.id]);
  expect(await ids(`?siteId=${client.siteId}&status=scheduled`)).toEqual(lines.sort());
  expect((await client.sends("")).pagination.total).toBe(4);
  expect((await client.sends(`?siteId=${other.id}`)).pagination.total).toBe(1);
  expect((await client.sends("?status=scheduled")).pagination.total).toBeNull();
  expect(await ids("?campaignId=1")).toEqual([]);
  const address = results[1]!.to;
  expect(await ids(`?toEmail=${address.toUpperCase()}`)).toEqual([results[1]!.id]);
  expect(await ids(`?toEmail=${address}&status=cancelled`)).toEqual([]);
  expect(await ids(`?toEmail=x${address}`)).toEqual([]);
  expect(await ids(`?email=${address.toUpperCase()}`)).toEqual([results[1]!.id]);
  expect(await ids(`?email=${address}&status=cancelled`)).toEqual([]);
  expect(await ids(`?email=${address}&from=${inDays(1)}`)).toEqual([]);
  expect(await ids(`?email=${address}&to=${inDays(1)}`)).toEqual([results[1]!.id]);
});

test("GET /sends refuses unsupported filters", async () => {
  const client = await createSendingClient();
  for (const query of [
    "?status=lost",
    "?limit=101",
    "?limit=0",
    "?page=0",
    "?page=101&limit=100",
    "?cursor=!",
    "?siteId=x",
    "?batchId=-1",
    "?toEmail=ada",
    "?email=ada",
    "?from=yesterday",
    "?to=2026",
    "?subject=",
    "?tag=two words",
  ])
    expect((await client.call("GET", `/sends${query}`)).status, query).toBe(400);
  expect((await client.call("GET", "/sends?siteId=999999999")).status).toBe(404);
  for (const id of ["x", "0", "999999999999", "1.5"])
    expect((await client.call("GET", `/sends/${id}`)).status, id).toBe(404);
});

test("another organization sees no sends, and an API key of a site only those of its site", async () => {
  const sent = expectStatus(202, await from.send({ to: one(), scheduledAt: inDays(1) })).body.data;
  const stranger = await signedUp();
  expect((await stranger.call("GET", `/sends/${sent.id}`)).status).toBe(404);
  expect((await stranger.call("POST", `/sends/${sent.id}/cancel`)).status).toBe(404);
  const client = await createSendingClient();
  const other = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/sites", { name: "Other" }),
  ).body.data;
  const siteSends = expectStatus(
    202,
    await client.send({ to: one(), siteId: client.siteId, scheduledAt: inDays(1) }),
  ).body.data;
  const bound = { as: { key: await client.newKey({ siteId: other.id }) } };
  expect((await client.send({ to: one(), siteId: client.siteId }, bound)).body.code).toBe(
    "site_forbidden",
  );
  const own = expectStatus(202, await client.send({ to: one(), scheduledAt: inDays(1) }, bound))
    .body.data;
  expect((await client.call("GET", `/sends/${siteSends.id}`, undefined, bound)).status).toBe(403);
  const listed = expectStatus(200, await client.call<SendPage>("GET", "/sends", undefined, bound))
    .body.data;
  expect(listed.sends).toMatchObject([{ id: own.id, siteId: other.id }]);
  expect((await client.send({ to: one() })).status).toBe(400);
  const reader = { as: { key: await client.newKey({ scopes: ["send:read"] }) } };
  expect((await client.send({ to: one(), siteId: other.id }, reader)).body.code).toBe(
    "scope_missing",
  );
});

test.runIf(isLocal)(
  "a refused mail fails with the provider's error; a delayed one is sent in the end",
  async () => {
    const rejected = `rejected+${crypto.randomUUID()}@simulator.pennymail.test`;
    const flaky = `flaky+429${crypto.randomUUID()}@simulator.pennymail.test`;
    const single = expectStatus(202, await from.send({ to: rejected })).body.data as AcceptedSend;
    const batch = expectStatus(
      202,
      await from.sendBatch([{ to: rejected }, { to: flaky }, { to: one() }]),
    ).body.data;
    await runUntilIdle();
    for (const id of [single.id, batch.results[0]!.id!]) {
      const { status, error } = await row(from, id);
      expect([status, error]).toEqual(["failed", expect.stringMatching(/\w/)]);
    }
    for (const { id } of batch.results.slice(1))
      expect(ended).toContain((await row(from, id!)).status);
    expect(await listInbox(flaky)).toHaveLength(1);
  },
);

test("UTM parameters and preview text change the HTML of a send and of a batch", async () => {
  if (!isLocal) return;
  const [ada, bob] = uniqueAddresses(2);
  const content = {
    html: '<a href="https://shop.example/{{ page }}">Shop</a>',
    utm: { campaign: "welcome" },
    previewText: "Hello {{ page }}",
  };
  expectStatus(202, await from.send({ ...content, to: ada, variables: { page: "a" } }));
  const recipients = [{ to: bob, variables: { page: "b" } }];
  expectStatus(202, await from.sendBatch(recipients, content));
  await runUntilIdle();
  const query = "utm_source=email&amp;utm_medium=email&amp;utm_campaign=welcome";
  for (const [to = "", page] of [
    [ada, "a"],
    [bob, "b"],
  ]) {
    const [mail] = await listInbox(to);
    expect(mail!.html).toContain(`href="https://shop.example/${page}?${query}"`);
    expect(mail!.html).toContain(`>Hello ${page}&#847;`);
    expect(mail!.text).toMatch(/^Shop \[https:/);
  }
});

test("a strict send or batch is refused with the name of the missing variable", async () => {
  const [ada, bob] = uniqueAddresses(2);
  const content = {
    strict: true,
    subject: "Hi {{ code }}",
    html: "<p>{{ code }} {{ email }} {{ name | default: 'you' }}</p>",
  };
  const refused = {
    status: 400,
    body: {
      code: "variables_missing",
      error: "These variables have no value: code",
      details: [{ path: "variables.code", message: "has no value" }],
    },
  };
  expect(await from.send({ ...content, to: ada })).toMatchObject(refused);
  const recipients = [{ to: ada, variables: { code: 1 } }, { to: bob }];
  expect(await from.sendBatch(recipients, content)).toMatchObject(refused);
  const batch = { sendingConfigId: from.configId, ...content, recipients };
  expect(await from.call("POST", "/send/batch/preview", batch)).toMatchObject(refused);
  expect((await from.sends(`?toEmail=${ada}`)).sends).toEqual([]);
  expectStatus(202, await from.sendBatch(recipients, { ...content, variables: { code: 2 } }));
  expectStatus(202, await from.send({ ...content, to: ada, variables: { code: null } }));
});
