// The provider sandbox posts webhooks: retries, batches, changes of sending configs, and restarts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { getProvider as lookup } from "../../shared/providers/registry.ts";
import {
  createAccount,
  handOver,
  listMailTo,
  mailing,
  type ProviderKeys,
  recipient,
  simulatorAddress,
  startSandbox,
  useSandbox,
} from "../support/provider-sandbox.ts";
import { openSandboxConsole } from "../support/sandbox-console.ts";
import { isGenuine, readEvents } from "../support/webhook-receiver.ts";

const sandboxConsole = await openSandboxConsole();

/** Sends one mail with these keys through the adapter. */
const sendOne = (key: string, { credentials }: ProviderKeys, to = "someone@example.net") =>
  handOver(
    lookup(key)!,
    credentials,
    mailing([recipient(to)]),
    `${key} ${credentials.apiKey} ${to}`,
  );

it("retries with the same id and a new signature when the receiver is down", async () => {
  const keys = await sandboxConsole.createConfig("resend");
  sandboxConsole.receiver.answers = [503, 200];
  await sendOne("resend", keys);
  await sandboxConsole.sandbox.flushWebhooks();
  expect(sandboxConsole.receiver.received).toHaveLength(2);
  const [first, second] = sandboxConsole.receiver.received.map(({ headers }) => headers);
  expect(first!["svix-id"]).toBe(second!["svix-id"]);
  expect(
    await isGenuine.resend!(sandboxConsole.receiver.received[1]!, keys.webhookSecret, ""),
  ).toBe(true);
});

it.each([
  ["mailgun", 406],
  ["brevo", 500],
  ["postmark", 401],
  ["sendgrid", 404],
])("%s gives up at once on %i", async (key, status) => {
  const keys = await sandboxConsole.createConfig(key);
  sandboxConsole.receiver.answers = [status];
  const failed = sandboxConsole.sandbox.stats().webhooksFailed;
  await sendOne(key, keys);
  await sandboxConsole.sandbox.flushWebhooks();
  expect(sandboxConsole.receiver.received).toHaveLength(1);
  expect(sandboxConsole.sandbox.stats().webhooksFailed).toBe(failed + 1);
});

it("pauses posts to a URL that responded with 404", async () => {
  const keys = await sandboxConsole.createConfig("brevo");
  sandboxConsole.receiver.answers = [404];
  for (const to of ["a@example.net", "b@example.net", "c@example.net"]) {
    await sendOne("brevo", keys, to);
    await sandboxConsole.sandbox.flushWebhooks();
  }
  expect(sandboxConsole.receiver.received).toHaveLength(1);
});

it("shows the webhook attempts of each mail with their status", async () => {
  const keys = await sandboxConsole.createConfig("sparkpost");
  sandboxConsole.receiver.answers = [202];
  await sendOne("sparkpost", keys, "shown@example.net");
  await sandboxConsole.sandbox.flushWebhooks();
  expect((await listMailTo(sandboxConsole.sandbox, "shown@example.net"))[0]!.events).toMatchObject([
    { kind: "delivered", status: 202 },
  ]);
});

it("posts webhooks without a flush", async () => {
  const keys = await sandboxConsole.createConfig("smtp2go");
  await sendOne("smtp2go", keys);
  await expect.poll(() => sandboxConsole.receiver.received.length, { interval: 20 }).toBe(1);
});

it("posts a batch of events in one call where the provider batches", async () => {
  const { credentials } = await sandboxConsole.createConfig("sendgrid");
  const recipients = Array.from({ length: 500 }, (_, n) => recipient(`batch${n}@example.net`));
  await handOver(lookup("sendgrid")!, credentials, mailing(recipients));
  await sandboxConsole.sandbox.flushWebhooks();
  expect(sandboxConsole.receiver.received).toHaveLength(1);
  expect(readEvents.sendgrid!(sandboxConsole.receiver.received[0]!)).toHaveLength(500);
});

it("posts no opens and clicks of an untracked mail", async () => {
  const { credentials } = await sandboxConsole.createConfig("postmark");
  await handOver(
    lookup("postmark")!,
    credentials,
    mailing([recipient(simulatorAddress("clicked"))], { trackOpens: false, trackClicks: false }),
  );
  await sandboxConsole.sandbox.flushWebhooks();
  expect(sandboxConsole.eventNamesFor("postmark", simulatorAddress("clicked"))).toEqual([
    "Delivery",
  ]);
});

