import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import { get, put, write } from "../../shared/adapters/dynamodb/table.ts";
import * as vault from "../../shared/adapters/kms/encryption.ts";
import type { Caller } from "../../shared/caller.ts";
import { getInboundConfig } from "../../shared/domain/delivery-events/receive-webhook.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { findDefault, findForSender } from "../../shared/domain/senders/choose-config.ts";
import {
  decryptCredentials,
  decryptWebhookSecret,
  secretWarnings,
} from "../../shared/domain/senders/config-secrets.ts";
import {
  NewSendingConfig,
  SendingConfigChanges,
} from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { verifyConfig } from "../../shared/domain/senders/verify-config.ts";
import { loadIntake } from "../../shared/domain/sending/accept/intake.ts";
import { SingleMessage } from "../../shared/domain/sending/accept/single-message.ts";
import { keys } from "../../shared/keys.ts";
import { providerKeys } from "../../shared/providers/provider-keys.ts";
import { createAccount as signedUp } from "../support/accounts.ts";
import { deleteIfUnused } from "../support/delete-if-unused.ts";
import * as sandboxes from "../support/provider-sandbox.ts";

let sandbox: Sandbox;
let accountKeys: Awaited<ReturnType<typeof sandboxes.createAccount>>;
let caller: Caller;
let ownEmail: string;
beforeAll(async () => {
  sandbox = await sandboxes.startSandbox();
  sandboxes.useSandbox(sandbox);
  accountKeys = await sandboxes.createAccount(sandbox);
});
afterAll(() => sandbox.stop());
beforeEach(async () => {
  ({ caller, email: ownEmail } = await signedUp());
});

const add = (fields: object = {}, asCaller: Caller = caller) =>
  sendingConfigs.create(
    asCaller,
    NewSendingConfig.parse({
      provider: "postmark",
      credentials: accountKeys.postmark!.credentials,
      fromEmail: "shop@pennymail.test",
      ...fields,
    }),
  );
const verified = async (fields: object = {}) =>
  (await verifyConfig(caller, (await add(fields)).id, "someone@pennymail.test")).config;
const change = (id: number, changes: object) =>
  sendingConfigs.update(caller, id, SendingConfigChanges.parse(changes));
const owner = async (email: string) => (await findForSender(caller, email)).id;
const noConfig = { kind: "invalid", code: "no_sending_config" };

test.each(providerKeys)(
  "%s: with valid credentials sends a test mail and verifies the config",
  async (key) => {
    const config = await add({
      provider: key,
      credentials: accountKeys[key]!.credentials,
      fromName: "Ada's Shop",
    });
    expect(config).toMatchObject({ verified: false, verifiedAt: null });
    const to = `tester-${key}-${config.id}@pennymail.test`;
    const outcome = await verifyConfig(caller, config.id, to);
    expect(outcome).toMatchObject({
      sentTo: to,
      config: { verified: true, verifiedAt: expect.any(String) },
    });
    const sesLimits = { emailsPerSecond: 14, emailsPer24Hours: 50_000, sentLast24Hours: 0 };
    expect(outcome.config.accountLimits ?? null).toEqual(
      key === "ses" ? { ...sesLimits, readAt: expect.any(String) } : null,
    );
    const [mail, ...otherMails] = await sandboxes.listMailTo(sandbox, to);
    expect(otherMails).toEqual([]);
    expect(mail).toMatchObject({
      provider: key,
      from: { email: "shop@pennymail.test", name: "Ada's Shop" },
    });
    expect(mail!.text).toContain(`sending config ${config.id}`);
  },
);

test.each(providerKeys)(
  "%s: with invalid credentials returns the provider's message without the credentials",
  async (key) => {
    const good = accountKeys[key]!.credentials;
    const secretNames: Record<string, string> = { ses: "secretAccessKey", smtp: "password" };
    const secretName = secretNames[key] ?? "apiKey";
    const bad = good[secretName]!.replace(/.{6}$/, (end) =>
      [...end].map((c) => (c === "a" ? "b" : "a")).join(""),
    );
    const config = await add({ provider: key, credentials: { ...good, [secretName]: bad } });
    const error = await verifyConfig(caller, config.id).catch(
      (thrown: unknown) => thrown as { message: string },
    );
    expect(error).toMatchObject({ kind: "invalid", code: "provider_refused" });
    expect(error).toHaveProperty("message", expect.not.stringContaining(bad));
    expect((error as { message: string }).message.length).toBeLessThanOrEqual(300);
    expect(await sendingConfigs.find(caller, config.id)).toMatchObject({ verified: false });
  },
);

test("sends the test mail to the caller's own address by default", async () => {
  expect(await verifyConfig(caller, (await add()).id)).toMatchObject({ sentTo: ownEmail });
  expect(await sandboxes.listMailTo(sandbox, ownEmail)).toHaveLength(1);
});

