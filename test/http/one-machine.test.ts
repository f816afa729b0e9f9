// What `npm start` promises to whoever runs it. These start services of their own, so they may stop them and move their clocks.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { type Client, must, signedUp } from "../support/client.ts";
import { launch, type Running, started } from "../support/launch.ts";

async function running(settings: Record<string, string> = {}): Promise<Running> {
  const service = await started(settings);
  onTestFinished(() => service.stop());
  return service;
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "pennymail-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

interface Time {
  now: string;
  offsetSeconds: number;
}

async function local<T>({ url }: Running, method: string, path: string, body?: unknown): Promise<{ status: number; data: T }> {
  const answer = await fetch(`${url}/_local/${path}`, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const { data } = (await answer.json()) as { data: T };
  return { status: answer.status, data };
}

const subjects = async (service: Running): Promise<string[]> => {
  const { data } = await local<{ mails: { subject: string }[] }>(service, "GET", "inbox");
  return data.mails.map(({ subject }) => subject).sort();
};

/** A sending config with the sandbox's own credentials. */
async function canSend(service: Running, { call }: Client): Promise<void> {
  const { data } = await local<{ providers: Record<string, { credentials: object }> }>(service, "GET", "sandbox");
  const { credentials } = data.providers.postmark!;
  must(201, await call("POST", "/sending-configs", { provider: "postmark", credentials, fromEmail: "me@shop.example", fromName: "Me" }));
}

const mail = (subject: string) => ({ to: "ann@example.com", fromEmail: "me@shop.example", subject, html: "<p>Hello</p>" });
const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();

test("it says where docs and inbox are, shows a first call, and says ready last", async () => {
  const service = await running();
  const lines = service.output().trimEnd().split("\n");
  expect(lines.at(-1)).toBe(`ready ${service.url}/api/v1`);
  expect(service.output()).toContain(`${service.url}/api/v1/docs`);
  expect(service.output()).toContain(`${service.url}/_local/inbox`);
  expect(service.output()).not.toContain("\u001b");
  const [, command, body] = /curl (\S+) .*\\\n\s+-d '(.*)'/.exec(service.output())!;
  const answer = await fetch(command!, { method: "POST", headers: { "content-type": "application/json" }, body: body! });
  expect(answer.status).toBe(201);
});

test.each([
  ["PORT", "three", /^PORT must be a number from 0 to 65535, not three\n$/],
  ["DATA_DIR", "/proc/nowhere/deep", /^The folder \/proc\/nowhere\/deep \(DATA_DIR\) cannot be made: .*\n$/],
  ["HOST", "203.0.113.1", /^The address 203\.0\.113\.1:0 \(HOST, PORT\) cannot be used: .*\n$/],
])("%s=%s is refused in one line, with exit code 1", async (name, value, line) => {
  const { ended, output } = launch({ [name]: value });
  expect(await ended).toBe(1);
  expect(output()).toMatch(line);
});

test("a taken port is one line and exit code 1", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  const { ended, output } = launch({ PORT: String(port) });
  expect(await ended).toBe(1);
  expect(output()).toBe(`Port ${port} on 127.0.0.1 is taken: stop what uses it, or set PORT\n`);
});

test("a folder that another service has is one line and exit code 1", async () => {
  const DATA_DIR = await folder();
  await running({ DATA_DIR });
  const { ended, output } = launch({ DATA_DIR });
  expect(await ended).toBe(1);
  expect(output()).toBe(`The folder ${DATA_DIR} (DATA_DIR) is in use by another running service\n`);
});

test.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
  "after %s a second start has all the data, and what was queued is sent",
  async (signal) => {
    const DATA_DIR = await folder();
    const first = await started({ DATA_DIR });
    const client = await signedUp({ service: first.url });
    await canSend(first, client);
    const { body } = must(202, await client.call<{ id: number }>("POST", "/send", mail("at once")));
    must(202, await client.call("POST", "/send", { ...mail("soon"), scheduledAt: inMinutes(10) }));
    must(202, await client.call("POST", "/send", { ...mail("much later"), scheduledAt: inMinutes(120) }));
    first.kill(signal);
    expect(await first.ended).toBe(signal === "SIGKILL" ? null : 0);

    const second = await running({ DATA_DIR });
    const me = await client.call<{ organization: { id: number } }>("GET", "/auth/me", undefined, { service: second.url });
    expect(me.body.data.organization.id).toBe(client.orgId);
    for (const seconds of [700, 7200]) {
      await local(second, "POST", "clock", { advanceSeconds: seconds });
      expect((await local(second, "POST", "settle")).data).toMatchObject({ dry: true, dead: 0 });
    }
    expect((await subjects(second)).filter((subject) => subject !== "at once")).toEqual(["much later", "soon"]);
    // It was on its way already: whether the provider had it when we were killed is not for us to guess.
    const atOnce = await client.call<{ status: string }>("GET", `/sends/${body.data.id}`, undefined, { service: second.url });
    expect(atOnce.body.data.status).toMatch(/^(sent|delivered|uncertain)$/);
  },
);

