// `npm start` and the command line tools. Most tests start their own service, so that they can stop
// it and move its clock.
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { expectStatus, signedUp, type TestClient, withoutNotices } from "../support/api-client.ts";
import { sampleOf } from "../support/seeded-random.ts";
import {
  launchProcess,
  type RunningTestService,
  startServiceProcess,
} from "../support/service-process.ts";

async function start(settings: Record<string, string> = {}): Promise<RunningTestService> {
  const service = await startServiceProcess(settings);
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

async function local<T>(
  { url }: RunningTestService,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; data: T }> {
  const answer = await fetch(`${url}/_local/${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { data } = (await answer.json()) as { data: T };
  return { status: answer.status, data };
}

const subjects = async (service: RunningTestService): Promise<string[]> => {
  const { data } = await local<{ mails: { subject: string }[] }>(service, "GET", "inbox");
  return withoutNotices(data.mails)
    .map(({ subject }) => subject)
    .sort();
};

/** Creates a sending config with credentials of the sandbox. */
async function createSendingConfig(
  service: RunningTestService,
  { call }: TestClient,
  more: object = {},
): Promise<number> {
  const { data } = await local<{ providers: Record<string, { credentials: object }> }>(
    service,
    "GET",
    "sandbox",
  );
  const { credentials } = data.providers.postmark!;
  const fields = {
    provider: "postmark",
    credentials,
    fromEmail: "me@shop.example",
    fromName: "Me",
    ...more,
  };
  return expectStatus(201, await call<{ id: number }>("POST", "/sending-configs", fields)).body.data
    .id;
}

const mail = (subject: string) => ({
  to: "ann@example.com",
  fromEmail: "me@shop.example",
  subject,
  html: "<p>Hello</p>",
});
const inMinutes = (minutes: number): string =>
  new Date(Date.now() + minutes * 60_000).toISOString();

test("the start prints the URLs of docs and inbox and a first call that works, and then ready", async () => {
  const service = await start();
  const lines = service.output().trimEnd().split("\n");
  expect(lines.at(-1)).toBe(`ready ${service.url}/api/v1`);
  expect(service.output()).toContain(`${service.url}/api/v1/docs`);
  expect(service.output()).toContain(`${service.url}/_local/inbox`);
  expect(service.output()).not.toContain("\u001b");
  const [, command, body] = /curl (\S+) .*\\\n\s+-d '(.*)'/.exec(service.output())!;
  const answer = await fetch(command!, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: body!,
  });
  expect(answer.status).toBe(201);
});

const wrongSettings: [name: string, value: string, line: RegExp][] = [
  ["PORT", "three", /^PORT must be a number from 0 to 65535, not three\n$/],
  [
    "DATA_DIR",
    "/proc/nowhere/deep",
    /^The folder \/proc\/nowhere\/deep \(DATA_DIR\) cannot be created: .*\n$/,
  ],
  ["SANDBOX", "false", /^SANDBOX must be on, shared or off, not false\n$/],
  ["SANDBOX", "no", /^SANDBOX must be on, shared or off, not no\n$/],
  ["SIGNUP", "everyone", /^SIGNUP must be open, first or off, not everyone\n$/],
  ["DEFAULT_PLAN", "gold", /^DEFAULT_PLAN must be free, .* or unlimited, not gold\n$/],
  [
    "TRUSTED_PROXIES",
    "10.0.0.0/40",
    /^TRUSTED_PROXIES must be addresses or networks .*, not 10\.0\.0\.0\/40\n$/,
  ],
  ["SYSTEM_SENDER", "1", /^SYSTEM_SENDER must be <provider>:<from address>.* is not accepted.*\n$/],
  ["HOST", "203.0.113.1", /^With HOST=203\.0\.113\.1, everyone on that network could read .*\n$/],
];
test.each(sampleOf(2, wrongSettings, "settings"))(
  "%s=%s is refused in one line, with exit code 1",
  async (name, value, line) => {
    const { exitCode, output } = launchProcess({ [name]: value });
    expect(await exitCode).toBe(1);
    expect(output()).toMatch(line);
  },
);

test("an address of another machine ends the start with one line and exit code 1", async () => {
  const { exitCode, output } = launchProcess({ SANDBOX: "shared", HOST: "203.0.113.1" });
  expect(await exitCode).toBe(1);
  expect(output()).toMatch(/^The address 203\.0\.113\.1:0 \(HOST, PORT\) cannot be used: .*\n$/);
});

test("a port in use ends the start with one line and exit code 1", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  const { exitCode, output } = launchProcess({ PORT: String(port) });
  expect(await exitCode).toBe(1);
  expect(output()).toBe(`Port ${port} on 127.0.0.1 is taken: stop what uses it, or set PORT\n`);
});

describe("with SANDBOX=off", () => {
  const production = { SANDBOX: "off", PUBLIC_URL: "https://mail.shop.example", LOG_LEVEL: "INFO" };

  test("/_local does not exist, and sign-up, plan and webhooks have the defaults of production", async () => {
    const service = await start(production);
    for (const path of ["clock", "plan", "settle", "usage", "inbox", "sandbox"]) {
      const answer = await fetch(`${service.url}/_local/${path}`, { method: "POST", body: "{}" });
      expect(answer.status, path).toBe(404);
      expect(await answer.json()).toMatchObject({ code: "not_found" });
    }
    const [line] = service.output().match(/^{.*real mail goes out.*$/m)!;
    const { facts } = JSON.parse(line) as { facts: object };
    expect(facts).toEqual({
      publicUrl: "https://mail.shop.example",
      signup: "first",
      defaultPlan: "unlimited",
    });
    expect(service.output()).toContain(
      "goes out to real recipients; its links lead to https://mail.shop.example\n",
    );
    expect(service.output()).not.toContain("_local");

    const { call } = await signedUp({ service: service.url });
    expect((await call<{ plan: string }>("GET", "/rate-limit")).body.data.plan).toBe("unlimited");
    expect(
      (await call("POST", "/webhooks", { url: "http://127.0.0.1:9/", events: ["sent"] })).status,
    ).toBe(400);
    const second = await fetch(`${service.url}/api/v1/auth/signup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: "second@shop.example", password: "a horse of one's own" }),
    });
    expect(second.status).toBe(403);
  });

  const wrongUrls = [
    "",
    "http://127.0.0.1:3000",
    "https://localhost",
    "http://[::1]:3000",
    "mail.shop.example",
    "ftp://shop.example",
  ];
  test.each(sampleOf(1, wrongUrls, "PUBLIC_URL"))(
    "PUBLIC_URL=%s is refused",
    async (PUBLIC_URL) => {
      const { exitCode, output } = launchProcess({ ...production, PUBLIC_URL });
      expect(await exitCode).toBe(1);
      expect(output()).toMatch(
        /^PUBLIC_URL must be the address at which recipients and providers reach this service, .*\n$/,
      );
    },
  );

  test("behind a reverse proxy on this machine, public requests are limited per client", async () => {
    const service = await start({ ...production, ADDRESS_LIMIT_PER_MINUTE: "3" });
    const forgot = async (client: string) => {
      const answer = await fetch(`${service.url}/api/v1/auth/forgot-password`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-forwarded-for": client },
        body: JSON.stringify({ email: "nobody@example.com" }),
      });
      return answer.status;
    };
    const one: number[] = [];
    for (let i = 0; i < 8; i++) one.push(await forgot(`203.0.113.${i}, 198.51.100.1`));
    expect(one).toContain(429);
    expect(await forgot("198.51.100.2")).not.toBe(429);
  });
});

