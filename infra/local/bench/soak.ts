// A long and bad day: 20,000 mails, providers that fail one call in twenty, events twice and in any order, an endpoint that fails,
// and a service that is killed again and again. In the end the books of all sides must agree.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as clock from "../../../shared/clock.ts";
import { chunked, inParallel } from "../../../shared/parallel.ts";
import { simulatorDomain } from "../sandbox/fates.ts";
import { openSandbox, type Sandbox } from "../sandbox/index.ts";
import { address, type Organization, organization, Refusal, variables } from "./callers.ts";
import { type Line, openLine } from "./mischief.ts";
import { openReceiver, type Receiver } from "./receiver.ts";
import { balance, number, progress, type Row } from "./report.ts";
import { type Launched, launch } from "./service.ts";

const singles = 2000;
const batched = 18_000;
const mails = singles + batched;
const mailsToKill = 3000;

interface Day {
  sandbox: Sandbox;
  line: Line;
  endpoint: Receiver;
  service: Launched;
  caller: Organization;
  /** Errors in the service's log. */
  errors: number;
  kills: number;
  restart(): Promise<void>;
}

export async function run(): Promise<Row[]> {
  const dataDir = await mkdtemp(join(tmpdir(), "pennymail-soak-"));
  const day = await begin(dataDir);
  try {
    const feeding = feed(day.caller);
    await disturb(day, feeding);
    const ids = await feeding;
    // What the endpoint refused several times in a row is told again after half an hour, two hours, five.
    for (const seconds of [0, 2000, 8000, 20_000]) {
      await pass(day, seconds);
      await calmDown(day);
    }
    return await books(day, ids);
  } finally {
    await day.service.stop();
    await Promise.all([day.sandbox.stop(), day.line.close(), day.endpoint.close()]);
    await rm(dataDir, { recursive: true });
  }
}

async function begin(dataDir: string): Promise<Day> {
  const sandbox = await openSandbox({ dataDir: ":memory:", publicUrl: () => "" });
  const line = await openLine(() => day.service.url);
  const endpoint = await openReceiver(() => (Math.random() < 0.05 ? 500 : 200));
  const settings = { DATA_DIR: dataDir, PUBLIC_URL: line.url, ALLOW_LOOPBACK_WEBHOOKS: "on" };
  const start = (port: string) => launch(sandbox, { ...settings, PORT: port }, () => day.errors++);
  const restart = async () => {
    await day.service.kill();
    day.kills++;
    day.service = await start(new URL(day.service.url).port);
    await pass(day, leasesEndSeconds);
  };
  const day = { sandbox, line, endpoint, errors: 0, kills: 0, restart } as Day;
  day.service = await start("0");
  day.caller = await organization({ url: day.service.url, sandbox }, { heard: true });
  await day.caller.call("POST", "/webhooks", { url: endpoint.url, events: Object.values(types) });
  return day;
}

/** Whose worker was killed is taken up when its lease is over: that time passes here at once. */
const leasesEndSeconds = 300;

async function pass({ service: { url } }: Day, advanceSeconds: number) {
  await fetch(`${url}/_local/clock`, { method: "POST", body: JSON.stringify({ advanceSeconds }) });
  clock.advance(advanceSeconds);
  await settle(url, 1);
}

interface Settled {
  dry: boolean;
}

async function settle(url: string, limitSeconds: number): Promise<Settled> {
  const body = JSON.stringify({ waitSeconds: 900, maxWaitedSeconds: 7200, limitSeconds });
  const response = await fetch(`${url}/_local/settle`, { method: "POST", body });
  return ((await response.json()) as { data: Settled }).data;
}

/** Kills the service whenever the provider has got some more mail, and once while it learns what became of it. */
async function disturb(day: Day, feeding: Promise<unknown>) {
  let fed = false;
  void feeding.finally(() => {
    fed = true;
  });
  for (let next = mailsToKill; next < mails || !fed; ) {
    const { accepted } = day.sandbox.stats();
    progress(`soak, killed ${day.kills} times`, accepted, mails);
    if (accepted >= next && next < mails) {
      next += mailsToKill;
      await day.restart();
    } else if (fed && accepted + mailsToKill >= mails) break;
    else await clock.sleep(20);
  }
  await day.restart();
}

/** Until nobody has anything left to do or to tell: twice in a row all is done, and nothing has come or gone meanwhile. */
async function calmDown({ sandbox, line, endpoint, service }: Day) {
  const moves = () => sandbox.stats().accepted + line.carried.calls + endpoint.calls.length;
  for (let calm = 0; calm < 2; ) {
    progress("what is left is brought to its end");
    const before = moves();
    await sandbox.settle();
    await line.empty();
    const { dry } = await settle(service.url, 120);
    calm = dry && moves() === before ? calm + 1 : 0;
  }
}

