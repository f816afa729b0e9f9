// 20,000 mails while the provider fails one call in twenty, events come twice and in any order, the
// endpoint fails, and the service is killed repeatedly. In the end the counts of all sides must be
// equal.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type BenchReceiver, startReceiver } from "../../infra/local/bench/http-receiver.ts";
import { launchService, type ServiceProcess } from "../../infra/local/bench/measured-service.ts";
import {
  ApiRefusal,
  type BenchOrganization,
  createOrganization,
  uniqueAddress,
  variablesFor,
} from "../../infra/local/bench/organizations.ts";
import { openSandbox, type Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import { type SimulatedOutcome, simulatorDomain } from "../../infra/local/sandbox/simulator.ts";
import * as clock from "../../shared/clock.ts";
import { inParallel, splitIntoBatches } from "../../shared/kernel/parallel.ts";
import { everything } from "../support/extent.ts";
import { randomOfTest } from "../support/seeded-random.ts";
import { openUnreliableLine, type UnreliableLine } from "../support/unreliable-line.ts";

const singles = 2000;
const batched = 18_000;
const mails = singles + batched;
const mailsPerKill = 3000;

interface SoakRun {
  sandbox: Sandbox;
  line: UnreliableLine;
  endpoint: BenchReceiver;
  service: ServiceProcess;
  caller: BenchOrganization;
  restart(): Promise<void>;
}

// Takes several minutes: npm run test:all -- soak
test.runIf(everything)(
  "20,000 mails with kills, provider failures and unreliable webhooks leave all counts equal",
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "pennymail-soak-"));
    const run = await startSoak(dataDir);
    onTestFinished(async () => {
      await run.service.stop();
      await Promise.all([run.sandbox.stop(), run.line.close(), run.endpoint.close()]);
      await rm(dataDir, { recursive: true });
    });
    const sending = sendAllMail(run.caller);
    await killRepeatedly(run, sending);
    const ids = await sending;
    // Webhooks that the endpoint refused several times are retried after half an hour, two hours
    // and five hours.
    for (const seconds of [0, 2000, 8000, 20_000]) {
      await advanceClock(run, seconds);
      await waitUntilAllIdle(run);
    }
    await expectBalance(run, ids);
  },
);

const random = randomOfTest("customer endpoint");

async function startSoak(dataDir: string): Promise<SoakRun> {
  const sandbox = await openSandbox({ dataDir: ":memory:", publicUrl: () => "" });
  const line = await openUnreliableLine(() => run.service.url);
  const endpoint = await startReceiver(() => (random() < 0.05 ? 500 : 200));
  const settings = { DATA_DIR: dataDir, PUBLIC_URL: line.url, ALLOW_LOOPBACK_WEBHOOKS: "on" };
  const start = (port: string) =>
    launchService(sandbox, { ...settings, PORT: port }, () => undefined);
  const restart = async () => {
    await run.service.kill();
    run.service = await start(new URL(run.service.url).port);
    await advanceClock(run, maxLeaseSeconds);
  };
  const run = { sandbox, line, endpoint, restart } as SoakRun;
  run.service = await start("0");
  run.caller = await createOrganization(
    { url: run.service.url, sandbox },
    { receivesEvents: true },
  );
  await run.caller.call("POST", "/webhooks", { url: endpoint.url, events: Object.values(types) });
  return run;
}

/** Work of a killed worker resumes when its lease expires, so the clock advances past it. */
const maxLeaseSeconds = 300;

async function advanceClock({ service: { url } }: SoakRun, advanceSeconds: number) {
  await fetch(`${url}/_local/clock`, { method: "POST", body: JSON.stringify({ advanceSeconds }) });
  clock.advanceClock(advanceSeconds);
  await runUntilIdle(url, 1);
}

interface IdleResult {
  idle: boolean;
}

async function runUntilIdle(url: string, limitSeconds: number): Promise<IdleResult> {
  const body = JSON.stringify({ waitSeconds: 900, maxWaitedSeconds: 7200, limitSeconds });
  const response = await fetch(`${url}/_local/settle`, { method: "POST", body });
  return ((await response.json()) as { data: IdleResult }).data;
}

/**
 * Kills the service each time the provider has accepted some more mails, and once while events
 * arrive.
 */
async function killRepeatedly(run: SoakRun, sending: Promise<unknown>) {
  let allSent = false;
  void sending.finally(() => {
    allSent = true;
  });
  for (let next = mailsPerKill; next < mails || !allSent; ) {
    const { accepted } = run.sandbox.stats();
    if (accepted >= next && next < mails) {
      next += mailsPerKill;
      await run.restart();
    } else if (allSent && accepted + mailsPerKill >= mails) break;
    else await clock.sleep(20);
  }
  await run.restart();
}