test("a folder in use by another service ends the start with one line and exit code 1", async () => {
  const DATA_DIR = await folder();
  await start({ DATA_DIR });
  const { exitCode, output } = launchProcess({ DATA_DIR });
  expect(await exitCode).toBe(1);
  expect(output()).toBe(
    `Another running service uses the folder ${DATA_DIR} (DATA_DIR): stop it, or set DATA_DIR to another folder\n`,
  );
});

test.each(sampleOf(1, ["SIGINT", "SIGTERM", "SIGKILL"] as const, "signal"))(
  "after %s, a second start has all data and sends the queued mail",
  async (signal) => {
    const DATA_DIR = await folder();
    const first = await startServiceProcess({ DATA_DIR });
    const client = await signedUp({ service: first.url });
    await createSendingConfig(first, client);
    const { body } = expectStatus(
      202,
      await client.call<{ id: number }>("POST", "/send", mail("at once")),
    );
    expectStatus(
      202,
      await client.call("POST", "/send", { ...mail("soon"), scheduledAt: inMinutes(10) }),
    );
    expectStatus(
      202,
      await client.call("POST", "/send", { ...mail("much later"), scheduledAt: inMinutes(120) }),
    );
    first.kill(signal);
    expect(await first.exitCode).toBe(signal === "SIGKILL" ? null : 0);

    const second = await start({ DATA_DIR });
    const me = await client.call<{ organization: { id: number } }>("GET", "/auth/me", undefined, {
      service: second.url,
    });
    expect(me.body.data.organization.id).toBe(client.orgId);
    for (const seconds of [700, 7200]) {
      await local(second, "POST", "clock", { advanceSeconds: seconds });
      expect((await local(second, "POST", "settle")).data).toMatchObject({
        idle: true,
        deadLetters: 0,
      });
    }
    expect((await subjects(second)).filter((subject) => subject !== "at once")).toEqual([
      "much later",
      "soon",
    ]);
    // The hand-over of this mail may have been interrupted.
    const atOnce = await client.call<{ status: string }>(
      "GET",
      `/sends/${body.data.id}`,
      undefined,
      { service: second.url },
    );
    expect(atOnce.body.data.status).toMatch(/^(sent|delivered|uncertain)$/);
  },
);

