import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { SQSEvent } from "aws-lambda";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { worker } from "../../functions/queue/system-mail.ts";
import { startKmsAndSecrets } from "../../infra/local/engines/kms-and-secrets.ts";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as accounts from "../../shared/domain/identity/accounts.ts";
import * as signups from "../../shared/domain/identity/signup.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import * as systemMail from "../../shared/domain/sending/system-mail.ts";
import { createAccount as signedUp } from "../support/accounts.ts";
import * as sandboxes from "../support/provider-sandbox.ts";

let sandbox: Sandbox;
let environment: typeof process.env;
let vault: { endpoint: string; stop(): Promise<void> };
beforeAll(async () => {
  sandbox = await sandboxes.startSandbox();
  sandboxes.useSandbox(sandbox);
  vault = await startKmsAndSecrets({
    keyFile: undefined,
    secrets: { ...sandbox.secrets, broken: "SG.secret-but-no-json", partial: "{}" },
  });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SECRETS_MANAGER: vault.endpoint,
    SYSTEM_SENDER: sandbox.systemSenderSetting,
    SYSTEM_SENDER_SECRET: "system-sender",
  });
  environment = { ...process.env };
});
afterAll(async () => {
  await vault.stop();
  await sandbox.stop();
});
afterEach(() => void Object.assign(process.env, environment));

const reset = (email: string) => systemMail.sendSystemMail({ mail: "password_reset", email });
const inbox = (email: string) => sandboxes.listMailTo(sandbox, email);
const signUpUser = async (local: string) => {
  const email = `${local}-${crypto.randomUUID()}@simulator.pennymail.test`;
  await signups.signUp({ email, password: "the old horse", name: "Ada" });
  return email;
};

test("a reset mail has a link with a token that sets a new password", async () => {
  const { email, caller } = await signedUp();
  await suppressions.suppress(caller.orgId, { email, reason: "bounce", source: "test" });
  await reset(email);
  const [mail, ...otherMails] = await inbox(email);
  expect(otherMails).toEqual([]);
  expect(mail).toMatchObject({
    provider: "postmark",
    from: { email: "no-reply@pennymail.test", name: "Pennymail" },
  });
  expect(mail!.tracksClicks).toBe(false);
  const [, token = ""] =
    /^http:\/\/127\.0\.0\.1:3000\/reset-password\?token=([0-9A-Za-z]+)$/m.exec(mail!.text!) ?? [];
  expect(mail!.html).toContain(`href="http://127.0.0.1:3000/reset-password?token=${token}"`);
  await accounts.resetPassword(token, "a much newer horse");
  await expect(
    accounts.logIn({ email, password: "a much newer horse" }, { address: "192.0.2.7" }),
  ).resolves.toBeDefined();
});

test("a reset mail goes to the stored address, whatever the spelling in the request", async () => {
  const email = await signUpUser("Kim");
  await reset(email.replace("Kim", "\u212Aim"));
  await reset(email.toUpperCase());
  expect(
    (await sandboxes.listMailTo(sandbox, email.replace("Kim", "\u212Aim"))).filter(({ to }) =>
      JSON.stringify(to).includes("\u212A"),
    ),
  ).toEqual([]);
  const mails = await inbox(email);
  expect(mails.length).toBeGreaterThan(0);
  expect(JSON.stringify(mails.map(({ to }) => to))).not.toContain(email.toUpperCase());
});

test("markup in a user's name is escaped in the mail", async () => {
  const email = `user-${crypto.randomUUID()}@example.com`;
  await signups.signUp({ email, password: "the old horse", name: '<img src="x">' });
  await reset(email);
  const [mail] = await inbox(email);
  expect(mail!.html).toContain("Hello &lt;img src=&quot;x&quot;&gt;");
  expect(mail!.text).toContain('Hello <img src="x">');
});

test("a name that is a text with a link is not mailed", async () => {
  for (const name of ["Win at evil.example", "https://1.2.3.4", "Call us. ".repeat(20)]) {
    const email = `${crypto.randomUUID()}@simulator.pennymail.test`;
    await signups.signUp({ email, password: "the old horse", name });
    await reset(email);
    const [mail] = await inbox(email);
    expect(mail!.text).toMatch(/^Hello,$/m);
    expect(JSON.stringify(mail)).not.toContain(name.trim());
  }
});

test("an address without an account gets no mail", async () => {
  await reset("nobody@pennymail.test");
  expect(await inbox("nobody@pennymail.test")).toEqual([]);
});

test("the sending config of any organization can be the system sender", async () => {
  const [{ caller }, { email }] = [await signedUp(), await signedUp()];
  const { credentials } = (await sandboxes.createAccount(sandbox)).resend!;
  const given = {
    provider: "resend",
    credentials,
    fromEmail: "desk@pennymail.test",
    fromName: "The Desk",
  };
  const config = await sendingConfigs.create(caller, sendingConfigs.NewSendingConfig.parse(given));
  process.env.SYSTEM_SENDER = String(config.id);
  await reset(email);
  expect(await inbox(email)).toMatchObject([
    { provider: "resend", from: { email: "desk@pennymail.test", name: "The Desk" } },
  ]);
});

test.each([
  ["SYSTEM_SENDER", "", "The setting SYSTEM_SENDER is missing"],
  ["SYSTEM_SENDER", "999999999", "999999999, which does not exist"],
  ["SYSTEM_SENDER", "pigeon:desk@pennymail.test", "SYSTEM_SENDER must be"],
  ["SYSTEM_SENDER", "postmark:nobody", "SYSTEM_SENDER must be"],
  ["SYSTEM_SENDER_SECRET", "", "The setting SYSTEM_SENDER_SECRET is missing"],
  ["SYSTEM_SENDER_SECRET", "broken", "does not contain the credentials of Postmark"],
  ["SYSTEM_SENDER_SECRET", "partial", "does not contain the credentials of Postmark"],
])("with %s=%s the mail waits, and the error names the setting", async (name, value, words) => {
  const { email } = await signedUp();
  process.env[name] = value;
  const error = (await reset(email).catch((thrown: unknown) => thrown)) as Error;
  expect(error.message).toContain(words);
  expect(error.message).not.toContain("SG.secret");
  expect(await inbox(email)).toEqual([]);
});

const message = (email: string): SQSEvent => ({
  Records: [
    {
      messageId: "1",
      body: JSON.stringify({ mail: "password_reset", email }),
      attributes: { ApproximateReceiveCount: "1" },
    } as never,
  ],
});

test("a mail that the provider rejects temporarily returns to the queue and arrives once", async () => {
  const email = await signUpUser("flaky+503");
  expect(await worker.handler(message(email))).toEqual({
    batchItemFailures: [{ itemIdentifier: "1" }],
  });
  expect(await inbox(email)).toEqual([]);
  expect(await worker.handler(message(email))).toEqual({ batchItemFailures: [] });
  expect(await inbox(email)).toHaveLength(1);
});

test("a mail that the provider rejects permanently is not retried", async () => {
  const email = await signUpUser("rejected+");
  expect(await worker.handler(message(email))).toEqual({ batchItemFailures: [] });
  expect(await inbox(email)).toEqual([]);
});

test("a mail with a lost response is not retried", async () => {
  let calls = 0;
  const server = createServer((request, response) => {
    calls++;
    request.resume().on("end", () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  process.env.PROVIDER_URL_POSTMARK = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { email } = await signedUp();
  expect(await worker.handler(message(email))).toEqual({ batchItemFailures: [] });
  expect(calls).toBe(1);
});