test("moving the clock makes due what was scheduled, and nothing else moves it", async () => {
  const service = await running();
  const client = await signedUp({ service: service.url });
  await canSend(service, client);
  const before = (await local<Time>(service, "GET", "clock")).data;
  expect(before.offsetSeconds).toBe(0);
  must(202, await client.call("POST", "/send", { ...mail("soon"), scheduledAt: inMinutes(10) }));
  must(202, await client.call("POST", "/send", { ...mail("in a week"), scheduledAt: inMinutes(7 * 24 * 60) }));
  await local(service, "POST", "settle");
  expect(await subjects(service)).toEqual([]);
  const after = (await local<Time>(service, "POST", "clock", { advanceSeconds: 700 })).data;
  expect(after.offsetSeconds).toBe(700);
  expect(Date.parse(after.now) - Date.parse(before.now)).toBeGreaterThanOrEqual(700_000);
  await local(service, "POST", "settle");
  expect(await subjects(service)).toEqual(["soon"]);
  await local(service, "POST", "clock", { advanceSeconds: 7 * 24 * 3600 });
  await local(service, "POST", "settle");
  expect(await subjects(service)).toEqual(["in a week", "soon"]);
});

test("a clock that was moved stays so over a restart", async () => {
  const DATA_DIR = await folder();
  const first = await started({ DATA_DIR });
  await local(first, "POST", "clock", { advanceSeconds: 86_400 });
  await first.stop();
  const second = await running({ DATA_DIR });
  expect((await local<Time>(second, "GET", "clock")).data.offsetSeconds).toBe(86_400);
  expect(second.output()).toContain("24 hours ahead");
});

test("request units are counted by operation, and can be reset", async () => {
  interface Usage {
    operations: Record<string, { calls: number }>;
    total: { readUnits: number; writeUnits: number; calls: number };
  }
  const service = await running();
  await signedUp({ service: service.url });
  const used = (await local<Usage>(service, "GET", "usage")).data;
  expect(used.total.writeUnits).toBeGreaterThan(5);
  expect(used.operations.GetItem?.calls).toBeGreaterThan(0);
  expect((await local<Usage>(service, "POST", "usage")).data).toEqual({ operations: {}, total: { readUnits: 0, writeUnits: 0, calls: 0 } });
});

test.each([
  ["POST", "clock", '{"advanceSeconds":-1}', 400],
  ["POST", "clock", '{"advanceSeconds":"soon"}', 400],
  ["POST", "clock", "{", 400],
  ["POST", "clock", "null", 400],
  ["POST", "settle", '{"waitSeconds":901}', 400],
  ["POST", "plan", '{"organizationId":1,"plan":"gold"}', 400],
  ["POST", "plan", '{"organizationId":999999,"plan":"free"}', 404],
  ["DELETE", "clock", "", 405],
  ["GET", "settle", undefined, 405],
  ["GET", "nothing", undefined, 404],
])("%s /_local/%s %s is %i in our words", async (method, path, body, status) => {
  const { url } = await shared();
  const answer = await fetch(`${url}/_local/${path}`, { method, ...(body && { body }) });
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({ error: expect.any(String), code: expect.any(String), requestId: expect.any(String) });
});

test("what is wrong with a body is told as the API tells it", async () => {
  const { url } = await shared();
  const told = async (body?: string) => {
    const answer = await fetch(`${url}/_local/clock`, { method: "POST", ...(body && { body }) });
    return ((await answer.json()) as { error: string }).error;
  };
  expect(await told()).toBe("advanceSeconds is required");
  expect(await told('{"advanceSeconds":"soon"}')).toMatch(/^advanceSeconds: must be a number/);
});

