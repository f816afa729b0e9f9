// Refused mail: each limit is tested at its value and one above. Refused mail is not stored.
import { beforeAll, describe, expect, test } from "vitest";
import { expectStatus, request, signedUp } from "../support/api-client.ts";
import {
  createSendingClient,
  isLocalService,
  listInbox,
  runUntilIdle,
  type SendingClient,
  uniqueAddresses,
} from "../support/sending-client.ts";

const isLocal = await isLocalService();
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const one = () => uniqueAddresses(1)[0]!;
/** Mail that does not go out while the tests run. */
const later = { scheduledAt: inDays(1) };

// All refused mail has this recipient, who must have no mail in the end.
const refusedAddress = one();
let refusing: SendingClient;
// A client makes at most 60 sends a minute.
let refusingSingles: SendingClient;
let accepting: SendingClient;
beforeAll(async () => {
  [refusing, refusingSingles, accepting] = await Promise.all([
    createSendingClient(),
    createSendingClient(),
    createSendingClient(),
  ]);
});

/** An object whose JSON has exactly this number of bytes. */
const object = (bytes: number) => ({ word: "x".repeat(bytes - '{"word":""}'.length) });
const file = (bytes: number) => ({
  filename: "a.bin",
  content: Buffer.alloc(bytes, 7).toString("base64"),
});
const files = (n: number) =>
  Array.from({ length: n }, (_, i) => ({ filename: `${i}.txt`, content: "aGVsbG8=" }));
const headers = (n: number) =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [`X-Header-${i}`, "value"]));
const createRecipients = (n: number) => uniqueAddresses(n).map((to) => ({ to }));
const MB = 1024 * 1024;

type Refusal = [what: string, fields: object, path: string];