// The test does not move the clock. A lease lasts for minutes, so a start that waits for it exceeds
// the timeout.
test("a start after a crash continues the hand-over without waiting for leases", async () => {
  const DATA_DIR = await folder();
  const first = await startServiceProcess({ DATA_DIR });
  const client = await signedUp({ service: first.url });
  const configId = await createSendingConfig(first, client, { ratePerSecond: 20 });
  const recipients = Array.from({ length: 100 }, (_, i) => ({ to: `r${i}@example.com` }));
  const content = { sendingConfigId: configId, subject: "Hello", html: "<p>Hello</p>" };
  const accepted = expectStatus(
    202,
    await client.call<{ batchId: number }>("POST", "/send/batch", { ...content, recipients }),
  );
  await expect.poll(async () => (await subjects(first)).length).toBeGreaterThan(0);
  first.kill("SIGKILL");
  await first.exitCode;

  const second = await start({ DATA_DIR });
  const statuses = async () => {
    const path = `/sends?batchId=${accepted.body.data.batchId}&limit=100`;
    const { body } = await client.call<{ sends: { status: string }[] }>("GET", path, undefined, {
      service: second.url,
    });
    return body.data.sends.map(({ status }) => status);
  };
  const over = ["sent", "delivered", "uncertain"];
  await expect
    .poll(async () => (await statuses()).filter((status) => over.includes(status)).length, {
      interval: 1000,
    })
    .toBe(100);
  expect((await statuses()).filter((status) => status === "uncertain").length).toBeLessThanOrEqual(
    20,
  );
});

