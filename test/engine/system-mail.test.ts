import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { SQSEvent } from "aws-lambda";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { worker } from "../../functions/queue/system-mail.ts";
import { startKmsAndSecrets } from "../../infra/local/engines/kms-and-secrets.ts";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import { get, update, write } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as accounts from "../../shared/domain/identity/accounts.ts";
import * as invitations from "../../shared/domain/identity/invitations.ts";
import * as challenges from "../../shared/domain/identity/mfa/login-challenges.ts";
import * as mfa from "../../shared/domain/identity/mfa/mfa.ts";
import * as passwordChanges from "../../shared/domain/identity/password-changes.ts";
import * as signups from "../../shared/domain/identity/signup.ts";
import { NewSendingConfig } from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import * as systemMail from "../../shared/domain/sending/system-mail.ts";
import * as webhooks from "../../shared/domain/webhooks/webhooks.ts";
import { keys, sha256 } from "../../shared/keys.ts";
import type { NoticeEvent, SystemMail } from "../../shared/queues.ts";
import { ownerOf, createAccount as signedUp } from "../support/accounts.ts";
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
    credentials: {
      accessKeyId: process.env.AWS_ACCESS_KEY_ID!,
      secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY!,
    },
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
  await passwordChanges.resetPassword(token, "a much newer horse");
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

type MailKind = SystemMail["mail"];

/** What a user has chosen freely, and what a mail about it could show. */
interface Author {
  caller: Caller;
  /** The address of the author. */
  email: string;
  /** A link or another text that no mail may show. */
  text: string;
}

/** Prepares one mail of each kind. Returns its message, and the recipient if it is not the author. */
const mailsOf: {
  [M in MailKind]: (author: Author) => Promise<{ message: SystemMail; to?: string }>;
} = {
  password_reset: async ({ email }) => ({ message: { mail: "password_reset", email } }),
  verify_email: async ({ email }) => ({ message: { mail: "verify_email", email } }),
  login_code: async ({ caller, email }) => {
    await mfa.enableEmailOtp(caller);
    const login = (await get<accounts.LoginRecord>(keys.user(email)))!;
    const { mfaToken } = (await challenges.createChallenge(login, email))!;
    await challenges.mailCode(mfaToken);
    return { message: { mail: "login_code", challenge: sha256(mfaToken), code: 1 } };
  },
  notice: async ({ caller: { orgId, userId } }) => ({
    message: { mail: "notice", event: "api_key_created", orgId, userId, recordId: 1 },
  }),
  mfa_off: async ({ caller: { orgId, userId } }) => ({
    message: { mail: "mfa_off", orgId, userId },
  }),
  invitation: async ({ caller }) => {
    const to = `${crypto.randomUUID()}@simulator.pennymail.test`;
    const { id } = await invitations.create(caller, { email: to, role: "viewer", siteIds: null });
    return { message: { mail: "invitation", orgId: caller.orgId, invitationId: id }, to };
  },
  webhook_inactive: async ({ caller: { orgId, ...caller }, text }) => {
    const url = `https://hooks.evil.example/${encodeURIComponent(text)}`;
    const given = { url, events: ["bounce" as const], description: text };
    const { id } = await webhooks.create({ orgId, ...caller }, given);
    const set = { active: false, inactiveReason: "Every delivery failed for 3 days" };
    await write(update(keys.record(orgId, "WEBHOOK", id), { set }));
    return { message: { mail: "webhook_inactive", orgId, webhookId: id } };
  },
  sending_quota: async ({ caller, text }) => {
    const { credentials } = (await sandboxes.createAccount(sandbox)).ses!;
    const config = await sendingConfigs.create(
      caller,
      NewSendingConfig.parse({
        ...{ provider: "ses", credentials, fromEmail: "desk@evil.example" },
        ...{ fromName: text.slice(0, 100) },
      }),
    );
    const accountLimits = { emailsPer24Hours: 1000, sentLast24Hours: 812 };
    const key = keys.record(caller.orgId, "CONFIG", config.id);
    await write(update(key, { set: { accountLimits } }));
    const { orgId } = caller;
    return { message: { mail: "sending_quota", orgId, configId: config.id } };
  },
};