const contentRefusals: Refusal[] = [
  ["a subject of more than one line", { subject: "Hello\r\nBcc: all@example.com" }, "subject"],
  ["a subject of 999 characters", { subject: "x".repeat(999) }, "subject"],
  ["an empty subject", { subject: "" }, "subject"],
  ["html of more than 1,000,000 characters", { html: "x".repeat(1_000_001) }, "html"],
  ["text of more than 1,000,000 characters", { text: "x".repeat(1_000_001) }, "text"],
  ["html without a subject", { subject: undefined }, "subject"],
  ["a subject without html or a template", { html: undefined }, "html"],
  ["neither content nor a template", { html: undefined, subject: undefined }, "templateId"],
  ["html that does not parse", { html: "<p>\n{{ name" }, "html"],
  ["a subject that does not parse", { subject: "{% if %}" }, "subject"],
  ["text that does not parse", { text: "{% nonsense %}" }, "text"],
  ["neither sender nor sending config", { sendingConfigId: undefined }, "fromEmail"],
  ["a sender that is no address", { fromEmail: "shop" }, "fromEmail"],
  ["a sender's name of more than one line", { fromName: "Shop\nBcc: all@example.com" }, "fromName"],
  ["a reply address with a second one", { replyTo: "a@example.com, b@example.com" }, "replyTo"],
  [
    "a header with a second line",
    { headers: { "X-One": "1\r\nBcc: all@example.com" } },
    "headers.X-One",
  ],
  [
    "a header name with a second line",
    { headers: { "X-One\r\nBcc": "all@example.com" } },
    "headers.X-One\r\nBcc",
  ],
  [
    "a header that only mail servers set",
    { headers: { "Resent-Bcc": "all@example.com" } },
    "headers.Resent-Bcc",
  ],
  [
    "a header of the format of the mail",
    { headers: { "Content-Disposition": "attachment" } },
    "headers.Content-Disposition",
  ],
  [
    "a header of the delivery",
    { headers: { "delivered-to": "all@example.com" } },
    "headers.delivered-to",
  ],
  ["a header that the service sets", { headers: { bCC: "all@example.com" } }, "headers.bCC"],
  ["21 headers", { headers: headers(21) }, "headers"],
  ["a header of 999 characters", { headers: { "X-One": "x".repeat(999) } }, "headers.X-One"],
  ["variables of more than 10,000 bytes", { variables: object(10_001) }, "variables"],
  ["variables that are no object", { variables: ["a"] }, "variables"],
  ["11 tags", { tags: Array(11).fill("tag") }, "tags"],
  ["a tag with other characters", { tags: ["two words"] }, "tags.0"],
  ["21 attachments", { attachments: files(21) }, "attachments"],
  [
    "an attachment that is not base64",
    { attachments: [{ filename: "a.txt", content: "not base64!" }] },
    "attachments.0.content",
  ],
  [
    "an attachment with truncated base64",
    { attachments: [{ filename: "a.txt", content: "aGVsbG8" }] },
    "attachments.0.content",
  ],
  [
    "an attachment with a path for a name",
    { attachments: [{ filename: "../a.txt", content: "aGVsbG8=" }] },
    "attachments.0.filename",
  ],
  [
    "an attachment's name of more than one line",
    { attachments: [{ filename: "a\r\nb", content: "" }] },
    "attachments.0.filename",
  ],
  [
    "an attachment with neither content nor upload",
    { attachments: [{ filename: "a.txt" }] },
    "attachments.0.content",
  ],
  [
    "an attachment with both",
    { attachments: [{ filename: "a.txt", content: "", uploadId: "x" }] },
    "attachments.0.content",
  ],
  [
    "an attachment with an invalid content type",
    { attachments: [{ filename: "a", type: "text", content: "" }] },
    "attachments.0.type",
  ],
  [
    "an unknown upload",
    { attachments: [{ filename: "a", uploadId: "nothing" }] },
    "attachments.0.uploadId",
  ],
  [
    "an image inside the HTML that is no image",
    { attachments: [{ filename: "a.txt", content: "aGVsbG8=", contentId: "a" }] },
    "attachments.0.contentId",
  ],
  [
    "two images with one content id",
    { attachments: ["a", "b"].map((filename) => ({ filename, content: "", contentId: "a" })) },
    "attachments",
  ],
  [
    "an upload without an id",
    { attachments: [{ filename: "a", uploadId: "" }] },
    "attachments.0.uploadId",
  ],
  ["a time that is not valid", { scheduledAt: "tomorrow" }, "scheduledAt"],
  ["a time without a zone", { scheduledAt: "2030-01-01T00:00:00" }, "scheduledAt"],
  ["a time more than 30 days ahead", { scheduledAt: inDays(31) }, "scheduledAt"],
  [
    "a passphrase for a mail that is not secure",
    { securePassphrase: "open sesame" },
    "securePassphrase",
  ],
  ["a tracking flag that is not a boolean", { trackOpens: "yes" }, "trackOpens"],
];