test.runIf(existsSync("/proc/self/cmdline"))(
  "a database engine that ends is started again; until then responses are 503 with Retry-After",
  async () => {
    const DATA_DIR = await folder();
    const service = await start({ DATA_DIR });
    const client = await signedUp({ service: service.url });
    process.kill(await engineOf(DATA_DIR), "SIGKILL");
    const { status, headers } = await client.call("GET", "/auth/me");
    expect([200, 503]).toContain(status);
    if (status === 503) expect(headers.get("retry-after")).toBe("5");
    await expect.poll(async () => (await client.call("GET", "/auth/me")).status).toBe(200);
  },
  60_000,
);

/** Finds the process id of the database engine of this folder. */
async function engineOf(dataDir: string): Promise<number> {
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (command.includes(dataDir) && command.includes("dynoxide") && !command.startsWith("/bin/sh"))
      return Number(pid);
  }
  throw new Error("No database engine runs");
}

test("scheduled mail is due when the clock is moved, and settle does not move the clock that far", async () => {
  const service = await start();
  const client = await signedUp({ service: service.url });
  await createSendingConfig(service, client);
  const before = (await local<Time>(service, "GET", "clock")).data;
  expect(before.offsetSeconds).toBe(0);
  expectStatus(
    202,
    await client.call("POST", "/send", { ...mail("soon"), scheduledAt: inMinutes(10) }),
  );
  expectStatus(
    202,
    await client.call("POST", "/send", {
      ...mail("in a week"),
      scheduledAt: inMinutes(7 * 24 * 60),
    }),
  );
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

test("a moved clock stays moved after a restart", async () => {
  const DATA_DIR = await folder();
  const first = await startServiceProcess({ DATA_DIR });
  await local(first, "POST", "clock", { advanceSeconds: 86_400 });
  await first.stop();
  const second = await start({ DATA_DIR });
  expect((await local<Time>(second, "GET", "clock")).data.offsetSeconds).toBe(86_400);
  expect(second.output()).toContain("24 hours ahead");
});

test("request units are counted by operation, and can be reset", async () => {
  interface Usage {
    operations: Record<string, { calls: number }>;
    total: { readUnits: number; writeUnits: number; calls: number };
  }
  const service = await start();
  await signedUp({ service: service.url });
  const usage = (await local<Usage>(service, "GET", "usage")).data;
  expect(usage.total.writeUnits).toBeGreaterThan(5);
  expect(usage.operations.GetItem?.calls).toBeGreaterThan(0);
  expect((await local<Usage>(service, "POST", "usage")).data).toEqual({
    operations: {},
    total: { readUnits: 0, writeUnits: 0, calls: 0 },
  });
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
])("%s /_local/%s %s is %i with our error format", async (method, path, body, status) => {
  const { url } = await shared();
  const answer = await fetch(`${url}/_local/${path}`, { method, ...(body && { body }) });
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({
    error: expect.any(String),
    code: expect.any(String),
    requestId: expect.any(String),
  });
});

test("the time zone of the machine changes no mail", async () => {
  const service = await start({ TZ: "Pacific/Auckland", DATA_DIR: ":memory:" });
  const { call, siteId } = await signedUp({ service: service.url });
  const html = '{{ "2026-03-29T10:00:00" | date: "%d %H:%M" }}';
  const template = { siteId, name: "Dates", subject: "Dates", html };
  const { id } = (await call<{ id: number }>("POST", "/templates", template)).body.data;
  const rendered = await call<{ html: string }>("POST", `/templates/${id}/render`, {});
  expect(rendered.body.data.html).toBe("29 10:00");
});

test("an invalid body of a local endpoint gets the same error as in the API", async () => {
  const { url } = await shared();
  const errorOf = async (body?: string) => {
    const answer = await fetch(`${url}/_local/clock`, { method: "POST", ...(body && { body }) });
    return ((await answer.json()) as { error: string }).error;
  };
  expect(await errorOf()).toBe("advanceSeconds is required");
  expect(await errorOf('{"advanceSeconds":"soon"}')).toMatch(/^advanceSeconds: must be a number/);
});

test.each([
  ["a request that is not HTTP", "hello\r\n\r\n", /^HTTP\/1\.1 400 /],
  [
    "a path that does not decode",
    "GET /api/v1/sites/%E0%A4%A HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    /^HTTP\/1\.1 404 /,
  ],
  [
    "a path of two slashes",
    "GET //evil.example/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    /^HTTP\/1\.1 404 /,
  ],
  ["a star", "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 404 /],
  [
    "a whole URL",
    "GET http://other.example/api/v1/sites HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    /^HTTP\/1\.1 401 /,
  ],
  [
    "headers without end",
    `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(40_000)}\r\n\r\n`,
    /^HTTP\/1\.1 431 /,
  ],
])("%s gets a response, and the service keeps working", async (_, bytes, answer) => {
  const { url } = await shared();
  expect(await exchange(url, bytes)).toMatch(answer);
  expect((await fetch(`${url}/api/v1/sites`)).status).toBe(401);
});

test("a client that disconnects in the middle of its request causes no error", async () => {
  const { url, output } = await shared();
  for (let i = 0; i < 20; i++) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(
      "POST /api/v1/auth/signup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
    );
    await pause(5);
    socket.destroy();
  }
  expect((await fetch(`${url}/api/v1/sites`)).status).toBe(401);
  expect(output().split(`ready ${url}`)[1]).not.toContain("ERROR");
});

test("a request in progress gets its response when the service is stopped", async () => {
  const service = await startServiceProcess();
  // Hashing a password takes long enough.
  const email = "slow@example.com";
  const signup = fetch(`${service.url}/api/v1/auth/signup`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password: "a horse of one's own" }),
  });
  await pause(20);
  // Ctrl-C under npm sends the signal twice.
  service.kill("SIGINT");
  service.kill("SIGINT");
  expect((await signup).status).toBe(201);
  expect(await service.exitCode).toBe(0);
});

