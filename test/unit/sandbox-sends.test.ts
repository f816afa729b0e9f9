// The adapters send to the provider sandbox, and the inbox shows each mail as its recipient would
// see it.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import { fillMergeText } from "../../shared/providers/provider-adapter.ts";
import { apiProviders } from "../support/api-providers.ts";
import {
  callLocalPage,
  createAccount,
  handOver,
  listMailTo,
  mailing,
  type ProviderKeys,
  recipient,
  startSandbox,
  textAttachment,
  useSandbox,
} from "../support/provider-sandbox.ts";

let sandbox: Sandbox;
let keys: Record<string, ProviderKeys>;
let n = 0;
const anyone = () => `reader${++n}@example.net`;

beforeAll(async () => {
  sandbox = await startSandbox();
  useSandbox(sandbox);
  keys = await createAccount(sandbox);
});
afterAll(() => sandbox.stop());

describe.each(apiProviders)("$name", (provider) => {
  const send = (...[changed, key]: [ReturnType<typeof mailing>, string?]) =>
    handOver(provider, keys[provider.key]!.credentials, changed, key ?? `key-${++n}`);

  it("keeps a mail exactly as it was handed over", async () => {
    const [to, templateSyntax] = [anyone(), "{{x}} %recipient.v0% *|X|* -x- {{{y}}} 東京 & <b>"];
    const unsubscribe = {
      "List-Unsubscribe": "<https://x.example/u?t=1>",
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    };
    const sent = mailing([recipient(to, [], unsubscribe)], {
      subject: [templateSyntax],
      html: [`<p>${templateSyntax}</p>`],
      text: [templateSyntax],
      attachments: [
        textAttachment("note.txt", "hello"),
        textAttachment("page.html", "<p>hi</p>", "text/html"),
      ],
    });
    const [outcome] = await send(sent);
    expect(outcome).toMatchObject({ status: "accepted" });
    const [mail] = await listMailTo(sandbox, to);
    expect(mail).toMatchObject({
      provider: provider.key,
      from: sent.from,
      to: sent.recipients[0]!.to,
      replyTo: "help@pennymail.test",
      subject: templateSyntax,
      html: `<p>${templateSyntax}</p>`,
      text: templateSyntax,
      headers: { "X-Campaign": "seven", ...unsubscribe },
    });
    expect(mail!.attachments.map(({ filename, size }) => [filename, size])).toEqual([
      ["note.txt", 5],
      ["page.html", 9],
    ]);
    const bytes = await callLocalPage(sandbox, mail!.attachments[0]!.url);
    expect(bytes.body.toString()).toBe("hello");
    expect((outcome as { messageId: string }).messageId).toBe(mail!.messageId);
  });

  it("delivers a blind copy of each mail with the mail's own recipient", async () => {
    const [archive, recipients] = [
      `archive${++n}@example.com`,
      [recipient(anyone(), ["one"]), recipient(anyone(), ["two"])],
    ];
    const sent = mailing(recipients, { bcc: archive, subject: ["Number ", 0] });
    const calls = provider.batch?.supports(sent) ? [recipients] : recipients.map((one) => [one]);
    for (const recipients of calls) {
      const outcomes = await send({ ...sent, recipients });
      expect(outcomes.map(({ status }) => status)).toEqual(recipients.map(() => "accepted"));
      const ids = outcomes.map((outcome) => (outcome as { messageId: string }).messageId);
      const mails = await Promise.all(
        recipients.map(async ({ to }) => (await listMailTo(sandbox, to.email))[0]!),
      );
      expect(ids).toEqual(mails.map(({ messageId }) => messageId));
    }
    const copies = (await listMailTo(sandbox, archive)).toSorted((one, other) => one.id - other.id);
    expect(copies.map(({ subject, copyOf }) => [subject, copyOf?.email])).toEqual(
      recipients.map(({ to, values }) => [`Number ${values[0]}`, to.email]),
    );
  });

  it("delivers to all addressees and shows each of them all but the blind ones", async () => {
    const [first, second, cc, bcc] = [anyone(), anyone(), anyone(), anyone()];
    const one = recipient(first);
    const replyTo = ["help@pennymail.test", "sales@pennymail.test"];
    const sent = mailing([one], {
      replyTo: provider.limits?.replyTos === 1 ? replyTo.slice(0, 1) : replyTo,
      copies: { to: [{ email: second }], cc: [{ email: cc }], bcc: [{ email: bcc }] },
    });
    expect(await send(sent)).toMatchObject([{ status: "accepted" }]);
    const mails = await Promise.all(
      [first, second, cc, bcc].map(async (email) => (await listMailTo(sandbox, email))[0]!),
    );
    for (const mail of mails) {
      expect(mail.shown.to.map(({ email }) => email)).toEqual([first, second]);
      expect(mail.shown.cc.map(({ email }) => email)).toEqual([cc]);
      expect(mail.replyTo?.split(/, ?/)).toEqual(sent.replyTo);
      expect(JSON.stringify([mail.metadata, mail.headers])).toContain(String(one.sendId));
    }
  });

  it("shows an image inside the mail, unless the provider cannot", async () => {
    const one = recipient(anyone());
    const logo = { ...textAttachment("logo.png", "png", "image/png"), contentId: "logo@shop" };
    const sent = mailing([one], {
      html: ['<img src="cid:logo@shop">'],
      attachments: [textAttachment("terms.txt", "terms"), logo],
    });
    if (provider.limits?.noInlineImages)
      return expect(await send(sent)).toMatchObject([{ status: "refused" }]);
    expect(await send(sent)).toMatchObject([{ status: "accepted" }]);
    const [mail] = await listMailTo(sandbox, one.to.email);
    expect(mail!.attachments.map(({ contentId }) => contentId)).toEqual([null, "logo@shop"]);
    const frame = await callLocalPage(sandbox, `/_local/inbox/${mail!.id}/html`);
    expect(frame.text).toContain(mail!.attachments[1]!.url);
  });

  it("keeps the send id for its events", async () => {
    const one = recipient(anyone());
    await send(mailing([one]));
    const [mail] = await listMailTo(sandbox, one.to.email);
    expect(JSON.stringify([mail!.metadata, mail!.headers])).toContain(String(one.sendId));
  });

  it.runIf(provider.batch)("fills in each recipient's own values in a batch", async () => {
    const recipients = [
      ["Ada", "https://x.example/1"],
      ["Ben & <Co>", "https://x.example/2?a=1&b=2"],
      ["$& 東京", "https://x.example/3"],
    ].map((values) => recipient(anyone(), values));
    const parts = {
      subject: ["For ", 0, "!"],
      html: ["<a href='", 1, "'>", 0, "</a>"],
      text: [0, " ", 1],
    };
    const sent = mailing(recipients, { ...parts, headers: {} });
    expect(provider.batch!.supports(sent)).toBe(true);
    const outcomes = await send(sent);
    expect(outcomes.map(({ status }) => status)).toEqual(["accepted", "accepted", "accepted"]);
    for (const one of recipients) {
      const [mail] = await listMailTo(sandbox, one.to.email);
      const [subject, html, text] = [parts.subject, parts.html, parts.text].map((pieces) =>
        fillMergeText(pieces, one),
      );
      expect(mail).toMatchObject({ to: one.to, subject, html, text });
      expect(JSON.stringify([mail!.metadata, mail!.headers])).toContain(String(one.sendId));
    }
  });

  it("refuses a wrong key as an error of the sending config", async () => {
    const wrong = Object.fromEntries(
      Object.entries(keys[provider.key]!.credentials).map(([name, value]) => [
        name,
        /key/i.test(name) ? `${value.slice(0, -1)}!` : value,
      ]),
    );
    const [outcome] = await handOver(provider, wrong, mailing([recipient(anyone())]));
    expect(outcome).toMatchObject({ status: "refused", config: true });
  });

  it("refuses the key of another installation", async () => {
    const elsewhere = await startSandbox();
    const foreign = (await createAccount(elsewhere))[provider.key]!.credentials;
    await elsewhere.stop();
    expect((await handOver(provider, foreign, mailing([recipient(anyone())])))[0]).toMatchObject({
      status: "refused",
      config: true,
    });
  });

  it("refuses an unverified sender as an error of the sending config", async () => {
    const to = anyone();
    const from = { email: "news@unverified.pennymail.test" };
    expect((await send(mailing([recipient(to)], { from })))[0]).toMatchObject({
      status: "refused",
      config: true,
    });
    expect(await listMailTo(sandbox, to)).toEqual([]);
  });

  it("refuses rejected@ permanently", async () => {
    const [outcome] = await send(mailing([recipient("rejected+a@simulator.pennymail.test")]));
    expect(outcome).toMatchObject({ status: "refused" });
    expect(outcome).not.toHaveProperty("config");
    expect(await listMailTo(sandbox, "rejected+a@simulator.pennymail.test")).toEqual([]);
  });

  it("refuses flaky@ temporarily, then accepts it", async () => {
    for (const [label, why] of [
      ["429", "pace"],
      ["503", "fault"],
    ]) {
      const to = `flaky+${label}${provider.key}@simulator.pennymail.test`;
      const sent = mailing([recipient(to)]);
      expect((await send(sent, `flaky ${to}`))[0]).toMatchObject({ status: "held", why });
      expect(await listMailTo(sandbox, to)).toHaveLength(0);
      expect((await send(sent, `flaky ${to}`))[0]).toMatchObject({ status: "accepted" });
      expect(await listMailTo(sandbox, to)).toHaveLength(1);
    }
  });

  it("accepts no line break in a header", async () => {
    const to = anyone();
    const [outcome] = await send(
      mailing([recipient(to)], { headers: { "X-A": "a\r\nBcc: eve@example.net" } }),
    );
    const [mail] = await listMailTo(sandbox, to);
    expect(outcome!.status).toBe(mail ? "accepted" : "refused");
    expect(mail?.headers["X-A"] ?? "").not.toMatch(/[\r\n]/);
  });

  // The adapter of Mailgun has already decoded the file.
  it.runIf(provider.key !== "mailgun")("refuses an attachment that is not base64", async () => {
    const attachments = [{ filename: "a.txt", type: "text/plain", content: "not base64!" }];
    expect((await send(mailing([recipient(anyone())], { attachments })))[0]).toMatchObject({
      status: "refused",
    });
  });

  it.runIf(provider.idempotencySeconds)("accepts a repeated call once", async () => {
    const to = anyone();
    const sent = mailing([recipient(to)]);
    const outcomes = [
      await send(sent, `again ${to}`),
      await handOver(
        { ...provider, send: (call) => provider.send({ ...call, repeated: true }) },
        keys[provider.key]!.credentials,
        sent,
        `again ${to}`,
      ),
    ].flat();
    expect(outcomes.map(({ status }) => status)).toEqual(["accepted", "accepted"]);
    expect(await listMailTo(sandbox, to)).toHaveLength(1);
  });

  it.runIf(provider.tracking.opens)("records whether a mail is tracked", async () => {
    const to = anyone();
    await send(mailing([recipient(to)], { trackOpens: false, trackClicks: true }));
    expect((await listMailTo(sandbox, to))[0]).toMatchObject({
      tracksOpens: false,
      tracksClicks: true,
    });
  });
});