describe("the error names the field of", () => {
  test.each(contentRefusals)("%s", async (_, fields, path) => {
    const { status, body } = await refusing.sendBatch([{ to: refusedAddress }], fields);
    expect([status, body.details?.[0]?.path]).toEqual([400, path]);
    expect(body.error).toMatch(/\w/);
  });

  test.each<Refusal>([
    ["a recipient with a second line", { to: "a@example.com\r\nBcc: all@example.com" }, "to"],
    ["two recipients in one field", { to: "a@example.com, b@example.com" }, "to"],
    ["no recipient", { to: undefined }, "to"],
    ["an address of 255 characters", { to: `${"a".repeat(243)}@example.com` }, "to"],
    ["a recipient's name of more than one line", { toName: "Ada\nBcc: all@example.com" }, "toName"],
    [
      "metadata of more than 1,000 bytes",
      { metadata: { a: "x".repeat(500), b: "x".repeat(500) } },
      "metadata",
    ],
    [
      "metadata of 21 fields",
      { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [i, 1])) },
      "metadata",
    ],
    ["metadata within metadata", { metadata: { a: { b: 1 } } }, "metadata.a"],
    ["a number that cannot be stored", { metadata: { n: 2 ** 53 } }, "metadata.n"],
    [
      "a number too close to 0 to be stored",
      { variables: { order: [{ n: 5e-324 }] } },
      "variables.order.0.n",
    ],
    ["a template that is no id", { templateId: "one" }, "templateId"],
    ["a second recipient that is no address", { to: [refusedAddress, "x"] }, "to.1"],
    ["a cc that is no address", { cc: "x" }, "cc"],
    ["a named cc that is no address", { cc: [{ email: "x", name: "X" }] }, "cc.0.email"],
    ["a bcc whose name has a second line", { bcc: { email: one(), name: "A\nB" } }, "bcc.name"],
    ["51 addresses", { cc: uniqueAddresses(25), bcc: uniqueAddresses(25) }, "to"],
    ["a cc of a secure message", { cc: one(), secure: true }, "to"],
    ["11 addresses for replies", { replyTo: uniqueAddresses(11) }, "replyTo"],
    ["a known field in another spelling", { reply_to: one() }, "reply_to"],
    ["a field of other mail APIs", { from: "Shop <hello@shop.example>" }, "from"],
  ])("a single mail with %s", async (_, fields, path) => {
    const { status, body } = await refusingSingles.send({ to: refusedAddress, ...fields });
    expect([status, body.details?.[0]?.path]).toEqual([400, path]);
  });

  test("html that does not parse, with its line", async () => {
    const { body } = await refusing.send({
      to: refusedAddress,
      html: "<p>\n<b>\n{{ name | nonsense }}",
    });
    expect(body.error).toMatch(/^html is not valid Liquid \(line 3\)/);
  });

  test("a batch with a cc, and where it belongs", async () => {
    const { status, body } = await refusing.sendBatch([{ to: refusedAddress }], { cc: one() });
    expect([status, body.details?.[0]?.path]).toEqual([400, "cc"]);
    expect(body.error).toContain("POST /send has cc and bcc");
  });

  test.each([
    ["no recipients", []],
    ["recipients that are no list", { to: refusedAddress }],
    [
      "recipients that are all invalid",
      [{ to: "x" }, {}, { to: `${refusedAddress}\r\nBcc: all@example.com` }],
    ],
  ])("%s", async (_, recipients) => {
    const { status, body } = await refusing.sendBatch(recipients);
    expect([status, body.details?.[0]?.path]).toEqual([400, expect.stringMatching(/^recipients/)]);
  });
});

test("a recipient with a number that cannot be stored is refused alone", async () => {
  const poisoned = { to: refusedAddress, metadata: { n: 2 ** 53 } };
  const { status, body } = await refusing.sendBatch([poisoned]);
  expect([status, body.details?.[0]?.path]).toEqual([400, "recipients.0.metadata.n"]);
  const among = await accepting.sendBatch([{ to: one() }, poisoned], later);
  expect(among.body.data).toMatchObject({
    accepted: 1,
    rejected: 1,
    results: [
      { status: "scheduled" },
      { status: "rejected", error: expect.stringContaining("metadata.n") },
    ],
  });
});

test("too many recipients or attachments are limit_exceeded, with the field", async () => {
  const tooMany: [object, string][] = [
    [{ recipients: createRecipients(1001) }, "recipients"],
    [{ attachments: files(21) }, "attachments"],
  ];
  for (const [fields, path] of tooMany) {
    const { status, body } = await refusing.sendBatch([{ to: refusedAddress }], fields);
    expect([status, body.code, body.details?.[0]?.path]).toEqual([400, "limit_exceeded", path]);
  }
});

test("files over 10 MB, over 25 MB together, or over the provider's limit are refused", async () => {
  const tooBig = await refusing.send({ to: refusedAddress, attachments: [file(10 * MB + 1)] });
  expect([tooBig.status, tooBig.body.code, tooBig.body.details?.[0]?.path]).toEqual([
    400,
    "limit_exceeded",
    "attachments.0.content",
  ]);
  const tooMuch = await refusing.send({
    to: refusedAddress,
    attachments: [file(10 * MB), file(10 * MB), file(5 * MB + 1)],
  });
  expect([tooMuch.status, tooMuch.body.code, tooMuch.body.details?.[0]?.path]).toEqual([
    400,
    "limit_exceeded",
    "attachments",
  ]);
  // Postmark accepts 7,000,000 bytes.
  expect(
    (await accepting.send({ to: one(), ...later, attachments: [file(7_000_001)] })).status,
  ).toBe(400);
  expectStatus(202, await accepting.send({ to: one(), ...later, attachments: [file(6_999_990)] }));
  const upload = (size: number) =>
    refusing.call("POST", "/attachments", { filename: "a", type: "text/plain", size });
  expect([(await upload(10 * MB)).status, (await upload(10 * MB + 1)).status]).toEqual([201, 400]);
});

