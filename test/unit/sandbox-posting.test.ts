// How the provider sandbox posts its webhooks: tries again, gives up, batches, follows the configs, and survives a restart.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { provider as lookup } from "../../shared/providers/index.ts";
import { opened } from "../support/console.ts";
import { events, genuine } from "../support/receiver.ts";
import { account, handOver, type Keys, mailing, mailTo, pointTo, recipient, simulated, started } from "../support/sandbox.ts";

const told = await opened();

/** One mail with these keys, by the real adapter. */
const sendOne = (key: string, { credentials }: Keys, to = "someone@example.net") =>
  handOver(lookup(key)!, credentials, mailing([recipient(to)]), `${key} ${credentials.apiKey} ${to}`);

it("tries again with the same id and a new signature when the receiving side is down", async () => {
  const keys = await told.configured("resend");
  told.receiving.answers = [503, 200];
  await sendOne("resend", keys);
  await told.sandbox.settle();
  expect(told.receiving.received).toHaveLength(2);
  const [first, second] = told.receiving.received.map(({ headers }) => headers);
  expect(first!["svix-id"]).toBe(second!["svix-id"]);
  expect(await genuine.resend!(told.receiving.received[1]!, keys.webhookSecret, "")).toBe(true);
});

it.each([
  ["mailgun", 406],
  ["brevo", 500],
  ["postmark", 401],
  ["sendgrid", 404],
])("%s gives up at once on %i", async (key, status) => {
  const keys = await told.configured(key);
  told.receiving.answers = [status];
  const failed = told.sandbox.stats().webhooksFailed;
  await sendOne(key, keys);
  await told.sandbox.settle();
  expect(told.receiving.received).toHaveLength(1);
  expect(told.sandbox.stats().webhooksFailed).toBe(failed + 1);
});

it("leaves a URL with nothing behind it alone for a while", async () => {
  const keys = await told.configured("brevo");
  told.receiving.answers = [404];
  for (const to of ["a@example.net", "b@example.net", "c@example.net"]) {
    await sendOne("brevo", keys, to);
    await told.sandbox.settle();
  }
  expect(told.receiving.received).toHaveLength(1);
});

it("shows with each mail what was posted about it and how it was answered", async () => {
  const keys = await told.configured("sparkpost");
  told.receiving.answers = [202];
  await sendOne("sparkpost", keys, "shown@example.net");
  await told.sandbox.settle();
  expect((await mailTo(told.sandbox, "shown@example.net"))[0]!.events).toMatchObject([{ kind: "delivered", status: 202 }]);
});

it("posts without being asked to settle, within a moment", async () => {
  const keys = await told.configured("smtp2go");
  await sendOne("smtp2go", keys);
  await expect.poll(() => told.receiving.received.length, { interval: 20, timeout: 2000 }).toBe(1);
});

it("sends a batch of events in one call where the provider does so", async () => {
  const { credentials } = await told.configured("sendgrid");
  const recipients = Array.from({ length: 500 }, (_, n) => recipient(`batch${n}@example.net`));
  await handOver(lookup("sendgrid")!, credentials, mailing(recipients));
  await told.sandbox.settle();
  expect(told.receiving.received).toHaveLength(1);
  expect(events.sendgrid!(told.receiving.received[0]!)).toHaveLength(500);
});

it("tells nothing of opens and clicks of a mail that is not tracked", async () => {
  const { credentials } = await told.configured("postmark");
  await handOver(lookup("postmark")!, credentials, mailing([recipient(simulated("clicked"))], { trackOpens: false, trackClicks: false }));
  await told.sandbox.settle();
  expect(told.namesTo("postmark", simulated("clicked"))).toEqual(["Delivery"]);
});

it("SES tells nothing of a mail without a configuration set", async () => {
  const { credentials } = await told.configured("ses");
  const { configurationSet: _, ...without } = credentials;
  await handOver(lookup("ses")!, without, mailing([recipient(simulated("opened"))]));
  await told.sandbox.settle();
  expect(told.namesTo("ses", simulated("opened"))).toEqual([]);
});

it("SES tells nothing before its subscription is confirmed", async () => {
  told.receiving.answers = [500];
  const keys = await told.configured("ses");
  await sendOne("ses", keys);
  await told.sandbox.settle();
  expect(new Set(told.receiving.received.map(({ body }) => JSON.parse(body).Type))).toEqual(new Set(["SubscriptionConfirmation"]));
});

it("SparkPost takes a template that does not parse, and says later that it could not be rendered", async () => {
  const { credentials } = await told.configured("sparkpost");
  const content = { from: "news@pennymail.test", subject: "Hi", html: "<p>{{ 1 + }}</p>" };
  const answer = await fetch(`${told.sandbox.urls.sparkpost}/api/v1/transmissions`, {
    method: "POST",
    headers: { authorization: credentials.apiKey! },
    body: JSON.stringify({ recipients: [{ address: "broken@example.net" }], content }),
  });
  expect(answer.status).toBe(200);
  await told.sandbox.settle();
  expect(told.namesTo("sparkpost", "broken@example.net")).toEqual(["generation_failure"]);
});

it("forgets a sending config that is deleted, and follows one that gets other credentials", async () => {
  const before = await told.configured("brevo");
  const after = (await account(told.sandbox)).brevo!;
  const path = `/api/v1/sending-configs/${before.id}`;
  const data = { id: before.id, provider: "brevo", webhookUrl: `${told.receiving.origin}/moved?secret=YOUR_SECRET` };
  told.sandbox.observe({ method: "PUT", path, requestBody: { credentials: after.credentials }, responseBody: { data } });
  await sendOne("brevo", after);
  await sendOne("brevo", before, "old@example.net");
  await told.sandbox.settle();
  expect(told.receiving.received.map(({ url }) => url.pathname)).toEqual(["/moved"]);
  told.sandbox.observe({ method: "DELETE", path, requestBody: "", responseBody: { data: { id: before.id, deleted: true } } });
  await sendOne("brevo", after, "later@example.net");
  await told.sandbox.settle();
  expect(told.receiving.received).toHaveLength(1);
});

it("a second start on the same folder knows keys, webhook URLs and mails", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sandbox-"));
  const first = await started(folder);
  const keys = await told.configured("mailgun", first);
  pointTo(first);
  await sendOne("mailgun", keys, "before@example.net");
  await first.stop();
  const second = await started(folder);
  pointTo(second);
  expect(second.secrets).toEqual(first.secrets);
  expect(await mailTo(second, "before@example.net")).toHaveLength(1);
  expect((await sendOne("mailgun", keys, "after@example.net"))[0]).toMatchObject({ status: "accepted" });
  await second.settle();
  expect(told.receiving.received).toHaveLength(1);
  expect(await genuine.mailgun!(told.receiving.received[0]!, keys.webhookSecret, "")).toBe(true);
  await second.stop();
  pointTo(told.sandbox);
  rmSync(folder, { recursive: true });
});
