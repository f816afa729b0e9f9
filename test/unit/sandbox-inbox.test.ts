// The sandbox's pages and their JSON: the inbox and the accounts.
import { afterAll, beforeAll, expect, it } from "vitest";
import { openInbox } from "../../infra/local/sandbox/inbox.ts";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import { getProvider as lookup } from "../../shared/providers/registry.ts";
import {
  callLocalPage,
  createAccount,
  handOver,
  type InboxEntry,
  listMailTo,
  mailing,
  recipient,
  startSandbox,
  useSandbox,
} from "../support/provider-sandbox.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
  useSandbox(sandbox);
});
afterAll(() => sandbox.stop());

const list = async (query: string) =>
  (await callLocalPage(sandbox, `/_local/inbox?${query}`)).json().data;
const subjects = async (query: string) =>
  (await list(query)).mails.map(({ subject }: InboxEntry) => subject);

async function received(
  ...changes: (Parameters<typeof mailing>[1] & { to?: string })[]
): Promise<void> {
  await callLocalPage(sandbox, "/_local/inbox", { method: "DELETE" });
  const { credentials } = (await createAccount(sandbox)).postmark!;
  for (const { to = "reader@example.net", ...change } of changes)
    await handOver(lookup("postmark")!, credentials, mailing([recipient(to)], change));
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ subject: [`Mail ${n}`] }));

it("lists mails newest first, page by page, each mail once", async () => {
  await received(...numbered(5));
  const first = await list("limit=2");
  expect(first.pagination).toMatchObject({ limit: 2, total: 5 });
  const second = await list(`limit=2&cursor=${first.pagination.nextCursor}`);
  const third = await list(`limit=2&cursor=${second.pagination.nextCursor}`);
  const all = [first, second, third].flatMap(({ mails }) =>
    mails.map(({ subject }: InboxEntry) => subject),
  );
  expect(all).toEqual(["Mail 4", "Mail 3", "Mail 2", "Mail 1", "Mail 0"]);
  expect(third.pagination.nextCursor).toBeNull();
});

it("lists only mails after a given id", async () => {
  await received(...numbered(3));
  const { mails } = await list("");
  expect(await subjects(`after=${mails[1].id}`)).toEqual(["Mail 2"]);
  expect(await subjects(`after=${mails[0].id}`)).toEqual([]);
});

it("filters by whole address and part of the subject, and searches names, addresses and bodies", async () => {
  await received(
    { to: "joann@example.net", subject: ["Order 17"] },
    {
      to: "ann@example.net",
      subject: ["Invoice (7)"],
      text: ["your code is 4711"],
      html: undefined,
    },
  );
  expect(await subjects("to=ANN@example.net")).toEqual(["Invoice (7)"]);
  expect(await subjects("subject=order")).toEqual(["Order 17"]);
  expect(await subjects("search=(7)")).toEqual(["Invoice (7)"]);
  expect(await subjects("search=4711")).toEqual(["Invoice (7)"]);
  expect(await subjects("search=joann")).toEqual(["Order 17"]);
  expect(await subjects("search=byron")).toHaveLength(2);
  expect(await subjects("search=nothing+like+this")).toEqual([]);
});

it("accepts new mail after it was emptied", async () => {
  await received(...numbered(2));
  expect((await callLocalPage(sandbox, "/_local/inbox", { method: "DELETE" })).json().data).toEqual(
    { deleted: 2 },
  );
  expect((await list("")).pagination.total).toBe(0);
});

it("shows the HTML of a mail in a frame that runs no scripts", async () => {
  await received({
    html: ["<script>alert(1)</script><a href='https://x.example'>x</a><img src='cid:logo.png'>"],
    attachments: [{ filename: "logo.png", type: "image/png", content: "aGk=" }],
  });
  const [mail] = await listMailTo(sandbox, "reader@example.net");
  const { headers, text } = await callLocalPage(sandbox, `/_local/inbox/${mail!.id}/html`);
  expect(headers["content-security-policy"]).toMatch(/default-src 'none'.*sandbox/);
  expect(headers["content-security-policy"]).not.toContain("script");
  expect(text).toContain('<base target="_blank">');
  expect(text).toContain(`src='/_local/inbox/${mail!.id}/attachments/0'`);
});

