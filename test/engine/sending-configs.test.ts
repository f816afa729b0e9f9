import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Sandbox } from "../../infra/local/sandbox/index.ts";
import type { Caller } from "../../shared/caller.ts";
import { verify } from "../../shared/domain/sending/verify.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import { get, put, remove, write } from "../../shared/doors/table.ts";
import * as vault from "../../shared/doors/vault.ts";
import { keys } from "../../shared/keys.ts";
import { providerKeys } from "../../shared/providers/keys.ts";
import { account as signedUp } from "../support/callers.ts";
import * as sandboxes from "../support/sandbox.ts";

let sandbox: Sandbox;
let accountKeys: Awaited<ReturnType<typeof sandboxes.account>>;
let caller: Caller;
let ownEmail: string;
beforeAll(async () => {
  sandbox = await sandboxes.started();
  sandboxes.pointTo(sandbox);
  accountKeys = await sandboxes.account(sandbox);
});
afterAll(() => sandbox.stop());
beforeEach(async () => {
  ({ caller, email: ownEmail } = await signedUp());
});

const add = (fields: object = {}, who: Caller = caller) =>
  sendingConfigs.create(
    who,
    sendingConfigs.NewSendingConfig.parse({
      provider: "postmark",
      credentials: accountKeys.postmark!.credentials,
      fromEmail: "shop@pennymail.test",
      ...fields,
    }),
  );
const verified = async (fields: object = {}) => (await verify(caller, (await add(fields)).id, "someone@pennymail.test")).config;
const change = (id: number, changes: object) => sendingConfigs.update(caller, id, sendingConfigs.SendingConfigChanges.parse(changes));
const owner = async (email: string) => (await sendingConfigs.forSender(caller, email)).id;
const noConfig = { kind: "invalid", code: "no_sending_config" };

test.each(providerKeys)("%s: with good credentials a real test mail goes out and the config is verified", async (key) => {
  const config = await add({ provider: key, credentials: accountKeys[key]!.credentials, fromName: "Ada's Shop" });
  expect(config).toMatchObject({ verified: false, verifiedAt: null });
  const to = `tester-${key}-${config.id}@pennymail.test`;
  const outcome = await verify(caller, config.id, to);
  expect(outcome).toMatchObject({ sentTo: to, config: { verified: true, verifiedAt: expect.any(String) } });
  const [mail, ...others] = await sandboxes.mailTo(sandbox, to);
  expect(others).toEqual([]);
  expect(mail).toMatchObject({ provider: key, from: { email: "shop@pennymail.test", name: "Ada's Shop" } });
  expect(mail!.text).toContain(`sending config ${config.id}`);
});

test.each(providerKeys)("%s: with bad credentials it is refused in the provider's words, which do not hold them", async (key) => {
  const good = accountKeys[key]!.credentials;
  const secretName = key === "ses" ? "secretAccessKey" : "apiKey";
  const bad = good[secretName]!.replace(/.{6}$/, (end) => [...end].map((c) => (c === "a" ? "b" : "a")).join(""));
  const config = await add({ provider: key, credentials: { ...good, [secretName]: bad } });
  const error = await verify(caller, config.id).catch((thrown: unknown) => thrown as { message: string });
  expect(error).toMatchObject({ kind: "invalid", code: "provider_refused" });
  expect(error).toHaveProperty("message", expect.not.stringContaining(bad));
  expect((error as { message: string }).message.length).toBeLessThanOrEqual(300);
  expect(await sendingConfigs.find(caller, config.id)).toMatchObject({ verified: false });
});

test("without an address the test mail goes to the caller's own", async () => {
  expect(await verify(caller, (await add()).id)).toMatchObject({ sentTo: ownEmail });
  expect(await sandboxes.mailTo(sandbox, ownEmail)).toHaveLength(1);
});

test("when the provider has trouble nothing is known that was not known before", async () => {
  const config = await verified();
  const flaky = verify(caller, config.id, `flaky+500-${config.id}@simulator.pennymail.test`);
  await expect(flaky).rejects.toMatchObject({ kind: "upstream" });
  const url = process.env.PROVIDER_URL_POSTMARK;
  process.env.PROVIDER_URL_POSTMARK = "http://127.0.0.1:9";
  await expect(verify(caller, config.id)).rejects.toMatchObject({ kind: "upstream" });
  process.env.PROVIDER_URL_POSTMARK = url;
  expect(await sendingConfigs.find(caller, config.id)).toMatchObject({ verified: true });
});

test("a recipient who is refused leaves a verified config verified; an account that is refused does not", async () => {
  const config = await verified();
  const rejected = verify(caller, config.id, `rejected+${config.id}@simulator.pennymail.test`);
  await expect(rejected).rejects.toMatchObject({ code: "provider_refused" });
  expect(await sendingConfigs.find(caller, config.id)).toMatchObject({ verified: true });
  // The token was good when it was verified and is withdrawn now.
  const stored = {
    ...config,
    sealedCredentials: await vault.seal('{"apiKey":"withdrawn"}', { orgId: `${caller.orgId}`, configId: `${config.id}` }),
  };
  await write(put(keys.record(caller.orgId, "CONFIG", config.id), stored));
  await expect(verify(caller, config.id)).rejects.toMatchObject({ code: "provider_refused" });
  expect(await sendingConfigs.find(caller, config.id)).toMatchObject({ verified: false, verifiedAt: null });
});