test.each([
  ["noise", "hello\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["a path that does not decode", "GET /api/v1/sites/%E0%A4%A HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 404 /],
  ["a path of two slashes", "GET //evil.example/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 404 /],
  ["a star", "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 404 /],
  ["a whole URL", "GET http://other.example/api/v1/sites HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 401 /],
  ["headers without end", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(40_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
])("%s is answered and harms nobody", async (_, bytes, answer) => {
  const { url } = await shared();
  expect(await exchanged(url, bytes)).toMatch(answer);
  expect((await fetch(`${url}/api/v1/sites`)).status).toBe(401);
});

test("a client that goes away in the middle of its request harms nobody", async () => {
  const { url, output } = await shared();
  for (let i = 0; i < 20; i++) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write("POST /api/v1/auth/signup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{");
    await pause(5);
    socket.destroy();
  }
  expect((await fetch(`${url}/api/v1/sites`)).status).toBe(401);
  expect(output().split(`ready ${url}`)[1]).not.toContain("ERROR");
});

test("a request that is in work when the service is told to stop is answered", async () => {
  const service = await started();
  // Hashing a password takes its time.
  const email = "slow@example.com";
  const signup = fetch(`${service.url}/api/v1/auth/signup`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password: "a horse of one's own" }),
  });
  await pause(20);
  // As Ctrl-C does under npm.
  service.kill("SIGINT");
  service.kill("SIGINT");
  expect((await signup).status).toBe(201);
  expect(await service.ended).toBe(0);
});

describe("npm run plan", () => {
  const plan = async (args: string[], env: Record<string, string> = {}) => {
    const { ended, output } = launch({ TABLE_NAME: "", ...env }, [process.execPath, "bin/plan.ts", ...args]);
    return { code: await ended, output: output() };
  };

  test("gives plan and credits in the service that npm start runs with the same PORT", async () => {
    const { url } = await shared();
    const client = await signedUp({ service: url });
    const given = await plan([String(client.orgId), "growth", "500"], { PORT: new URL(url).port });
    expect(given).toEqual({ code: 0, output: `Organization ${client.orgId} has the plan growth and 500 credits\n` });
    const { body } = must(200, await client.call<{ plan: string }>("GET", "/plans/current"));
    expect(JSON.stringify(body)).toContain('"growth"');
    expect(await plan(["999999", "growth", "--url", url])).toEqual({ code: 1, output: "There is no such organization\n" });
  });

  test("tells how it is used, and where nobody answers", async () => {
    const wrong = [["1", "gold"], ["1", "growth", "-5"], ["--help"]];
    const [nobody, ...told] = await Promise.all([plan(["1", "growth"], { PORT: "1" }), ...wrong.map((args) => plan(args))]);
    expect(nobody!.output).toMatch(/^Nothing answers at http:\/\/127\.0\.0\.1:1 .*\n$/);
    for (const one of told) expect(one).toEqual({ code: 1, output: expect.stringMatching(/^Usage: npm run plan/) });
  });
});

test("npm run openapi takes the name of a file, and no option for one", async () => {
  const into = await folder();
  const { ended, output } = launch({ INIT_CWD: into }, [process.execPath, "bin/openapi.ts", "--help"]);
  expect({ code: await ended, output: output() }).toEqual({ code: 1, output: expect.stringMatching(/^Usage: /) });
  expect(await readdir(into)).toEqual([]);
});

test("npm start, told to stop, leaves nothing behind", async () => {
  const npm = launch({}, ["npm", "start"]);
  await expect.poll(npm.output, { timeout: 15_000 }).toMatch(/^ready /m);
  const [, url] = /^ready (\S+)$/m.exec(npm.output())!;
  npm.kill("SIGTERM");
  await npm.ended;
  await expect
    .poll(
      () =>
        fetch(`${url}/sites`).then(
          () => "answers",
          () => "is gone",
        ),
      { timeout: 5000 },
    )
    .toBe("is gone");
});

let common: Promise<Running> | undefined;
/** One that nobody stops or moves. */
function shared(): Promise<Running> {
  common ??= started();
  return common;
}
afterAll(async () => (await common)?.stop());

/** Everything that comes back over a bare connection. */
const exchanged = (url: string, bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("close", () => resolve(answer)).on("error", reject);
  });