test("a body of 40 MB, one that is not a JSON object and one of another type are refused", async () => {
  const raw = async (body: string | Uint8Array<ArrayBuffer>, type = "application/json") => {
    const options = {
      raw: body,
      headers: { authorization: `Bearer ${refusing.apiKey}`, "content-type": type },
    };
    const { status, body: error } = await request("POST", "/send", {}, options);
    return [status, error.code];
  };
  expect(await raw(`{"to":"${refusedAddress}","html":"${"x".repeat(40 * MB)}"}`)).toEqual([
    413,
    "payload_too_large",
  ]);
  expect(await raw('{"to":')).toEqual([400, expect.any(String)]);
  expect(await raw("[]")).toEqual([400, "validation_failed"]);
  expect(await raw("null")).toEqual([400, expect.any(String)]);
  expect(await raw("to=a", "application/x-www-form-urlencoded")).toEqual([415, expect.any(String)]);
});

test("records of another organization and unknown ids are a 404", async () => {
  const other = await createSendingClient();
  const template = expectStatus(
    201,
    await other.call<{ id: number }>("POST", "/templates", { name: "T", subject: "s", html: "h" }),
  ).body.data;
  const foreign = [
    { templateId: template.id },
    { sendingConfigId: other.configId },
    { siteId: other.siteId },
    { templateId: 999_999_999 },
  ];
  for (const fields of foreign) {
    for (const answer of [
      await refusing.sendBatch([{ to: refusedAddress }], fields),
      await accepting.sendBatch([{ to: refusedAddress }], fields),
    ])
      expect([answer.status, answer.body.code], JSON.stringify(fields)).toEqual([404, "not_found"]);
  }
});

test("sending needs a valid key and a sending config", async () => {
  for (const as of ["anonymous", { key: "pm_live_wrong" }] as const) {
    const { status, body } = await refusing.sendBatch([{ to: refusedAddress }], {}, { as });
    expect([status, body.error]).toEqual([401, "Unauthorized"]);
  }
  const { call } = await signedUp();
  const none = await call("POST", "/send", {
    to: refusedAddress,
    fromEmail: "shop@pennymail.test",
    subject: "s",
    html: "h",
  });
  expect([none.status, none.body.code]).toEqual([400, "no_sending_config"]);
});

test("refused mail is not stored, listed or sent", async () => {
  expect(await refusing.sends()).toMatchObject({ sends: [], pagination: { total: 0 } });
  if (!isLocal) return;
  await runUntilIdle();
  expect(await refusing.sends()).toMatchObject({ sends: [], pagination: { total: 0 } });
  expect(await listInbox(refusedAddress)).toEqual([]);
});

test("values exactly at their limits are accepted", async () => {
  const at: object[] = [
    { subject: "x".repeat(998) },
    { html: "x".repeat(1_000_000) },
    { text: "x".repeat(1_000_000) },
    { headers: headers(20) },
    { headers: { "X-One": "x".repeat(998) } },
    { variables: object(10_000) },
    { tags: Array(10).fill("t".repeat(50)) },
    { attachments: files(20) },
    { scheduledAt: inDays(29.9) },
    { secure: false },
  ];
  for (const fields of at)
    expectStatus(202, await accepting.sendBatch(createRecipients(1), { ...later, ...fields }));
  expectStatus(
    202,
    await accepting.send({
      to: one(),
      ...later,
      metadata: { a: "x".repeat(485), b: "x".repeat(500) },
    }),
  );
  const { body } = expectStatus(202, await accepting.sendBatch(createRecipients(1000), later));
  expect(body.data).toMatchObject({ accepted: 1000, rejected: 0 });
});