/** Waits until all parts are idle twice in a row, without activity in between. */
async function waitUntilAllIdle({ sandbox, line, endpoint, service }: SoakRun) {
  const countActivity = () =>
    sandbox.stats().accepted + line.forwarded.calls + endpoint.calls.length;
  for (let idleRounds = 0; idleRounds < 2; ) {
    const before = countActivity();
    await sandbox.flushWebhooks();
    await line.waitUntilEmpty();
    const { idle } = await runUntilIdle(service.url, 120);
    idleRounds = idle && countActivity() === before ? idleRounds + 1 : 0;
  }
}

/** Some mails are opened, are clicked or bounce. */
function recipient(i: number, flaky: boolean): string {
  const outcomes: [applies: boolean, outcome: SimulatedOutcome][] = [
    [flaky, "flaky"],
    [i % 10 === 1, "opened"],
    [i % 25 === 2, "clicked"],
    [i % 40 === 3, "bounced"],
  ];
  const outcome = outcomes.find(([applies]) => applies)?.[1];
  return outcome ? `${outcome}+${i}@${simulatorDomain}` : uniqueAddress(i);
}

// A batch goes out in calls of 100.
const batchRecipient = (i: number) => ({
  to: recipient(i, i % 2000 === 57),
  variables: variablesFor(i),
});
const singleRecipient = (i: number) => ({
  to: recipient(i, i % 20 === 0),
  variables: variablesFor(i),
});

/** Returns the ids of the accepted mails. */
async function sendAllMail({
  request,
  configId,
  templateId,
}: BenchOrganization): Promise<number[]> {
  const content = { sendingConfigId: configId, templateId };
  const post = <T>(path: string, key: string, body: object) =>
    retryUntilAnswered(() =>
      request<T>({ method: "POST", path, body, headers: { "idempotency-key": key } }),
    );
  const numbers = Array.from({ length: mails }, (_, i) => i);
  const [inBatches, oneByOne] = [numbers.slice(0, batched), numbers.slice(batched)];
  const batches = inParallel(2, splitIntoBatches(inBatches, 1000), async (batch, n) => {
    const recipients = batch.map(batchRecipient);
    const { data } = await post<{ results: { id: number }[] }>("/send/batch", `batch ${n}`, {
      ...content,
      recipients,
    });
    return data.results.map(({ id }) => id);
  });
  const single = inParallel(5, oneByOne, async (i) => {
    const { data } = await post<{ id: number }>("/send", `single ${i}`, {
      ...content,
      ...singleRecipient(i),
    });
    return data.id;
  });
  return [...(await batches).flat(), ...(await single)];
}

/** Repeats the request with the same idempotency key until it succeeds. */
async function retryUntilAnswered<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (
        error instanceof ApiRefusal &&
        error.status < 500 &&
        error.status !== 409 &&
        error.status !== 429
      )
        throw error;
      await clock.sleep(200);
    }
  }
}

/** Event types of the API by the names of SendGrid. */
const types: Record<string, string> = {
  delivered: "delivered",
  open: "open",
  click: "click",
  bounce: "bounce",
};

async function expectBalance(
  { sandbox, line, endpoint, caller }: SoakRun,
  ids: number[],
): Promise<void> {
  const statuses = await statusesOf(caller);
  const count = (...names: string[]) =>
    names.reduce((sum, name) => sum + (statuses.get(name) ?? 0), 0);
  const deliveredIds = new Set(
    endpoint.calls
      .filter(({ status }) => status === 200)
      .map(({ headers }) => headers["webhook-id"]),
  );
  expect(new Set(ids).size, "accepted mails").toBe(mails);
  expect(count(...statuses.keys()), "mails of GET /sends").toBe(mails);
  expect(count("queued", "scheduled", "sending"), "unfinished mails").toBe(0);
  expect(line.messages.size, "mails at the provider").toBe(sandbox.stats().accepted);
  // The service was killed during the call, and no event settled these.
  expect(line.messages.size + count("uncertain"), "mails with an outcome").toBe(mails);
  expect(count("delivered", "failed"), "delivered or bounced").toBe(line.messages.size);
  for (const [name, type] of Object.entries(types))
    expect(await totalOf(caller, type), `${type} events`).toBe(line.events.get(name)?.size ?? 0);
  expect(deliveredIds.size, "events at the endpoint").toBe(await totalOf(caller));
}

async function totalOf({ call }: BenchOrganization, type?: string): Promise<number> {
  const { data } = await call<{ pagination: { total: number } }>(
    "GET",
    `/events?limit=1${type ? `&type=${type}` : ""}`,
  );
  return data.pagination.total;
}

/** Counts sends by status, by reading all pages. */
async function statusesOf({ call }: BenchOrganization): Promise<Map<string, number>> {
  const statuses = new Map<string, number>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { data }: { data: SendsPage } = await call<SendsPage>(
      "GET",
      `/sends?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    for (const { status } of data.sends) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    cursor = data.pagination.nextCursor;
  }
  return statuses;
}

interface SendsPage {
  sends: { status: string }[];
  pagination: { nextCursor: string | null };
}