test("what a test mail showed does not hold for credentials that came while it was on its way", async () => {
  const config = await add();
  await change(config.id, { fromEmail: "other@pennymail.test" });
  await expect(sendingConfigs.noteVerified(caller, config, true)).rejects.toMatchObject({ kind: "conflict" });
  expect(await sendingConfigs.find(caller, config.id)).toMatchObject({ verified: false, fromEmail: "other@pennymail.test" });
});

test("new credentials, another provider and another address must be verified again; a new name and pace need not", async () => {
  const { id } = await verified();
  expect(await change(id, { fromName: "Shop", ratePerSecond: 5, webhookSecret: "a-secret-of-ours" })).toMatchObject({
    verified: true,
    ratePerSecond: 5,
  });
  expect(await change(id, { fromEmail: "new@pennymail.test" })).toMatchObject({ verified: false, verifiedAt: null });
  await verify(caller, id);
  expect(await change(id, { credentials: accountKeys.postmark!.credentials })).toMatchObject({ verified: false });
  await verify(caller, id);
  await expect(change(id, { provider: "resend" })).rejects.toMatchObject({ details: [{ path: "credentials" }] });
  const moved = await change(id, { provider: "resend", credentials: accountKeys.resend!.credentials });
  expect(moved).toMatchObject({ provider: "resend", verified: false });
  expect(await get(keys.inboundConfig(id))).toMatchObject({ orgId: caller.orgId, provider: "resend" });
});

test("of two changes of the credentials at once one wins whole", async () => {
  const { id } = await add();
  const [one, two] = [accountKeys.resend!.credentials, accountKeys.postmark!.credentials];
  const outcomes = await Promise.allSettled([
    change(id, { provider: "resend", credentials: one }),
    change(id, { provider: "postmark", credentials: two }),
  ]);
  expect(outcomes.some(({ status }) => status === "fulfilled")).toBe(true);
  const config = await sendingConfigs.find(caller, id);
  expect(await sendingConfigs.credentials(caller.orgId, config)).toEqual(config.provider === "resend" ? one : two);
  expect(await get(keys.inboundConfig(id))).toMatchObject({ provider: config.provider });
});

test("secrets are stored sealed, and open for their own config of their own organization only", async () => {
  const secret = "whsec-very-secret";
  const config = await add({ webhookSecret: secret });
  const item = JSON.stringify(await get(keys.record(caller.orgId, "CONFIG", config.id)));
  for (const hidden of [secret, accountKeys.postmark!.credentials.apiKey!]) expect(item).not.toContain(hidden);
  expect(await sendingConfigs.credentials(caller.orgId, config)).toEqual(accountKeys.postmark!.credentials);
  expect(await sendingConfigs.webhookSecret(caller.orgId, config)).toBe(secret);
  await expect(sendingConfigs.credentials(caller.orgId + 1, config)).rejects.toThrow();
  await expect(sendingConfigs.credentials(caller.orgId, { ...config, id: config.id + 1 })).rejects.toThrow();
  const cleared = await change(config.id, { webhookSecret: null });
  expect(await sendingConfigs.webhookSecret(caller.orgId, cleared)).toBeUndefined();
});

test("credentials that fill what can be sealed are taken, one byte more is not", async () => {
  const ses = { accessKeyId: "A", secretAccessKey: "s".repeat(2000), sessionToken: "", region: "us-east-1" };
  const room = 4096 - JSON.stringify(ses).length;
  const filled = { ...ses, sessionToken: "t".repeat(room) };
  await expect(add({ provider: "ses", credentials: filled })).resolves.toMatchObject({ provider: "ses" });
  const over = add({ provider: "ses", credentials: { ...filled, sessionToken: "t".repeat(room + 1) } });
  await expect(over).rejects.toMatchObject({ code: "limit_exceeded", details: [{ path: "credentials" }] });
});

test("a sender is found by its address, then by its verified domain; verified before unverified, newer before older", async () => {
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

test("another organization's config is nobody's sender here", async () => {
  const { id } = await verified();
  const { caller: stranger } = await signedUp();
  await expect(sendingConfigs.forSender(stranger, "shop@pennymail.test")).rejects.toMatchObject(noConfig);
  await expect(sendingConfigs.find(stranger, id)).rejects.toMatchObject({ kind: "missing" });
  await expect(sendingConfigs.remove(stranger, id)).rejects.toMatchObject({ kind: "missing" });
});

test("mail that names no config goes through the oldest verified one", async () => {
  await add();
  await expect(sendingConfigs.defaultConfig(caller.orgId)).rejects.toMatchObject(noConfig);
  const first = await verified();
  await verified();
  expect((await sendingConfigs.defaultConfig(caller.orgId)).id).toBe(first.id);
});

test("a config that mail waits for stays; a removed one is gone from outside too", async () => {
  const { id } = await add();
  await write(put(keys.waiting(caller.orgId, id, "1#2#3"), { block: 1 }));
  await expect(sendingConfigs.remove(caller, id)).rejects.toMatchObject({ kind: "conflict" });
  await write(remove(keys.waiting(caller.orgId, id, "1#2#3")));
  await sendingConfigs.remove(caller, id);
  await expect(sendingConfigs.find(caller, id)).rejects.toMatchObject({ kind: "missing" });
  expect(await get(keys.inboundConfig(id))).toBeUndefined();
});
