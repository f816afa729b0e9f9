// Sending while DynamoDB rejects conflicting transactions, throttles and loses responses: which
// statuses callers get, which mails arrive, and whether all counts agree exactly.
import { randomInt } from "node:crypto";
import * as clock from "../../../shared/clock.ts";
import { inParallel } from "../../../shared/kernel/parallel.ts";
import { startDynamoDb } from "../engines/dynamodb.ts";
import { openSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import { simulatorDomain } from "../sandbox/simulator.ts";
import { type ConflictProxy, openConflictProxy } from "./conflict-proxy.ts";
import { launchService, type ServiceProcess } from "./measured-service.ts";
import { ApiRefusal, type BenchOrganization, createOrganization } from "./organizations.ts";
import { type BenchRow, equalRow, formatNumber, showProgress } from "./report.ts";

const singles = 200;
const batches = 10;
const batchSize = 100;
const contacts = 500;

interface Scene {
  proxy: ConflictProxy;
  sandbox: Sandbox;
  service: ServiceProcess;
  caller: BenchOrganization;
  content: object;
  listId: number;
  /** Mails of accepted requests, and recipients of started campaigns. */
  expected: number;
  errors: string[];
}

/** The first number is the seed. Each run prints its seed, so that it can be repeated. */
export async function run([seed = randomInt(1, 1_000_000)]: number[]): Promise<BenchRow[]> {
  const dynamo = await startDynamoDb(undefined, () => undefined);
  const proxy = await openConflictProxy({ endpoint: dynamo.endpoint, seed });
  const sandbox = await openSandbox({ dataDir: ":memory:", publicUrl: () => "" });
  const errors: string[] = [];
  const settings = {
    AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
    ...(dynamo.partiqlCommas && { PARTIQL_COMMAS: "on" }),
  };
  const service = await launchService(sandbox, settings, (line) => errors.push(line));
  try {
    const scene = await openScene({ proxy, sandbox, service, errors });
    const first: BenchRow = {
      what: "seed",
      value: String(seed),
      note: `npm run bench -- conflicts ${seed}`,
    };
    const undisturbed = await allParts(scene, "conflicts");
    proxy.set({ throttled: 0.03, lost: 0.02 });
    const disturbed = await allParts(scene, "throttled, responses lost");
    proxy.set({ throttled: 0, lost: 0 });
    return [first, ...undisturbed, ...disturbed, ...(await balanceRows(scene))];
  } finally {
    await service.stop();
    await Promise.all([sandbox.stop(), proxy.close()]);
    await dynamo.stop();
  }
}

type Parts = Pick<Scene, "proxy" | "sandbox" | "service" | "errors">;

async function openScene(parts: Parts): Promise<Scene> {
  const { service, sandbox } = parts;
  const caller = await createOrganization({ url: service.url, sandbox }, { receivesEvents: true });
  const listId = await caller.create("/lists", { name: "Everyone" });
  const tagId = await caller.create("/tags", { name: "Everyone" });
  const { orgId, siteId, configId, templateId } = caller;
  await service.query("insertContacts", {
    orgId,
    siteId,
    from: 0,
    count: contacts,
    listId,
    tagId,
    all: true,
  });
  return {
    ...parts,
    caller,
    listId,
    content: { sendingConfigId: configId, templateId },
    expected: 0,
  };
}

async function allParts(scene: Scene, how: string): Promise<BenchRow[]> {
  return [
    await measurePart(scene, `${how}: ${formatNumber(singles)} single sends at once`, sendSingles),
    await measurePart(scene, `${how}: ${formatNumber(batches)} batches at once`, sendBatches),
    await measurePart(scene, `${how}: a campaign to ${formatNumber(contacts)}`, sendCampaign),
  ];
}

type Statuses = (number | string)[];

/** Runs the work until the service is idle. Reports the statuses and what the proxy did. */
async function measurePart(
  scene: Scene,
  what: string,
  work: (scene: Scene) => Promise<Statuses>,
): Promise<BenchRow> {
  const { proxy, sandbox, service } = scene;
  showProgress(what);
  const before = { ...proxy.tally };
  proxy.contendedItems.clear();
  const startedAt = performance.now();
  const statuses = await work(scene);
  const seconds = (performance.now() - startedAt) / 1000;
  await waitUntilAllIdle(sandbox, service);
  const { conflicts, throttled, lost } = proxy.tally;
  const [worst] = [...proxy.contendedItems].toSorted(([, a], [, b]) => b - a);
  const errors = statuses.filter((status) => status !== 202 && status !== 200).length;
  const notes = [
    `answered in ${formatNumber(seconds)} s`,
    `${formatNumber(conflicts - before.conflicts)} conflicts`,
    worst && `most (${worst[1]}) of ${worst[0]}`,
    `${formatNumber(throttled - before.throttled)} throttled`,
    `${formatNumber(lost - before.lost)} responses lost`,
  ];
  return {
    what,
    value: formatCounts(statuses),
    aim: { text: "all 2xx", met: errors === 0 },
    mustHold: true,
    note: notes.filter(Boolean).join(", "),
  };
}

const formatCounts = (statuses: Statuses): string =>
  [...Map.groupBy(statuses, (status) => status)]
    .map(([status, all]) => `${formatNumber(all.length)} x ${status}`)
    .join(", ");

/** Waits until the service is idle twice in a row, without a new mail or event in between. */
async function waitUntilAllIdle(sandbox: Sandbox, { url }: ServiceProcess) {
  const countActivity = () => JSON.stringify(sandbox.stats());
  for (let idleRounds = 0; idleRounds < 2; ) {
    const before = countActivity();
    await sandbox.flushWebhooks();
    const body = JSON.stringify({ waitSeconds: 900, maxWaitedSeconds: 7200, limitSeconds: 60 });
    const response = await fetch(`${url}/_local/settle`, { method: "POST", body });
    const { data } = (await response.json()) as { data: { idle: boolean } };
    idleRounds = data.idle && countActivity() === before ? idleRounds + 1 : 0;
    await clock.sleep(100);
  }
}

let sent = 0;

function recipient(): string {
  const outcome = ["delivered", "opened", "clicked", "bounced"][sent++ % 4];
  return `${outcome}+${sent}@${simulatorDomain}`;
}

/**
 * One request without retries. Returns its status. The SDK would repeat a 503 with the same
 * idempotency key.
 */
async function requestStatus(
  scene: Scene,
  path: string,
  { body, mails }: { body: object; mails: number },
): Promise<number | string> {
  try {
    await scene.caller.call("POST", path, body);
    scene.expected += mails;
    return 202;
  } catch (error) {
    return error instanceof ApiRefusal ? error.status : String(error);
  }
}

const sendSingles = (scene: Scene): Promise<Statuses> =>
  Promise.all(
    Array.from({ length: singles }, () =>
      requestStatus(scene, "/send", {
        body: { ...scene.content, to: recipient() },
        mails: 1,
      }),
    ),
  );

function sendBatches(scene: Scene): Promise<Statuses> {
  const recipients = () => Array.from({ length: batchSize }, () => ({ to: recipient() }));
  const all = Array.from({ length: batches }, () => ({
    ...scene.content,
    recipients: recipients(),
  }));
  return inParallel(batches, all, (body) =>
    requestStatus(scene, "/send/batch", { body, mails: batchSize }),
  );
}

async function sendCampaign(scene: Scene): Promise<Statuses> {
  const { caller, content, listId } = scene;
  const id = await caller.create("/campaigns", { name: "News", ...content, listId });
  return [await requestStatus(scene, `/campaigns/${id}/send`, { body: {}, mails: contacts })];
}

/** The counts of the service, its counters and the provider must be equal. */
async function balanceRows({
  caller,
  sandbox,
  expected,
  errors,
  proxy,
}: Scene): Promise<BenchRow[]> {
  const get = async <T>(path: string) => (await caller.call<T>("GET", path)).data;
  const statuses = await statusesOf(caller);
  const count = (...names: string[]) =>
    names.reduce((sum, name) => sum + (statuses.get(name) ?? 0), 0);
  const { mails } = await get<{ mails: { accepted: number } }>("/billing/usage");
  const { pagination } = await get<{ pagination: { total: number } }>("/sends?limit=1");
  const { totals } = await get<{ totals: Record<string, number> }>("/analytics/overview");
  const uncertain = count("uncertain");
  return [
    equalRow(
      "mails that GET /sends lists",
      { value: statuses.values().reduce((sum, n) => sum + n, 0), expected },
      "requests with status 2xx",
    ),
    equalRow("mails that GET /sends counts", { value: pagination.total, expected }),
    equalRow("mails that the account counts", { value: mails.accepted, expected }),
    equalRow(
      "mails at the provider",
      { value: sandbox.stats().accepted, expected: expected - uncertain },
      `and ${uncertain} uncertain`,
    ),
    equalRow("unfinished mails", { value: count("queued", "scheduled", "sending"), expected: 0 }),
    equalRow("sent mails in the daily counters", {
      value: totals.sent ?? 0,
      expected: expected - uncertain,
    }),
    {
      what: "errors in the log",
      value: formatNumber(errors.length),
      note: [`${formatNumber(proxy.tally.calls)} calls of the table`, errors[0]?.slice(0, 300)]
        .filter(Boolean)
        .join("; "),
    },
  ];
}

/** Counts sends by status, by reading all pages. */
async function statusesOf({ call }: BenchOrganization): Promise<Map<string, number>> {
  const statuses = new Map<string, number>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { data }: { data: Page } = await call<Page>(
      "GET",
      `/sends?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    for (const { status } of data.sends) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    cursor = data.pagination.nextCursor;
  }
  return statuses;
}

interface Page {
  sends: { status: string }[];
  pagination: { nextCursor: string | null };
}
