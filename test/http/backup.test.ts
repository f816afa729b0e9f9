// A backup of DATA_DIR that is taken while mail goes out can be started as a service.
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";
import { everything } from "../support/extent.ts";
import {
  callLocalPage,
  createAccount,
  startSandbox as startedSandbox,
} from "../support/provider-sandbox.ts";
import { sampleOf } from "../support/seeded-random.ts";
import { launchProcess, startServiceProcess } from "../support/service-process.ts";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "pennymail-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function runCommand(DATA_DIR: string, ...words: string[]) {
  const { exitCode, output } = launchProcess({ DATA_DIR }, [process.execPath, ...words]);
  return { code: await exitCode, output: output() };
}

const backUp = (DATA_DIR: string, target: string) => runCommand(DATA_DIR, "bin/backup.ts", target);

const resume = (DATA_DIR: string, ...options: string[]) =>
  runCommand(DATA_DIR, "bin/after-restore.ts", ...options);

/**
 * Forwards every request to the provider. While it holds responses back, the provider has accepted
 * the mails, and the service does not know it.
 */
async function holdingProxy(origin: string) {
  const state = { holding: false, held: 0, url: "" };
  const server = createServer(async (request, response) => {
    const {
      host: _,
      connection: __,
      "content-length": ___,
      "transfer-encoding": ____,
      ...headers
    } = request.headers;
    const body = await buffer(request);
    const { method = "GET" } = request;
    const init = {
      method,
      headers: headers as Record<string, string>,
      ...(body.length && { body }),
    };
    const answer = await fetch(`${origin}${request.url}`, init);
    const answered = Buffer.from(await answer.arrayBuffer());
    if (state.holding) {
      state.held++;
      return;
    }
    response
      .writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
      .end(answered);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
}

const recipients = everything ? 3000 : 2000;

interface Send {
  id: number;
  toEmail: string;
  status: string;
}

async function sendsOf({ call }: TestClient, service: string): Promise<Send[]> {
  const all: Send[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const path: string = `/sends?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    const answer = await call<{ sends: Send[]; pagination: { nextCursor: string | null } }>(
      "GET",
      path,
      undefined,
      { service },
    );
    const { data } = expectStatus(200, answer).body;
    all.push(...data.sends);
    cursor = data.pagination.nextCursor;
  }
  return all;
}

async function addressesIn(sandbox: Sandbox): Promise<string[]> {
  const all: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const { data } = (
      await callLocalPage(sandbox, `/_local/inbox?limit=1000${cursor && `&cursor=${cursor}`}`)
    ).json();
    all.push(...data.mails.map(({ to }: { to: { email: string } }) => to.email));
    cursor = data.pagination.nextCursor;
  }
  return all;
}

const unansweredCalls: [provider: string, status: string][] = [
  ["postmark", "uncertain"],
  ["resend", "sent"],
];
test.each(sampleOf(1, unansweredCalls, "backup"))(
  "a backup during calls to %s sends the rest and no mail twice; those calls' mails are %s",
  async (provider, unanswered) => {
    const sandbox = await startedSandbox();
    onTestFinished(() => sandbox.stop());
    const proxy = await holdingProxy(sandbox.originByProvider[provider]!);
    const settings = {
      SANDBOX: "off",
      ALLOW_LOOPBACK_WEBHOOKS: "on",
      DEFAULT_PLAN: "unlimited",
      [`PROVIDER_URL_${provider.toUpperCase()}`]: proxy.url,
    };
    const DATA_DIR = await folder();
    const first = await startServiceProcess({ ...settings, DATA_DIR });
    onTestFinished(() => first.kill("SIGKILL"));
    const client = await signedUp({ service: first.url });
    const { credentials } = (await createAccount(sandbox))[provider]!;
    const fields = { provider, credentials, fromEmail: "shop@pennymail.test", ratePerSecond: 500 };
    const config = expectStatus(
      201,
      await client.call<{ id: number }>("POST", "/sending-configs", fields),
    ).body.data;
    for (let batch = 0; batch < recipients / 1000; batch++) {
      const some = Array.from({ length: 1000 }, (_, i) => ({
        to: `r${batch * 1000 + i}@example.com`,
      }));
      const body = {
        sendingConfigId: config.id,
        subject: "Hello",
        html: "<p>Hello</p>",
        recipients: some,
      };
      expectStatus(202, await client.call("POST", "/send/batch", body));
    }
    const inbox = () => addressesIn(sandbox);
    await expect.poll(async () => (await inbox()).length).toBeGreaterThan(100);

    const running = join(await folder(), "while-mails-go-out");
    expect(await backUp(DATA_DIR, running)).toMatchObject({ code: 0 });

    proxy.holding = true;
    await expect.poll(() => proxy.held).toBeGreaterThan(0);
    for (let before = -1; before !== proxy.held; await pause(700)) before = proxy.held;
    const copy = join(await folder(), "copy");
    const done = await backUp(DATA_DIR, copy);
    first.kill("SIGKILL");
    await first.exitCode;
    expect(done).toEqual({
      code: 0,
      output: expect.stringMatching(/^Copied \d+ files, [\d.]+ MB, to /),
    });
    expect((await stat(copy)).mode & 0o777).toBe(0o700);
    expect(JSON.parse(await readFile(join(copy, "backup.json"), "utf8"))).toMatchObject({
      format: 1,
    });
    expect((await inbox()).length).toBeLessThan(recipients);

    proxy.holding = false;
    const second = await startServiceProcess({ ...settings, DATA_DIR: copy });
    onTestFinished(() => second.stop());
    expect(await resume(copy, "--nothing-sent")).toEqual({
      code: 0,
      output: "The service sends again\n",
    });
    const open = () => countOpen(client, second.url);
    await expect.poll(open, { interval: 1000 }).toBe(0);
    const sends = await sendsOf(client, second.url);
    expect(sends).toHaveLength(recipients);
    const arrived = await inbox();
    expect(new Set(arrived).size).toBe(arrived.length);
    const uncertain = sends.filter(({ status }) => status === "uncertain");
    expect(uncertain.length > 0).toBe(unanswered === "uncertain");
    const arrivedAddresses = new Set(arrived);
    expect(
      sends.filter(
        ({ toEmail, status }) => status !== "uncertain" && !arrivedAddresses.has(toEmail),
      ),
    ).toEqual([]);
    // Every uncertain mail was accepted by the provider.
    expect(uncertain.every(({ toEmail }) => arrivedAddresses.has(toEmail))).toBe(true);
  },
  300_000,
);

test("a service with a restored backup sends nothing until the operator resumes it, and then no mail twice", async () => {
  const sandbox = await startedSandbox();
  onTestFinished(() => sandbox.stop());
  const settings = {
    SANDBOX: "off",
    ALLOW_LOOPBACK_WEBHOOKS: "on",
    DEFAULT_PLAN: "unlimited",
    PROVIDER_URL_POSTMARK: sandbox.originByProvider.postmark!,
  };
  const DATA_DIR = await folder();
  const first = await startServiceProcess({ ...settings, DATA_DIR });
  onTestFinished(() => first.kill("SIGKILL"));
  const client = await signedUp({ service: first.url });
  const { credentials } = (await createAccount(sandbox)).postmark!;
  const sender = { provider: "postmark", credentials, fromEmail: "shop@pennymail.test" };
  const { id: sendingConfigId } = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/sending-configs", { ...sender, ratePerSecond: 50 }),
  ).body.data;
  const mail = { sendingConfigId, subject: "Hello", html: "<p>Hello</p>" };
  const count = 300;
  const all = Array.from({ length: count }, (_, i) => ({ to: `r${i}@example.com` }));
  expectStatus(202, await client.call("POST", "/send/batch", { ...mail, recipients: all }));
  const inbox = () => addressesIn(sandbox);
  const copy = join(await folder(), "copy");
  expect(await backUp(DATA_DIR, copy)).toMatchObject({ code: 0 });
  expect((await inbox()).length).toBeLessThan(count);
  await expect.poll(async () => (await inbox()).length).toBe(count);
  first.kill("SIGKILL");
  await first.exitCode;

  const second = await startServiceProcess({ ...settings, DATA_DIR: copy });
  onTestFinished(() => second.stop());
  expect(second.output()).toContain("sends nothing: this is a backup of");
  const { problems } = expectStatus(
    200,
    await client.call<{ problems: object[] }>("GET", "/attention", undefined, {
      service: second.url,
    }),
  ).body.data;
  expect(problems).toContainEqual(
    expect.objectContaining({ code: "sending_stopped", severity: "error" }),
  );
  // What is accepted now goes out afterwards.
  const later = { ...mail, to: "later@example.com" };
  const { id: laterId } = expectStatus(
    202,
    await client.call<{ id: number }>("POST", "/send", later, { service: second.url }),
  ).body.data;
  expect(await inbox()).toHaveLength(count);

  expect(await resume(copy)).toEqual({
    code: 0,
    output: expect.stringMatching(/^[1-9]\d* mails will end as uncertain.*\n.*sends again/),
  });
  await expect.poll(() => countOpen(client, second.url), { interval: 1000 }).toBe(0);
  const arrived = await inbox();
  expect(arrived.toSorted()).toEqual([...all.map(({ to }) => to), "later@example.com"].toSorted());
  const sends = await sendsOf(client, second.url);
  expect(sends.filter(({ status }) => status === "uncertain").length).toBeGreaterThan(0);
  expect(sends.find(({ id }) => id === laterId)?.status).toMatch(/^(sent|delivered)$/);
  expect(await resume(copy)).toEqual({
    code: 1,
    output: "This service does not run on a restored backup: it sends already\n",
  });
});

const countOpen = async (client: TestClient, service: string): Promise<number> =>
  (await sendsOf(client, service)).filter(
    ({ status }) => !/^(sent|delivered|uncertain)$/.test(status),
  ).length;

test("a backup is refused if DATA_DIR holds no data, or the target exists or is inside DATA_DIR", async () => {
  const [empty, existing] = [await folder(), await folder()];
  expect(await backUp(empty, join(existing, "new"))).toEqual({
    code: 1,
    output: `The folder ${empty} (DATA_DIR) holds no data of a service\n`,
  });
  const service = await startServiceProcess({ DATA_DIR: empty });
  onTestFinished(() => service.stop());
  expect(await backUp(empty, existing)).toEqual({
    code: 1,
    output: `${existing} exists: name a new folder\n`,
  });
  expect(await backUp(empty, join(empty, "inside"))).toEqual({
    code: 1,
    output: "The backup cannot be inside DATA_DIR\n",
  });
  expect(await backUp(":memory:", join(existing, "new"))).toMatchObject({ code: 1 });
});