test("a config without fromEmail sends only mail that sets its own sender", async () => {
  const config = await add({ fromEmail: undefined });
  expect(config).toMatchObject({ fromEmail: null, verified: false });
  await expect(verifyConfig(caller, config.id)).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "fromEmail" }],
  });
  await expect(sendingConfigs.findWithSender(caller, config.id)).rejects.toMatchObject({
    details: [{ path: "sendingConfigId" }],
  });
  expect(sendingConfigs.labelOf(config)).toBeNull();
  const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
  const message = SingleMessage.parse({
    to: "a@example.com",
    sendingConfigId: config.id,
    subject: "s",
    html: "h",
    siteId,
  });
  await expect(loadIntake(caller, message, { emails: [] })).rejects.toMatchObject({
    details: [{ path: "fromEmail" }],
  });
  expect(
    (await loadIntake(caller, { ...message, fromEmail: "me@example.com" }, { emails: [] })).config
      .id,
  ).toBe(config.id);
  expect(await change(config.id, { fromEmail: "shop@example.com" })).toMatchObject({
    fromEmail: "shop@example.com",
  });
});

test("a changed webhookSecret takes effect at once", async () => {
  const config = await add({ webhookSecret: "first" });
  expect(await getInboundConfig(config.id)).toMatchObject({ secret: "first" });
  await change(config.id, { webhookSecret: "second" });
  expect(await getInboundConfig(config.id)).toMatchObject({ secret: "second" });
  await change(config.id, { webhookSecret: null });
  expect(await getInboundConfig(config.id)).not.toHaveProperty("secret");
});

test("accepts any webhookSecret, with a warning if it is weak or unusable", () => {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const key = publicKey.export({ format: "der", type: "spki" }).toString("base64");
  const warned = (provider: string, secret?: string | null) => secretWarnings(provider, secret);
  expect([
    warned("postmark", "s".repeat(12)),
    warned("postmark", null),
    warned("ses"),
    warned("sendgrid", key),
  ]).toEqual([[], [], [], []]);
  expect(warned("postmark", "short")).toEqual([expect.stringContaining("12 characters")]);
  expect(warned("sendgrid", "s".repeat(40))).toEqual([expect.stringContaining("verification key")]);
});

test("a provider error during a test mail does not change the config", async () => {
  const config = await verified();
  const flaky = verifyConfig(caller, config.id, `flaky+503-${config.id}@simulator.pennymail.test`);
  await expect(flaky).rejects.toMatchObject({ kind: "upstream" });
  const url = process.env.PROVIDER_URL_POSTMARK;
  process.env.PROVIDER_URL_POSTMARK = "http://127.0.0.1:9";
  await expect(verifyConfig(caller, config.id)).rejects.toMatchObject({ kind: "upstream" });
  process.env.PROVIDER_URL_POSTMARK = url;
  expect(await sendingConfigs.find(caller, config.id)).toMatchObject({ verified: true });
});

test("a refused recipient leaves a config verified; a refused account does not", async () => {
  const config = await verified();
  const rejected = verifyConfig(
    caller,
    config.id,
    `rejected+${config.id}@simulator.pennymail.test`,
  );
  await expect(rejected).rejects.toMatchObject({ code: "provider_refused" });
  expect(await sendingConfigs.find(caller, config.id)).toMatchObject({ verified: true });
  // The token was valid at the verification and has been revoked since.
  const stored = {
    ...config,
    sealedCredentials: await vault.encrypt('{"apiKey":"withdrawn"}', {
      orgId: `${caller.orgId}`,
      configId: `${config.id}`,
    }),
  };
  await write(put(keys.record(caller.orgId, "CONFIG", config.id), stored));
  await expect(verifyConfig(caller, config.id)).rejects.toMatchObject({ code: "provider_refused" });
  expect(await sendingConfigs.find(caller, config.id)).toMatchObject({
    verified: false,
    verifiedAt: null,
  });
});

test("the result of a test mail does not count for credentials that changed since", async () => {
  const config = await add();
  await change(config.id, { fromEmail: "other@pennymail.test" });
  await expect(sendingConfigs.setVerified(caller, config, true)).rejects.toMatchObject({
    kind: "conflict",
  });
  expect(await sendingConfigs.find(caller, config.id)).toMatchObject({
    verified: false,
    fromEmail: "other@pennymail.test",
  });
});

test("new credentials, provider or address need a verification; a new name or rate does not", async () => {
  const { id } = await verified();
  expect(
    await change(id, { fromName: "Shop", ratePerSecond: 5, webhookSecret: "a-secret-of-ours" }),
  ).toMatchObject({
    verified: true,
    ratePerSecond: 5,
  });
  expect(await change(id, { fromEmail: "new@pennymail.test" })).toMatchObject({
    verified: false,
    verifiedAt: null,
  });
  await verifyConfig(caller, id);
  expect(await change(id, { credentials: accountKeys.postmark!.credentials })).toMatchObject({
    verified: false,
  });
  await verifyConfig(caller, id);
  await expect(change(id, { provider: "resend" })).rejects.toMatchObject({
    details: [{ path: "credentials" }],
  });
  const changed = await change(id, {
    provider: "resend",
    credentials: accountKeys.resend!.credentials,
  });
  expect(changed).toMatchObject({ provider: "resend", verified: false });
  expect(await get(keys.inboundConfig(id))).toMatchObject({
    orgId: caller.orgId,
    provider: "resend",
  });
});

