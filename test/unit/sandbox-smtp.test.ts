// The SMTP server of the sandbox, as the adapter of the service uses it.
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import { smtp } from "../../shared/providers/smtp.ts";
import {
  createAccount,
  handOver,
  listMailTo,
  mailing,
  recipient,
  simulatorAddress,
  startSandbox,
  textAttachment,
  useSandbox,
} from "../support/provider-sandbox.ts";

let sandbox: Sandbox;
let credentials: Record<string, string>;

beforeAll(async () => {
  sandbox = await startSandbox();
  useSandbox(sandbox);
  vi.stubEnv("PUBLIC_URL", "http://127.0.0.1:3000");
  credentials = (await createAccount(sandbox)).smtp!.credentials;
});
afterAll(() => sandbox.stop());

it("keeps a mail as it was handed over", async () => {
  const to = recipient("ada@example.net", [], { "List-Unsubscribe": "<https://shop.example/u>" });
  const sent = mailing([to], {
    attachments: [
      textAttachment("Prüfung.txt", "two\nlines"),
      { ...textAttachment("logo.png", "PNG", "image/png"), contentId: "logo" },
    ],
    copies: { to: [], cc: [{ email: "eve@example.net" }], bcc: [] },
    bcc: "archive@example.net",
  });
  const [outcome] = await handOver(smtp, credentials, sent);
  expect(outcome).toMatchObject({ status: "accepted" });
  const [mail] = await listMailTo(sandbox, "ada@example.net");
  expect(mail).toMatchObject({
    provider: "smtp",
    messageId: (outcome as { messageId: string }).messageId,
    from: sent.from,
    to: to.to,
    shown: { to: [to.to], cc: [{ email: "eve@example.net" }] },
    replyTo: "help@pennymail.test",
    subject: "Hello & welcome",
    headers: { "X-Campaign": "seven", "List-Unsubscribe": "<https://shop.example/u>" },
    attachments: [
      { filename: "logo.png", type: "image/png", contentId: "logo", size: 3 },
      { filename: "Prüfung.txt", type: "text/plain", size: 9 },
    ],
  });
  expect(mail!.html!.trim()).toBe(String(sent.html));
  expect(mail!.text!.trim()).toBe(String(sent.text));
  const copy = await listMailTo(sandbox, "archive@example.net");
  expect(copy).toMatchObject([{ copy: "bcc", copyOf: to.to }]);
});

it("refuses a wrong password, a sender that is not verified and a rejected recipient", async () => {
  const sent = mailing([recipient("ada@example.net")]);
  const wrong = { ...credentials, password: "wrong" };
  expect(await handOver(smtp, wrong, sent)).toMatchObject([{ status: "refused", config: true }]);
  const stranger = { ...sent, from: { email: "a@unverified.pennymail.test" } };
  expect(await handOver(smtp, credentials, stranger)).toMatchObject([
    { status: "refused", config: true },
  ]);
  const rejected = mailing([recipient(simulatorAddress("rejected"))]);
  const [outcome] = await handOver(smtp, credentials, rejected);
  expect(outcome).toMatchObject({ status: "refused" });
  expect(outcome).not.toHaveProperty("config");
});

it.each([
  ["flaky+429", "pace"],
  ["flaky+503", "recipient"],
])("%s is refused once", async (name, why) => {
  const sent = mailing([recipient(simulatorAddress(name))]);
  expect(await handOver(smtp, credentials, sent)).toMatchObject([{ status: "held", why }]);
  expect(await handOver(smtp, credentials, sent)).toMatchObject([{ status: "accepted" }]);
});
