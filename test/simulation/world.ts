// One simulated world: the service, everything outside of it, the clock and the network between
// them. Every choice comes from one seed.
import { createHash } from "node:crypto";
import { webhookProviderKeys } from "../../shared/providers/provider-keys.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { stepSubjects } from "./areas/sequences.ts";
import { createFaultPlan, type Fault, isDuring } from "./faults.ts";
import { createNetwork } from "./network.ts";
import {
  type ApiAnswer,
  createOutside,
  type Gateway,
  loadGateway,
  loadSandbox,
  type Outside,
  type SandboxCode,
} from "./outside.ts";
import { createService, loadService, type Service, type ServiceCode } from "./service.ts";
import { createSimulatedTime, type SimulatedTime } from "./simulated-time.ts";
import { createMemoryTable, type MemoryTable } from "./table.ts";

const origin = "https://mail.sim";

/** The settings of the service. */
const settings: Record<string, string> = {
  TABLE_NAME: "simulated",
  BUCKET_NAME: "simulated",
  KMS_KEY_ID: "11111111-2222-4333-8444-555555555555",
  PUBLIC_URL: origin,
  SIGNUP: "open",
  DEFAULT_PLAN: "unlimited",
  EMAIL_VERIFICATION: "off",
  ALLOW_LOOPBACK_WEBHOOKS: "on",
  ADDRESS_LIMIT_PER_MINUTE: "100000",
  LOG_LEVEL: "ERROR",
  // The stand-in of Amazon SES also serves the certificate of SNS.
  SNS_URL: "https://ses.sim",
};

export interface Code {
  service: ServiceCode;
  sandbox: SandboxCode;
  gateway: Gateway;
}

/** Bundles the service. Takes a few seconds, once per run of the command. */
export async function loadCode(): Promise<Code> {
  const queueNames = (await import("../../shared/queues.ts")).queues;
  Object.assign(process.env, settings);
  for (const { name } of Object.values(queueNames))
    process.env[`QUEUE_URL_${toEnvName(name)}`] = `https://queue.sim/${name}`;
  for (const key of webhookProviderKeys)
    process.env[`PROVIDER_URL_${toEnvName(key)}`] = `https://${key}.sim`;
  const [service, sandbox, gateway] = await Promise.all([
    loadService(),
    loadSandbox(),
    loadGateway(),
  ]);
  return { service, sandbox, gateway };
}

const toEnvName = (name: string) => name.toUpperCase().replaceAll("-", "_");

export interface World {
  time: SimulatedTime;
  start: number;
  random: () => number;
  service: Service;
  outside: Outside;
  table: MemoryTable;
  /** Calls the API like a careful caller: repeats a request until it is answered. */
  call<T>(method: string, path: string, body?: object): Promise<CallResult<T>>;
  tell(sentence: string): void;
  /** What happened, as sentences with their time. */
  story: string[];
  /** When the last effect of the faults so far ends, in milliseconds since 1970. */
  faultsEndAt(): number;
  /** How many calls faults struck since then, in milliseconds since 1970. */
  countFaultsSince(at: number): number;
  /** A hash of every call and log line so far. */
  traceHash(): string;
}

export interface CallResult<T> {
  status: number;
  data: T;
  error: string;
}

interface WorldOptions {
  code: Code;
  seed: number;
  faults: Fault[];
  start: number;
  table: MemoryTable;
  apiKey?: string;
  /** Deliveries of a message before it is a dead letter. */
  attempts?: number | undefined;
  /** Receives every line of the trace. */
  onTrace?: (line: string) => void;
}

export function createWorld({
  code,
  seed,
  faults,
  start,
  table,
  apiKey,
  attempts,
  onTrace,
}: WorldOptions): World {
  const time = createSimulatedTime(start);
  const random = seededRandom(seed);
  const hash = createHash("sha256");
  let untilHashed = "";
  const hashTrace = () => {
    hash.update(untilHashed);
    untilHashed = "";
  };
  const story: string[] = [];
  const stamp = () => new Date(time.now()).toISOString().slice(11, 23);
  const trace = (line: string) => {
    const stamped = `${time.now()} ${line}`;
    untilHashed += stamped;
    if (untilHashed.length > 100_000) hashTrace();
    onTrace?.(stamped);
  };
  const tell = (sentence: string) => {
    trace(sentence);
    story.push(`${stamp()} ${sentence}.`);
  };
  const faultPlan = createFaultPlan(faults);
  const { outage } = faultPlan;
  // Work that fails after the outage may have lost a race with the same events, sent again.
  const isOutageOnly = (since: number) =>
    outage !== undefined &&
    isDuring(outage, time.now() - start) &&
    faultPlan.countSince(since - start) === 0;
  const network = createNetwork({
    time,
    start,
    random: seededRandom(seed + 1),
    faults: faultPlan,
    trace,
    tell,
  });
  // The parts of a world need each other.
  const parts: { service?: Service } = {};
  const outside = createOutside({
    sandbox: code.sandbox,
    gateway: code.gateway,
    time,
    random: seededRandom(seed + 2),
    network,
    callFunction: (module, event) => parts.service!.callFunction(module, event),
  });
  const service = createService({
    code: code.service,
    time,
    random: seededRandom(seed + 3),
    network,
    table,
    vault: outside.vault,
    answerRequest: outside.answerRequest,
    attempts,
    isOutageOnly: outage && isOutageOnly,
    trace,
    tell,
  });
  parts.service = service;
  const call = async <T>(method: string, path: string, body?: object): Promise<CallResult<T>> => {
    const headers = {
      "content-type": "application/json",
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
      ...(method === "POST" && { "idempotency-key": `key-${Math.floor(random() * 1e15)}` }),
    };
    const answer = await repeatUntilAnswered(time, () =>
      outside.request({
        method,
        url: `${origin}/api/v1${path}`,
        headers,
        body: body && JSON.stringify(body),
      }),
    );
    const { status, body: given } = answer;
    return { status, data: given.data as T, error: given.error ?? "" };
  };
  return {
    time,
    start,
    random,
    service,
    outside,
    table,
    call,
    tell,
    story,
    faultsEndAt: () => start + faultPlan.lastEnd(),
    countFaultsSince: (at) => faultPlan.countSince(at - start),
    traceHash() {
      hashTrace();
      return hash.copy().digest("hex").slice(0, 16);
    },
  };
}