describe("npm run plan", () => {
  const plan = async (args: string[], env: Record<string, string> = {}) => {
    const { exitCode, output } = launchProcess({ TABLE_NAME: "", ...env }, [
      process.execPath,
      "bin/plan.ts",
      ...args,
    ]);
    return { code: await exitCode, output: output() };
  };

  test("sets plan and credits in the local service with the same PORT", async () => {
    const { url } = await shared();
    const client = await signedUp({ service: url });
    const given = await plan([String(client.orgId), "growth", "500"], { PORT: new URL(url).port });
    expect(given).toEqual({
      code: 0,
      output: `Organization ${client.orgId} has the plan growth and 500 credits\n`,
    });
    const { body } = expectStatus(
      200,
      await client.call<{ plan: string }>("GET", "/plans/current"),
    );
    expect(JSON.stringify(body)).toContain('"growth"');
    expect(await plan(["999999", "growth", "--url", url])).toEqual({
      code: 1,
      output: "The organization does not exist\n",
    });
  });

  test("sets the plan in the service with the same DATA_DIR, over a private socket", async () => {
    const DATA_DIR = await folder();
    const none = await plan(["1", "growth"], { DATA_DIR });
    expect(none).toEqual({
      code: 1,
      output: expect.stringMatching(/^No service runs on the folder .* \(DATA_DIR\)/),
    });
    const production = { DATA_DIR, SANDBOX: "off", PUBLIC_URL: "https://mail.shop.example" };
    const first = await startServiceProcess(production);
    expect((await stat(join(DATA_DIR, "control.sock"))).mode & 0o777).toBe(0o600);
    first.kill("SIGKILL");
    await first.exitCode;
    const { url } = await start(production);
    const client = await signedUp({ service: url });
    const given = await plan([String(client.orgId), "growth", "500"], { DATA_DIR });
    expect(given).toEqual({
      code: 0,
      output: `Organization ${client.orgId} has the plan growth and 500 credits\n`,
    });
    expect(await plan(["999999", "growth"], { DATA_DIR })).toEqual({
      code: 1,
      output: "The organization does not exist\n",
    });
  });

  test("prints its usage for invalid arguments, and the URL if no service responds", async () => {
    const invalidArguments = [
      ["1", "gold"],
      ["1"],
      ["1", "growth", "5", "6"],
      ["1", "growth", "--colour"],
    ];
    const [unreachable, ...usages] = await Promise.all([
      plan(["1", "growth"], { PORT: "1" }),
      ...invalidArguments.map((args) => plan(args)),
    ]);
    expect(unreachable!.output).toMatch(/^No service responds at http:\/\/127\.0\.0\.1:1 .*\n$/);
    for (const one of usages)
      expect(one).toEqual({ code: 1, output: expect.stringMatching(/^.+\nUsage: npm run plan/) });
  });
});