test("one of two simultaneous changes of the credentials succeeds completely", async () => {
  const { id } = await add();
  const [one, two] = [accountKeys.resend!.credentials, accountKeys.postmark!.credentials];
  const outcomes = await Promise.allSettled([
    change(id, { provider: "resend", credentials: one }),
    change(id, { provider: "postmark", credentials: two }),
  ]);
  expect(outcomes.some(({ status }) => status === "fulfilled")).toBe(true);
  const config = await sendingConfigs.find(caller, id);
  expect(await decryptCredentials(caller.orgId, config)).toEqual(
    config.provider === "resend" ? one : two,
  );
  expect(await get(keys.inboundConfig(id))).toMatchObject({ provider: config.provider });
});

test("stores secrets encrypted, readable only for their config and organization", async () => {
  const secret = "whsec-very-secret";
  const config = await add({ webhookSecret: secret });
  const item = JSON.stringify(await get(keys.record(caller.orgId, "CONFIG", config.id)));
  for (const hidden of [secret, accountKeys.postmark!.credentials.apiKey!])
    expect(item).not.toContain(hidden);
  expect(await decryptCredentials(caller.orgId, config)).toEqual(accountKeys.postmark!.credentials);
  expect(await decryptWebhookSecret(caller.orgId, config)).toBe(secret);
  await expect(decryptCredentials(caller.orgId + 1, config)).rejects.toThrow();
  await expect(
    decryptCredentials(caller.orgId, { ...config, id: config.id + 1 }),
  ).rejects.toThrow();
  const cleared = await change(config.id, { webhookSecret: null });
  expect(await decryptWebhookSecret(caller.orgId, cleared)).toBeUndefined();
});

test("accepts credentials of the maximum size, and rejects one byte more", async () => {
  const ses = {
    accessKeyId: "A",
    secretAccessKey: "s".repeat(2000),
    sessionToken: "",
    region: "us-east-1",
  };
  const room = 4096 - JSON.stringify(ses).length;
  const filled = { ...ses, sessionToken: "t".repeat(room) };
  await expect(add({ provider: "ses", credentials: filled })).resolves.toMatchObject({
    provider: "ses",
  });
  const over = add({
    provider: "ses",
    credentials: { ...filled, sessionToken: "t".repeat(room + 1) },
  });
  await expect(over).rejects.toMatchObject({
    code: "limit_exceeded",
    details: [{ path: "credentials" }],
  });
});

test("finds a config by address, then by verified domain; verified ones first, then the newest", async () => {
  await expect(owner("shop@one.test")).rejects.toMatchObject(noConfig);
  const unverified = await add({ fromEmail: "Shop@One.test" });
  expect(await owner("shop@ONE.test")).toBe(unverified.id);
  await expect(owner("other@one.test")).rejects.toMatchObject(noConfig);

  const older = await verified({ fromEmail: "shop@one.test" });
  await add({ fromEmail: "shop@one.test" });
  expect(await owner("shop@one.test")).toBe(older.id);
  const newer = await verified({ fromEmail: "shop@one.test" });
  expect(await owner("shop@one.test")).toBe(newer.id);

  expect(await owner("other@one.test")).toBe(newer.id);
  await expect(owner("other@sub.one.test")).rejects.toMatchObject(noConfig);
  await expect(owner("other@anyone.test")).rejects.toMatchObject(noConfig);
  const own = await add({ fromEmail: "other@one.test" });
  expect(await owner("other@one.test")).toBe(own.id);
});

test("does not find the config of another organization", async () => {
  const { id } = await verified();
  const { caller: stranger } = await signedUp();
  await expect(findForSender(stranger, "shop@pennymail.test")).rejects.toMatchObject(noConfig);
  await expect(sendingConfigs.find(stranger, id)).rejects.toMatchObject({ kind: "missing" });
  await expect(sendingConfigs.remove(stranger, id)).rejects.toMatchObject({ kind: "missing" });
});

test("the default is the oldest verified config", async () => {
  await add();
  await expect(findDefault(caller.orgId)).rejects.toMatchObject(noConfig);
  const first = await verified();
  await verified();
  expect((await findDefault(caller.orgId)).id).toBe(first.id);
});

test("waiting mail is a use of a config; webhooks of a deleted one get 404", async () => {
  const { id } = await add();
  await write(put(keys.queuedChunk(caller.orgId, id, "1#2#3"), { block: 1 }));
  await expect(deleteIfUnused(caller, "CONFIG", id)).rejects.toMatchObject({
    code: "in_use",
    details: [{ path: "waitingEmail", message: "email is waiting to be sent with it" }],
  });
  await sendingConfigs.remove(caller, id);
  await expect(sendingConfigs.find(caller, id)).rejects.toMatchObject({ kind: "missing" });
  expect(await get(keys.inboundConfig(id))).toBeUndefined();
});