const hostileTexts = [
  "Your account is locked. Unlock: https://evil.example/login",
  "Win at evil.example",
  "Win at evil\u3002example",
  "Win at evil\uFF0Eexample",
  "Visit 203.0.113.9 now",
  "Write to help@evil",
  "Your account is locked: call us",
  "Locked, call 1 (800) 555-0199",
  "\u202Eelpmaxe.live ta niW",
  "Your account is locked, so send us your password by letter today",
];

test.each(hostileTexts)(
  "no system mail shows the name %j of a user or organization",
  async (text) => {
    process.env.EMAIL_VERIFICATION = "on";
    const localPart = `go.to.evil.example.${crypto.randomUUID().slice(0, 8)}`;
    const email = `${localPart}@simulator.pennymail.test`;
    const given = { email, password: "the old horse", name: text, organizationName: text };
    const author = { caller: ownerOf(await signups.signUp(given)), email, text };
    for (const [kind, prepare] of Object.entries(mailsOf)) {
      const { message, to = email } = await prepare(author);
      const known = (await inbox(to)).length;
      await systemMail.sendSystemMail(message);
      const mails = await inbox(to);
      expect(mails, kind).toHaveLength(known + 1);
      const shown = mails.map(({ subject, html, text: plain }) =>
        [subject, html, plain].join("\n"),
      );
      // Mail about the author's own account names its address.
      const rest = shown.join("\n").replaceAll(to, "");
      expect(rest, kind).not.toContain(text);
      expect(rest, kind).not.toMatch(/evil|locked|0199/);
    }
  },
);

test("an invitation names the organization and the inviter", async () => {
  const email = `${crypto.randomUUID()}@simulator.pennymail.test`;
  const names = { name: "Ann Lee", organizationName: "Müller & Söhne, Est. 1999" };
  const opened = await signups.signUp({ email, password: "the old horse", ...names });
  const { message, to } = await mailsOf.invitation({ caller: ownerOf(opened), email, text: "" });
  await systemMail.sendSystemMail(message);
  expect(await inbox(to!)).toMatchObject([
    {
      subject: "Join Müller & Söhne, Est. 1999 on Pennymail",
      text: expect.stringContaining(
        "Ann Lee invites you to join the organization Müller & Söhne, Est. 1999 on Pennymail.",
      ),
    },
  ]);
});

test("a security notice says what changed, and comes at most five times an hour", async () => {
  const { caller, email } = await signedUp();
  const { orgId, userId } = caller;
  const send = (event: NoticeEvent) =>
    systemMail.sendSystemMail({ mail: "notice", event, orgId, userId, recordId: 7 });
  for (let i = 0; i < 7; i++) await send("api_key_created");
  await send("password_changed");
  const mails = await inbox(email);
  const subjects = mails.map(({ subject }) => subject).toSorted();
  expect(subjects).toEqual([
    ...Array(5).fill("Security notice: An API key was created"),
    "Security notice: Your password was changed",
  ]);
  expect(mails.filter(({ text }) => text?.includes("The API key 7 was created"))).toHaveLength(5);
});

test("the warning about a quota names the provider and its quota", async () => {
  const { caller, email } = await signedUp();
  const { message } = await mailsOf.sending_quota({ caller, email, text: "Desk" });
  await systemMail.sendSystemMail(message);
  expect(await inbox(email)).toMatchObject([
    {
      subject: "Your Amazon SES account has used 80 % of its quota",
      text: expect.stringMatching(/sent 812 emails in the last 24 hours. It may send 1,000/),
    },
  ]);
});

test("an address without an account gets no mail", async () => {
  await reset("nobody@pennymail.test");
  expect(await inbox("nobody@pennymail.test")).toEqual([]);
});

test("no sending config can be the system sender, since its members would read all mail", async () => {
  const [{ caller }, { email }] = [await signedUp(), await signedUp()];
  const { credentials } = (await sandboxes.createAccount(sandbox)).resend!;
  const given = { provider: "resend", credentials, fromEmail: "desk@pennymail.test" };
  const config = await sendingConfigs.create(caller, NewSendingConfig.parse(given));
  process.env.SYSTEM_SENDER = String(config.id);
  await expect(reset(email)).rejects.toThrow("The id of a sending config is not accepted");
  expect(await inbox(email)).toEqual([]);
});

test.each([
  ["SYSTEM_SENDER", "", "The setting SYSTEM_SENDER is missing"],
  ["SYSTEM_SENDER", "999999999", "SYSTEM_SENDER must be <provider>:<from address>"],
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