it("serves attachments as downloads, never as a page", async () => {
  await received({ attachments: [{ filename: 'evil".html', type: "text/html", content: "aGk=" }] });
  const [mail] = await listMailTo(sandbox, "reader@example.net");
  const { headers } = await callLocalPage(sandbox, mail!.attachments[0]!.url);
  expect(headers).toMatchObject({
    "content-type": "application/octet-stream",
    "x-content-type-options": "nosniff",
  });
  expect(headers["content-disposition"]).toBe("attachment; filename*=UTF-8''evil%22.html");
});

it("responds with pages to browsers and with JSON to programs", async () => {
  for (const path of ["/_local/inbox", "/_local/inbox/1", "/_local/sandbox"]) {
    const page = await callLocalPage(sandbox, path, { accept: "text/html,*/*" });
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(page.headers["content-security-policy"]).toContain("script-src 'self'");
    expect((await callLocalPage(sandbox, path)).headers["content-type"]).toBe("application/json");
  }
});

it("serves every asset that its pages use", async () => {
  for (const path of ["/_local/inbox", "/_local/sandbox"]) {
    const { text } = await callLocalPage(sandbox, path, { accept: "text/html" });
    const assets = [...text.matchAll(/(?:src|href)="(\/_local\/[^"]+\.(?:js|css))"/g)].map(
      ([, asset]) => asset!,
    );
    expect(assets.length).toBeGreaterThan(1);
    for (const asset of assets) expect((await callLocalPage(sandbox, asset)).status).toBe(200);
  }
});

it("creates a new account each time, and shows an existing one by id", async () => {
  const [one, two] = [
    await callLocalPage(sandbox, "/_local/sandbox"),
    await callLocalPage(sandbox, "/_local/sandbox"),
  ].map((answer) => answer.json().data);
  expect(one.account).not.toBe(two.account);
  expect(one.providers.sendgrid.credentials.apiKey).not.toBe(
    two.providers.sendgrid.credentials.apiKey,
  );
  expect(
    (await callLocalPage(sandbox, `/_local/sandbox?account=${one.account}`)).json().data,
  ).toEqual(one);
  expect((await callLocalPage(sandbox, "/_local/sandbox?account=0123456789abcdef")).status).toBe(
    404,
  );
});

it("provides working credentials for the system sender", async () => {
  const [key, from] = sandbox.systemSenderSetting.split(":");
  const [credentials] = Object.values(sandbox.secrets).map((secret) => JSON.parse(secret));
  const [outcome] = await handOver(
    lookup(key!)!,
    credentials,
    mailing([recipient("user@example.net")], { from: { email: from! } }),
  );
  expect(outcome).toMatchObject({ status: "accepted" });
});

it("ignores other paths, and responds with 404 to unknown mails", async () => {
  const request = {
    method: "GET",
    query: new URLSearchParams(),
    headers: {},
    body: Buffer.alloc(0),
  };
  expect(await sandbox.handleLocalRequest({ ...request, path: "/_local/clock" })).toBeUndefined();
  expect((await callLocalPage(sandbox, "/_local/inbox/999999")).status).toBe(404);
  expect((await callLocalPage(sandbox, "/_local/inbox/nonsense")).status).toBe(404);
});

it("counts all mails, keeps the newest 10,000, and discards the oldest content first", () => {
  const inbox = openInbox();
  const draft = {
    messageId: "m",
    from: { email: "a@b.example" },
    to: { email: "c@d.example" },
    headers: {},
    tags: [],
    metadata: {},
    tracksOpens: true,
    tracksClicks: true,
  };
  const big = () => ({ subject: "big", html: "x".repeat(10_000_000), attachments: [] });
  const mails = Array.from({ length: 14 }, () =>
    inbox.add({ ...draft, content: big() }, "brevo", "a"),
  );
  expect(mails.map(({ content }) => content.discarded ?? false)).toEqual([
    true,
    true,
    ...Array(12).fill(false),
  ]);
  const shared = { subject: "small", text: "hello", attachments: [] };
  for (let n = 0; n < 13_000; n++) inbox.add({ ...draft, content: shared }, "brevo", "a");
  expect(inbox.count()).toBe(13_014);
  expect(inbox.find(1)).toBeUndefined();
  expect(inbox.find(13_014)?.content.text).toBe("hello");
  expect(inbox.list({ limit: 1, search: "hello" })).toHaveLength(1);
});