/** One call in twenty meets a flaky provider; some mails are opened, clicked or bounce. */
function recipient(i: number, flaky: boolean): string {
  const fate = flaky ? "flaky" : i % 10 === 1 ? "opened" : i % 25 === 2 ? "clicked" : i % 40 === 3 ? "bounced" : undefined;
  return fate ? `${fate}+${i}@${simulatorDomain}` : address(i);
}

// A batch goes out in calls of 100.
const batchRecipient = (i: number) => ({ to: recipient(i, i % 2000 === 57), variables: variables(i) });
const singleRecipient = (i: number) => ({ to: recipient(i, i % 20 === 0), variables: variables(i) });

/** Sends it all, and answers with the ids of what was accepted. */
async function feed({ call, configId, templateId }: Organization): Promise<number[]> {
  const content = { sendingConfigId: configId, templateId };
  const post = <T>(path: string, key: string, body: object) => insisting(() => call<T>("POST", path, body, { "idempotency-key": key }));
  const numbers = Array.from({ length: mails }, (_, i) => i);
  const [inBatches, alone] = [numbers.slice(0, batched), numbers.slice(batched)];
  const batches = inParallel(2, chunked(inBatches, 1000), async (some, n) => {
    const recipients = some.map(batchRecipient);
    const { data } = await post<{ results: { id: number }[] }>("/send/batch", `batch ${n}`, { ...content, recipients });
    return data.results.map(({ id }) => id);
  });
  const single = inParallel(5, alone, async (i) => {
    const { data } = await post<{ id: number }>("/send", `single ${i}`, { ...content, ...singleRecipient(i) });
    return data.id;
  });
  return [...(await batches).flat(), ...(await single)];
}

/** As a client that means it: the same request under the same key, until there is an answer. */
async function insisting<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (error instanceof Refusal && error.status < 500 && error.status !== 409 && error.status !== 429) throw error;
      await clock.sleep(200);
    }
  }
}

/** Our types by SendGrid's names. */
const types: Record<string, string> = { delivered: "delivered", open: "open", click: "click", bounce: "bounce" };

async function books({ sandbox, line, endpoint, caller, errors, kills }: Day, ids: number[]): Promise<Row[]> {
  const statuses = await statusesOf(caller);
  const count = (...names: string[]) => names.reduce((sum, name) => sum + (statuses.get(name) ?? 0), 0);
  const told = new Set(endpoint.calls.filter(({ status }) => status === 200).map(({ headers }) => headers["webhook-id"]));
  const events = await Promise.all(
    Object.entries(types).map(async ([name, type]) =>
      balance(`${type}: counted`, await totalOf(caller, type), line.events.get(name)?.size ?? 0),
    ),
  );
  const counted = await totalOf(caller);
  return [
    {
      what: "killed",
      value: number(kills),
      note: `${number(errors)} errors in its log; ${number(line.carried.again)} of ${number(line.carried.calls)} calls with events came again`,
    },
    balance("mails accepted, each once", new Set(ids).size, mails),
    balance(
      "of these found by GET /sends",
      [...statuses.values()].reduce((sum, n) => sum + n, 0),
      mails,
      [...statuses].map(([name, n]) => `${number(n)} ${name}`).join(", "),
    ),
    balance("queued or in work", count("queued", "scheduled", "sending"), 0),
    balance("mails at the provider, each once", line.messages.size, sandbox.stats().accepted),
    balance(
      "at the provider, or uncertain",
      line.messages.size + count("uncertain"),
      mails,
      "uncertain: killed between saying and doing, and never heard of",
    ),
    balance("delivered or bounced", count("delivered", "failed"), line.messages.size),
    ...events,
    balance(
      "events brought to the endpoint, each under one id",
      told.size,
      counted,
      `in ${number(endpoint.calls.length)} calls, of which ${number(endpoint.calls.filter(({ status }) => status !== 200).length)} were refused`,
    ),
  ];
}

async function totalOf({ call }: Organization, type?: string): Promise<number> {
  const { data } = await call<{ pagination: { total: number } }>("GET", `/events?limit=1${type ? `&type=${type}` : ""}`);
  return data.pagination.total;
}

/** How many sends there are of each status, by reading all of them. */
async function statusesOf({ call }: Organization): Promise<Map<string, number>> {
  const statuses = new Map<string, number>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { data }: { data: Page } = await call<Page>("GET", `/sends?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    for (const { status } of data.sends) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    cursor = data.pagination.nextCursor;
  }
  return statuses;
}

interface Page {
  sends: { status: string }[];
  pagination: { nextCursor: string | null };
}