it("SES posts no events of a mail without a configuration set", async () => {
  const { credentials } = await sandboxConsole.createConfig("ses");
  const { configurationSet: _, ...without } = credentials;
  await handOver(lookup("ses")!, without, mailing([recipient(simulatorAddress("opened"))]));
  await sandboxConsole.sandbox.flushWebhooks();
  expect(sandboxConsole.eventNamesFor("ses", simulatorAddress("opened"))).toEqual([]);
});

it("SES posts events only after the SNS subscription is confirmed", async () => {
  sandboxConsole.receiver.answers = [500];
  const keys = await sandboxConsole.createConfig("ses");
  await sendOne("ses", keys);
  await sandboxConsole.sandbox.flushWebhooks();
  expect(
    new Set(sandboxConsole.receiver.received.map(({ body }) => JSON.parse(body).Type)),
  ).toEqual(new Set(["SubscriptionConfirmation"]));
});

it("SparkPost accepts an invalid template and posts a generation failure", async () => {
  const { credentials } = await sandboxConsole.createConfig("sparkpost");
  const content = { from: "news@pennymail.test", subject: "Hi", html: "<p>{{ 1 + }}</p>" };
  const answer = await fetch(
    `${sandboxConsole.sandbox.originByProvider.sparkpost}/api/v1/transmissions`,
    {
      method: "POST",
      headers: { authorization: credentials.apiKey! },
      body: JSON.stringify({ recipients: [{ address: "broken@example.net" }], content }),
    },
  );
  expect(answer.status).toBe(200);
  await sandboxConsole.sandbox.flushWebhooks();
  expect(sandboxConsole.eventNamesFor("sparkpost", "broken@example.net")).toEqual([
    "generation_failure",
  ]);
});

it("stops posting for a deleted sending config, and follows changed credentials", async () => {
  const before = await sandboxConsole.createConfig("brevo");
  const after = (await createAccount(sandboxConsole.sandbox)).brevo!;
  const path = `/api/v1/sending-configs/${before.id}`;
  const data = {
    id: before.id,
    provider: "brevo",
    webhookUrl: `${sandboxConsole.receiver.origin}/moved?secret=YOUR_SECRET`,
  };
  sandboxConsole.sandbox.observeApiCall({
    method: "PUT",
    path,
    requestBody: { credentials: after.credentials },
    responseBody: { data },
  });
  await sendOne("brevo", after);
  await sendOne("brevo", before, "old@example.net");
  await sandboxConsole.sandbox.flushWebhooks();
  expect(sandboxConsole.receiver.received.map(({ url }) => url.pathname)).toEqual(["/moved"]);
  sandboxConsole.sandbox.observeApiCall({
    method: "DELETE",
    path,
    requestBody: "",
    responseBody: { data: { id: before.id, deleted: true } },
  });
  await sendOne("brevo", after, "later@example.net");
  await sandboxConsole.sandbox.flushWebhooks();
  expect(sandboxConsole.receiver.received).toHaveLength(1);
});

it("a restart keeps keys, webhook URLs and mails", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sandbox-"));
  const first = await startSandbox(folder);
  const keys = await sandboxConsole.createConfig("mailgun", first);
  useSandbox(first);
  await sendOne("mailgun", keys, "before@example.net");
  await first.stop();
  const second = await startSandbox(folder);
  useSandbox(second);
  expect(second.secrets).toEqual(first.secrets);
  expect(await listMailTo(second, "before@example.net")).toHaveLength(1);
  expect((await sendOne("mailgun", keys, "after@example.net"))[0]).toMatchObject({
    status: "accepted",
  });
  await second.flushWebhooks();
  expect(sandboxConsole.receiver.received).toHaveLength(1);
  expect(
    await isGenuine.mailgun!(sandboxConsole.receiver.received[0]!, keys.webhookSecret, ""),
  ).toBe(true);
  await second.stop();
  useSandbox(sandboxConsole.sandbox);
  rmSync(folder, { recursive: true });
});
