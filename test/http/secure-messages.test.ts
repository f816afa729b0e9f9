import { beforeAll, expect, inject, test } from "vitest";
import { expectStatus, request, signedUp } from "../support/api-client.ts";
import {
  type AcceptedSend,
  createSendingClient,
  isLocalService,
  listInbox,
  runUntilIdle,
  type SendingClient,
  uniqueAddresses,
} from "../support/sending-client.ts";

const isLocal = await isLocalService();
const secret = "the code of the safe is 4711";
const one = () => uniqueAddresses(1)[0]!;

interface Message {
  id: number;
  sendId: number;
  siteId: number;
  toEmail: string;
  subject: string;
  status: string;
  hasPassphrase: boolean;
  viewCount: number;
  firstViewedAt: string | null;
  expiresAt: string;
  createdAt: string;
}
interface Page {
  secureMessages: Message[];
  pagination: { total: number; nextCursor: string | null };
}

let from: SendingClient;
beforeAll(async () => {
  from = await createSendingClient();
});
const row = async (id: number, { call } = from) =>
  expectStatus(200, await call<Message>("GET", `/secure-messages/${id}`)).body.data;
const revoke = (id: number) => from.call<Message>("POST", `/secure-messages/${id}/revoke`);

async function visit(
  path: string,
  form?: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const sent = form && { method: "POST", body: new URLSearchParams(form) };
  const response = await fetch(`${inject("baseUrl")}${path}`, { ...sent, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The path of the link in the notice. */
async function delivered(
  fields: object,
): Promise<{ id: number; to: string; path: string; html: string; text: string }> {
  const to = one();
  const { id } = expectStatus(
    202,
    await from.send({
      to,
      subject: "Your papers",
      html: `<p>${secret}</p>`,
      secure: true,
      ...fields,
    }),
  ).body.data;
  await runUntilIdle();
  const [mail] = await listInbox(to);
  const [, path = ""] = /(\/secure\/[\w-]+)/.exec(mail!.text!) ?? [];
  return { id, to, path, html: mail!.html!, text: mail!.text! };
}

test.runIf(isLocal)(
  "the recipient gets a notice with a link and only the subject of the message",
  async () => {
    const { id, to, html, text, path } = await delivered({
      subject: "For {{ name }}",
      html: "<p>{{ pin }}</p>",
      variables: { name: "Ada", pin: "0815-pin" },
    });
    expect(html).toContain(`${inject("baseUrl")}${path}"`);
    for (const part of [html, text]) expect(part).not.toContain("0815-pin");
    expect(await row(id)).toEqual({
      id,
      sendId: id,
      updatedAt: expect.any(String),
      siteId: from.siteId,
      toEmail: to,
      subject: "For Ada",
      status: "active",
      hasPassphrase: false,
      attachmentCount: 0,
      viewCount: 0,
      firstViewedAt: null,
      lastViewedAt: null,
      revokedAt: null,
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
    });
    const { createdAt, expiresAt } = await row(id);
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(30 * 86_400_000);
    const send = expectStatus(
      200,
      await from.call<{ secure: boolean; subject: string }>("GET", `/sends/${id}`),
    ).body.data;
    expect(send).toMatchObject({ secure: true, subject: "For Ada" });
    expect((await listInbox(to))[0]!.subject).toBe("For Ada");
  },
);

test.runIf(isLocal)(
  "GET of the page shows and counts nothing; its button shows the message and counts a view",
  async () => {
    const { id, path } = await delivered({});
    for (let i = 0; i < 3; i++) {
      const { status, text } = await visit(path);
      expect(status).toBe(200);
      expect(text).toContain("Show the message");
      expect(text).not.toContain(secret);
    }
    expect(await row(id)).toMatchObject({ viewCount: 0, firstViewedAt: null });
    for (let i = 0; i < 2; i++) expect((await visit(path, {})).text).toContain(secret);
    expect(await row(id)).toMatchObject({
      viewCount: 2,
      firstViewedAt: expect.any(String),
      status: "active",
    });
  },
);

test.runIf(isLocal)(
  "neither page runs scripts, is cached or framed, or sends a referrer",
  async () => {
    const { path } = await delivered({
      html: '<script>alert(1)</script><p onclick="alert(2)">hi</p>',
    });
    for (const { headers, text } of [await visit(path), await visit(path, {})]) {
      const policy = headers.get("content-security-policy")!;
      for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"])
        expect(policy).toContain(rule);
      expect(policy).not.toContain("script-src");
      expect([
        headers.get("referrer-policy"),
        headers.get("cache-control"),
        headers.get("x-frame-options"),
      ]).toEqual(["no-referrer", "no-store", "DENY"]);
      expect(text).not.toContain("<script");
    }
    const [, sandbox] = /<iframe [^>]*sandbox="([^"]*)"/.exec((await visit(path, {})).text)!;
    expect(sandbox).toBe("allow-popups allow-popups-to-escape-sandbox");
  },
);

test.runIf(isLocal)("a message is revoked once and is then unreadable", async () => {
  const { id, path } = await delivered({});
  expect(await revoke(id)).toMatchObject({
    status: 200,
    body: { data: { id, status: "revoked", revokedAt: expect.any(String) } },
  });
  for (const { status, text } of [await visit(path), await visit(path, {})]) {
    expect(status).toBe(410);
    for (const word of [secret, "Your papers", "Shop"]) expect(text).not.toContain(word);
  }
  expect(await revoke(id)).toMatchObject({ status: 409, body: { code: "already_revoked" } });
  expect(await row(id)).toMatchObject({ status: "revoked", viewCount: 0 });
});

test.runIf(isLocal)("a message with a passphrase asks for it, five times an hour", async () => {
  const { id, path, text } = await delivered({ securePassphrase: "open sesame" });
  expect(text).toContain("passphrase");
  expect(await row(id)).toMatchObject({ hasPassphrase: true });
  expect((await visit(path)).text).toContain('type="password"');
  const right = await visit(path, { passphrase: "open sesame" });
  expect([right.status, right.text.includes(secret)]).toEqual([200, true]);
  for (let i = 0; i < 5; i++) {
    const { status, text } = await visit(path, { passphrase: `guess ${i}` });
    expect([status, text.includes(secret), text.includes('role="alert"')]).toEqual([
      400,
      false,
      true,
    ]);
  }
  const shut = await visit(path, { passphrase: "open sesame" });
  expect([shut.status, shut.text.includes(secret)]).toEqual([429, false]);
  expect(await row(id)).toMatchObject({ viewCount: 1 });
});

test("an invalid link shows an error page", async () => {
  for (const token of ["made-up", "a".repeat(107), "%F0"]) {
    const { status } = await visit(`/secure/${token}`);
    expect([token, status]).toEqual([token, 404]);
  }
  expect((await visit("/secure/made-up", {})).status).toBe(404);
  expect((await visit("/secure/made-up", undefined, { "accept-language": "de" })).text).toContain(
    "Dieser Link funktioniert nicht",
  );
});

test.runIf(isLocal)(
  "a batch creates a message for each recipient, in the language of the message",
  async () => {
    const [ada, bob] = uniqueAddresses(2);
    const recipients = [
      { to: ada, variables: { pin: "pin of Ada" } },
      { to: bob, variables: { pin: "pin of Bob" } },
      { to: "nobody" },
    ];
    const html = '<html lang="de"><body>{{ pin }}</body></html>';
    const batch = expectStatus(
      202,
      await from.sendBatch(recipients, { html, secure: true, secureExpiresInDays: 365 }),
    ).body.data;
    expect([batch.accepted, batch.rejected]).toEqual([2, 1]);
    await runUntilIdle();
    for (const [to, ownMessage, otherMessages] of [
      [ada, "pin of Ada", "pin of Bob"],
      [bob, "pin of Bob", "pin of Ada"],
    ]) {
      const [mail] = await listInbox(to!);
      expect(mail!.text).toContain("hat Ihnen eine geschützte Nachricht geschickt");
      const { text } = await visit(/\/secure\/[\w-]+/.exec(mail!.text!)![0], {});
      expect([text.includes(ownMessage!), text.includes(otherMessages!)]).toEqual([true, false]);
    }
  },
);

test.runIf(isLocal)(
  "files are downloaded from the page, until the message is revoked",
  async () => {
    const filename = 'Verträge "2026".pdf';
    const { id, path, html, text } = await delivered({
      securePassphrase: "open sesame",
      attachments: [
        { filename, content: Buffer.from(secret).toString("base64") },
        { filename: "notes.txt", content: "YQ==" },
      ],
    });
    for (const part of [html, text]) expect(part).not.toContain("Vertr");
    expect(await row(id)).toMatchObject({ attachmentCount: 2 });
    expect((await visit(path)).text).not.toContain("Vertr");
    const page = (await visit(path, { passphrase: "open sesame" })).text;
    const links = [...page.matchAll(/href="[^"]*(\/secure\/files\/[\w-]+)"/g)].map(
      ([, link]) => link!,
    );
    expect(links).toHaveLength(2);
    const download = (link: string) => fetch(inject("baseUrl") + link);
    const file = await download(links[0]!);
    expect([file.status, await file.text()]).toEqual([200, secret]);
    expect(Object.fromEntries(file.headers)).toMatchObject({
      "content-type": "application/pdf",
      "content-disposition":
        'attachment; filename="Vertr_ge _2026_.pdf"; ' +
        "filename*=UTF-8''Vertr%C3%A4ge%20%222026%22.pdf",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    expect((await download("/secure/files/made-up")).status).toBe(404);
    expect((await download(links[0]!.slice(0, -2))).status).toBe(404);
    expectStatus(200, await from.call("POST", `/secure-messages/${id}/revoke`));
    const gone = await download(links[0]!);
    expect([gone.status, (await gone.text()).includes(secret)]).toEqual([410, false]);
  },
);

test.runIf(isLocal)("a message from a template shows the version at acceptance", async () => {
  const template = { name: "Papers", subject: "Yours", html: "<p>{{ pin }}</p>" };
  const { id: templateId } = expectStatus(
    201,
    await from.call<{ id: number }>("POST", "/templates", template),
  ).body.data;
  const to = one();
  const body = {
    to,
    sendingConfigId: from.configId,
    templateId,
    variables: { pin: "0815" },
    secure: true,
  };
  expectStatus(202, await from.call<AcceptedSend>("POST", "/send", body));
  await runUntilIdle();
  expectStatus(200, await from.call("PUT", `/templates/${templateId}`, { html: "changed" }));
  const [mail] = await listInbox(to);
  expect(mail!.subject).toBe("Yours");
  expect((await visit(/\/secure\/[\w-]+/.exec(mail!.text!)![0], {})).text).toContain(
    "&lt;p&gt;0815&lt;/p&gt;",
  );
});

test.each([
  [
    "attachments",
    {
      secure: true,
      attachments: [{ filename: "a.png", type: "image/png", contentId: "a", content: "YQ==" }],
    },
  ],
  [
    "attachments.0",
    {
      secure: true,
      attachments: [{ filename: "a.txt", content: Buffer.alloc(4_000_001).toString("base64") }],
    },
  ],
  ["securePassphrase", { securePassphrase: "open sesame" }],
  ["securePassphrase", { secure: true, securePassphrase: "abc" }],
  ["secureExpiresInDays", { secure: true, secureExpiresInDays: 0 }],
  ["secureExpiresInDays", { secure: true, secureExpiresInDays: 366 }],
  ["secure", { secure: "yes" }],
  ["html", { secure: true, html: "{% nonsense %}" }],
])("sending refuses bad %s", async (path, fields) => {
  const answer = await from.send({ to: one(), ...fields });
  expect([
    answer.status,
    answer.body.error?.includes(path),
    answer.text.includes("open sesame"),
  ]).toEqual([400, true, false]);
});

test("a suppressed address has no message", async () => {
  const to = one();
  expectStatus(201, await from.call("POST", "/suppressions", { email: to }));
  const { id, status } = expectStatus(202, await from.send({ to, secure: true })).body.data;
  expect(status).toBe("failed");
  expect((await from.call("GET", `/secure-messages/${id}`)).status).toBe(404);
});

test("messages are listed newest first, by site, and only to callers with access", async () => {
  const ownMessage = await createSendingClient();
  const ids: number[] = [];
  for (let i = 0; i < 3; i++)
    ids.unshift(expectStatus(202, await ownMessage.send({ to: one(), secure: true })).body.data.id);
  expectStatus(202, await ownMessage.send({ to: one() }));
  const list = async (query = "", as: Parameters<typeof ownMessage.call>[3] = {}) =>
    ownMessage.call<Page>("GET", `/secure-messages${query}`, undefined, as);
  const all = expectStatus(200, await list()).body.data;
  expect([all.secureMessages.map(({ id }) => id), all.pagination.total]).toEqual([ids, 3]);
  const first = expectStatus(200, await list("?limit=2")).body.data;
  const rest = expectStatus(200, await list(`?limit=2&cursor=${first.pagination.nextCursor}`)).body
    .data;
  expect([...first.secureMessages, ...rest.secureMessages].map(({ id }) => id)).toEqual(ids);
  expect(
    expectStatus(200, await list("?limit=2&page=2")).body.data.secureMessages.map(({ id }) => id),
  ).toEqual(ids.slice(2));
  const other = expectStatus(
    201,
    await ownMessage.call<{ id: number }>("POST", "/sites", { name: "Other" }),
  ).body.data.id;
  expect(expectStatus(200, await list(`?siteId=${other}`)).body.data.secureMessages).toEqual([]);
  const bound = { as: { key: await ownMessage.newKey({ siteId: other }) } };
  expect(expectStatus(200, await list("", bound)).body.data.secureMessages).toEqual([]);
  expect(
    await ownMessage.call("GET", `/secure-messages/${ids[0]}`, undefined, bound),
  ).toMatchObject({
    status: 403,
    body: { code: "site_forbidden" },
  });
  const stranger = await signedUp();
  expect((await stranger.call("POST", `/secure-messages/${ids[0]}/revoke`)).status).toBe(404);
  expect((await request("GET", `/secure-messages/${ids[0]}`)).status).toBe(401);
});

test.runIf(isLocal)("its pages have the brand of the site, also once it was revoked", async () => {
  const brand = { footerText: "Shop Ltd., Bonn", colors: { accent: "#116644" }, language: "de" };
  expectStatus(200, await from.call("PUT", `/sites/${from.siteId}`, { brand }));
  const { id, path } = await delivered({ securePassphrase: "a word" });
  const pages = [
    await visit(path),
    await visit(path, { passphrase: "another" }),
    await visit(path, { passphrase: "a word" }),
  ];
  await revoke(id);
  pages.push(await visit(path));
  expect(pages.map(({ status }) => status)).toEqual([200, 400, 200, 410]);
  for (const { text } of pages) {
    expect(text).toContain("Shop Ltd., Bonn");
    expect(text).toContain('lang="de"');
  }
  expectStatus(200, await from.call("PUT", `/sites/${from.siteId}`, { brand: null }));
});