const scripts = [
  "start",
  "plan",
  "demo",
  "bench",
  "openapi",
  "dynamodb",
  "deploy",
  "destroy",
  "cost",
  "backup",
  "export-all",
  "import-all",
  "after-restore",
];

test.each(sampleOf(2, scripts, "help"))(
  "bin/%s.ts --help prints the usage and does nothing else",
  async (script) => {
    const { exitCode, output } = launchProcess({ INIT_CWD: await folder() }, [
      process.execPath,
      `bin/${script}.ts`,
      "--help",
    ]);
    expect({ code: await exitCode, output: output() }).toEqual({
      code: 0,
      output: expect.stringMatching(/^Usage: npm (run|start)/),
    });
  },
);

test.each(sampleOf(2, scripts, "options"))(
  "bin/%s.ts refuses an unknown option",
  async (script) => {
    const { exitCode, output } = launchProcess({ INIT_CWD: await folder() }, [
      process.execPath,
      `bin/${script}.ts`,
      "--colour",
    ]);
    expect(await exitCode).toBe(1);
    expect(output()).toContain("--colour");
  },
);

test.each([
  ["export-all", [], "The option --out is missing\nUsage: npm run export-all"],
  [
    "export-all",
    ["--out", "x"],
    "Set PENNYMAIL_API_KEY to an API key of the organization, or add --key\n",
  ],
  ["import-all", ["--in", "x", "--out", "y"], "Unknown option '--out'\nUsage: npm run import-all"],
  [
    "after-restore",
    ["--stopped", "noon"],
    "The option --stopped needs a time, and excludes --nothing-sent\nUsage: npm run after-restore",
  ],
  ["after-restore", ["--stopped", "2026-11-30T09:12:00Z"], "No service runs on the folder "],
  ["destroy", ["-c", "stag=prod"], "There is no setting stag."],
])("bin/%s.ts %j reports the error in one sentence", async (script, args, sentence) => {
  const settings = { INIT_CWD: await folder(), PENNYMAIL_API_KEY: "", TABLE_NAME: "" };
  const { exitCode, output } = launchProcess(settings, [
    process.execPath,
    `bin/${script}.ts`,
    ...args,
  ]);
  expect(await exitCode).toBe(1);
  expect(output().startsWith(sentence), output()).toBe(true);
});

test("npm start leaves no process behind when it is stopped", async () => {
  const npm = launchProcess({}, ["npm", "start"]);
  await expect.poll(npm.output).toMatch(/^ready /m);
  const [, url] = /^ready (\S+)$/m.exec(npm.output())!;
  npm.kill("SIGTERM");
  await npm.exitCode;
  await expect
    .poll(() =>
      fetch(`${url}/sites`).then(
        () => "responds",
        () => "is stopped",
      ),
    )
    .toBe("is stopped");
});

let sharedService: Promise<RunningTestService> | undefined;
/** A service that no test stops and whose clock no test moves. */
function shared(): Promise<RunningTestService> {
  sharedService ??= startServiceProcess();
  return sharedService;
}
afterAll(async () => (await sharedService)?.stop());

/** Sends bytes over a TCP connection. Returns all that comes back. */
const exchange = (url: string, bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("close", () => resolve(answer)).on("error", reject);
  });