test("invalid recipients of a batch are rejected alone, and results keep the order", async () => {
  const good = createRecipients(2);
  const bad = [
    { to: `${refusedAddress}\r\nBcc: all@example.com` },
    { to: 7 },
    { to: one(), variables: object(10_001) },
    { to: one(), toName: "two\nlines" },
    { to: one(), metadata: { a: [] } },
    { to: one(), trackOpens: "yes" },
    { to: good[0]!.to.toUpperCase() },
    { to: one(), name: "Ada" },
    { to: one(), substitutions: { name: "Ada" } },
    { to: one(), to_name: "Ada" },
    { to: one(), cc: one() },
  ];
  const { body } = expectStatus(202, await accepting.sendBatch([good[0], ...bad, good[1]], later));
  const { accepted, rejected, results } = body.data;
  expect([accepted, rejected]).toEqual([2, 11]);
  expect(results.map(({ status }) => status)).toEqual([
    "scheduled",
    ...bad.map(() => "rejected"),
    "scheduled",
  ]);
  expect(results.map(({ index }) => index)).toEqual(results.map((_, index) => index));
  expect(results.slice(8, 12).map(({ error }) => error)).toEqual([
    "name is unknown: use toName",
    "substitutions is unknown: use variables",
    "to_name is unknown: use toName",
    expect.stringMatching(/^cc is unknown: .* POST \/send has cc and bcc$/),
  ]);
  for (const { error } of results.slice(1, 8))
    expect(error).toMatch(/^(to|variables|toName|metadata|metadata\.a|trackOpens): |^duplicate$/);
});

test("a warning names variables of inline html that have no value", async () => {
  const fields = {
    subject: "{{ greeting }} {{ email }}",
    html: "{{ order.total }} {{ tip | default: 0 }} {% if vip %}!{% endif %}",
  };
  const readWarnings = async (variables: object) =>
    expectStatus(202, await accepting.send({ to: one(), ...later, ...fields, variables })).body
      .warnings ?? [];
  expect(await readWarnings({})).toContainEqual(
    expect.stringMatching(/have no value: greeting, order.total$/),
  );
  expect((await readWarnings({ greeting: "Hi", order: { total: 1 } })).join()).not.toContain(
    "without a value",
  );
});

test("a warning names the variable name without toName, but never the variable email", async () => {
  const fields = {
    subject: "{{ name }} {{ email }}",
    html: "{% for one in items %}{{ one.title }}{% endfor %}{{ items.size }}{{ a[b].c }}",
  };
  const readWarnings = async (more: object) => {
    const variables = { items: [], a: {}, b: 1 };
    return (
      expectStatus(
        202,
        await accepting.send({ to: one(), ...later, ...fields, variables, ...more }),
      ).body.warnings ?? []
    ).join();
  };
  expect(await readWarnings({})).toMatch(/have no value: name$/);
  for (const more of [{ toName: "Ada" }, { variables: { name: "Ada", items: [], a: {}, b: 1 } }])
    expect(await readWarnings(more)).not.toContain("without a value");
  const recipients = [{ to: one(), toName: "Ada" }, { to: one() }];
  const batch = await accepting.sendBatch(recipients, {
    ...later,
    ...fields,
    variables: { items: [], a: {}, b: 1 },
  });
  expect(expectStatus(202, batch).body.warnings?.join()).toMatch(/have no value: name$/);
});

test("missing variables, unknown fields and an unverified sender are only warnings", async () => {
  const { body: made } = await accepting.call<{ id: number }>("POST", "/templates", {
    name: "T",
    subject: "For {{ firstName }}",
    html: "{{ order.total }} {{ order.id }} {{ code }} {{ tip | default: 0 }} {% if vip %}!{% endif %}",
  });
  const { warnings } = expectStatus(
    202,
    await accepting.sendBatch([{ to: one(), variables: { code: 1 } }, { to: one() }], {
      ...later,
      templateId: made.data.id,
      subject: undefined,
      html: undefined,
      variables: { order: { id: 1 } },
      colour: "red",
    }),
  ).body;
  expect(warnings).toEqual(
    expect.arrayContaining([
      expect.stringContaining("colour"),
      expect.stringMatching(/not verified/),
      expect.stringMatching(/have no value: firstName, order.total, code$/),
    ]),
  );
});