/** Repeats a request without an answer, and one that the service could not handle. */
async function repeatUntilAnswered(
  time: SimulatedTime,
  request: () => Promise<ApiAnswer>,
): Promise<ApiAnswer> {
  for (let tries = 0; ; tries++) {
    const answer = await request().catch(() => undefined);
    if (answer && isFinal(answer)) return answer;
    if (tries > 200) throw new Error(`A caller got no answer: ${JSON.stringify(answer)}`);
    await new Promise<void>((resolve) => time.after(3000, resolve));
  }
}

/** Every other conflict is an answer: the same request would get it again. */
const isFinal = ({ status, body }: ApiAnswer): boolean =>
  status < 500 && status !== 429 && body.code !== "idempotency_in_progress";

/** What every simulation starts with: an organization, ready to send. */
export interface PreparedWorld {
  table: MemoryTable;
  /** Milliseconds since 1970. */
  endedAt: number;
  apiKey: string;
  siteId: number;
  listId: number;
  templateId: number;
  /** A sequence without a sending config, as a draft. */
  sequenceId: number;
  configs: { id: number; provider: string; call: object }[];
  contacts: { id: number; email: string }[];
}

const firstStart = Date.parse("2027-01-04T08:00:00Z");
const contactCount = 12;

/** Signs up and adds a site, sending configs, a list with contacts and a webhook endpoint. */
export async function prepareWorld(
  code: Code,
  table = createMemoryTable([], { countsUnits: false }),
): Promise<PreparedWorld> {
  const world = createWorld({ code, seed: 0, faults: [], start: firstStart, table });
  const prepared = await world.time.runUntilSettled(prepare(world));
  await world.time.runUntil(world.time.now() + 30 * 60_000);
  return { ...prepared, table: world.table, endedAt: world.time.now() };
}

interface Created {
  id: number;
  /** Of an API key. */
  key: string;
}

async function prepare(world: World): Promise<Omit<PreparedWorld, "table" | "endedAt">> {
  const { outside } = world;
  const send = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const request = {
      method: "POST",
      url: `${origin}/api/v1${path}`,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    };
    const answer = await outside.request(request);
    if (answer.status >= 300)
      throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return { data: answer.body.data as unknown as Created, cookies: answer.cookies };
  };
  const signUp = await send("/auth/signup", {
    email: "owner@shop.example",
    password: "a long pass phrase",
  });
  const cookie = { cookie: signUp.cookies[0]!.split(";")[0]! };
  const apiKey = (await send("/api-keys", { name: "simulation" }, cookie)).data.key;
  const key = { authorization: `Bearer ${apiKey}` };
  const create = async (path: string, body: object) => (await send(path, body, key)).data.id;
  const siteId = await create("/sites", {
    name: "Shop",
    companyName: "Shop Ltd",
    physicalAddress: "1 High Street, London",
  });
  const configs: PreparedWorld["configs"] = [];
  for (const provider of webhookProviderKeys) {
    const body = {
      name: provider,
      provider,
      fromEmail: "news@shop.example",
      ...outside.credentialsAt(provider),
    };
    const { data } = await send("/sending-configs", body, key);
    const call = {
      method: "POST",
      path: "/api/v1/sending-configs",
      requestBody: body,
      responseBody: { data },
    };
    configs.push({ id: data.id, provider, call });
  }
  const templateId = await create("/templates", {
    name: "News",
    subject: "News",
    html: "<p>Hello {{ firstName }}</p>",
  });
  await create("/webhooks", {
    url: "https://customer.sim/hook",
    events: ["delivered", "bounce", "spam_report", "open", "click", "unsubscribe"],
  });
  const listId = await create("/lists", { name: "Everyone" });
  const contacts: PreparedWorld["contacts"] = [];
  for (let i = 0; i < contactCount; i++) {
    const email = `reader${i}@readers.example`;
    contacts.push({ id: await create("/contacts", { email, lists: [listId] }), email });
  }
  const sequenceId = await create("/sequences", { name: "Welcome", triggerType: "manual" });
  const emailSteps: object[] = [];
  for (const subject of Object.values(stepSubjects)) {
    const stepTemplateId = await create("/templates", {
      name: subject,
      subject,
      html: "<p>Hi</p>",
    });
    emailSteps.push({ type: "email", templateId: stepTemplateId });
  }
  await create(`/sequences/${sequenceId}/steps`, { steps: toSequenceSteps(emailSteps) });
  return { apiKey, siteId, listId, templateId, sequenceId, configs, contacts };
}

/** A wait and a branch after the first email. */
const toSequenceSteps = ([first, opened, unopened]: object[]) => [
  { stepOrder: 1, ...first },
  { stepOrder: 2, type: "delay", delayMinutes: 30 },
  {
    stepOrder: 3,
    type: "condition",
    conditionConfig: {
      match: "all",
      conditions: [{ field: "step.1.opened", operator: "exists" }],
    },
    trueBranchStepOrder: 4,
    falseBranchStepOrder: 5,
  },
  { stepOrder: 4, ...opened, nextStepOrder: null },
  { stepOrder: 5, ...unopened },
];
