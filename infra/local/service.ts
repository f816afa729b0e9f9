// The whole service in this process: the same functions as in the cloud, with what stands in for AWS around them.
import { setTimeout as pause } from "node:timers/promises";
import { SQSClient } from "@aws-sdk/client-sqs";
import { handler as fallback } from "../../functions/http/fallback.ts";
import { groups } from "../../functions/http/index.ts";
import { workers } from "../../functions/queue/index.ts";
import { ticks } from "../../functions/schedule/index.ts";
import * as laneRunner from "../../shared/domain/sending/lane-runner.ts";
import * as log from "../../shared/log.ts";
import { queues } from "../../shared/queues.ts";
import { addressOf } from "./address.ts";
import { control } from "./control.ts";
import { type Engines, startEngines } from "./engines.ts";
import { type Folder, openFolder } from "./folder.ts";
import { type Asked, type Gateway, gateway, refuse } from "./gateway.ts";
import { type Front, listen } from "./listen.ts";
import { poll } from "./poll.ts";
import { credentials, region } from "./queues.ts";
import { openSandbox, type Sandbox } from "./sandbox/index.ts";
import type { Works } from "./settle.ts";
import { ticking } from "./ticks.ts";
import { openTime, type Time } from "./time.ts";
import { isForeign } from "./visitors.ts";

export interface Service {
  /** Without a path: http://127.0.0.1:3000 */
  url: string;
  sandbox: boolean;
  /** How far the clock runs ahead of the machine's. */
  aheadSeconds: number;
  stop(): Promise<void>;
}

type Settings = Record<string, string | undefined>;

/** How long a stop waits for requests and messages in work; what is not done by then stays queued. */
const graceSeconds = 8;

/** By the settings of README, which also become this process's environment. Throws Trouble when it cannot start. */
export async function startService(settings: Settings): Promise<Service> {
  const stops: (() => Promise<unknown> | undefined)[] = [];
  const stop = async () => {
    for (const each of stops.reverse().splice(0)) await each();
  };
  try {
    const dataDir = settings.DATA_DIR || ".data";
    const folder = openFolder(dataDir);
    stops.push(async () => folder.close());
    const front = await listen({ ...addressOf({ HOST: settings.HOST, PORT: settings.PORT }), report });
    stops.push(() => front.stop(0));
    const sandbox = settings.SANDBOX === "off" ? undefined : await openSandbox({ dataDir, publicUrl: () => process.env.PUBLIC_URL! });
    stops.push(async () => sandbox?.stop());
    const engines = await startEngines({
      folder,
      queues: Object.values(queues),
      secrets: secretsOf(settings, sandbox),
      dynamoDb: settings.AWS_ENDPOINT_URL_DYNAMODB,
    });
    stops.push(engines.stop);
    enter(settings, front, sandbox, engines);
    const works = start(folder, engines, sandbox);
    stops.push(() => rest(works, front));
    front.answer(respond(gateway(groups, fallback), control(works), sandbox));
    return { url: front.url, sandbox: Boolean(sandbox), aheadSeconds: works.time.offsetSeconds(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const report = (error: unknown): void => log.failure("local runner", error);

/** What Secrets Manager would hold: the credentials of the system sender. */
const secretsOf = ({ SYSTEM_SENDER_CREDENTIALS, SYSTEM_SENDER_SECRET }: Settings, sandbox: Sandbox | undefined) => ({
  ...sandbox?.secrets,
  ...(SYSTEM_SENDER_CREDENTIALS && { [SYSTEM_SENDER_SECRET || systemSenderSecret]: SYSTEM_SENDER_CREDENTIALS }),
});

const sandboxPages = "Inbox: every mail that was sent here=/_local/inbox,Sandbox: accounts to try it with=/_local/sandbox";
const systemSenderSecret = "system-sender";

/** The environment is how functions get their settings, here as in the cloud. What was set by hand wins, but for the engines' addresses. */
function enter(settings: Settings, front: Front, sandbox: Sandbox | undefined, engines: Engines) {
  const providers = Object.entries(sandbox?.urls ?? {}).map(([key, url]) => [
    `PROVIDER_URL_${key.toUpperCase().replaceAll("-", "_")}`,
    url,
  ]);
  const defaults = {
    PUBLIC_URL: front.url,
    SIGNUP: "open",
    DEFAULT_PLAN: "free",
    ALLOW_LOOPBACK_WEBHOOKS: "on",
    SYSTEM_SENDER_SECRET: systemSenderSecret,
    ...(sandbox && {
      SYSTEM_SENDER: sandbox.systemSender,
      SNS_URL: sandbox.snsUrl,
      HOME_LINKS: sandboxPages,
      SANDBOX_URL: `${front.url}/_local/sandbox`,
    }),
    ...Object.fromEntries(providers),
  };
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value));
  // These would lead the SDK past the engines, to a real account.
  for (const name of ["AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"])
    delete process.env[name];
  Object.assign(process.env, defaults, given, engines.env);
}

interface Running extends Works {
  client: SQSClient;
}

function start(folder: Folder, engines: Engines, sandbox: Sandbox | undefined): Running {
  laneRunner.windUp(false);
  const time: Time = openTime(folder.path("clock"));
  const client = new SQSClient({ endpoint: engines.queues.endpoint, region, credentials, useQueueUrlAsEndpoint: false });
  const pollers = workers.map((worker) => poll(worker, { client, url: engines.queues.url(worker.queue.name), report }));
  return { queues: engines.queues, pollers, ticks: ticking(ticks, report), time, due: engines.due, outside: outside(sandbox), client };
}

/** Webhooks of the sandbox that are still to come. */
const outside = (sandbox: Sandbox | undefined) => async (): Promise<boolean> => {
  if (!sandbox) return false;
  const posted = () => sandbox.stats().webhooksPosted + sandbox.stats().webhooksFailed;
  const before = posted();
  await sandbox.settle();
  return posted() > before;
};

/** Requests end, then messages in work; the queues keep the rest. */
async function rest({ pollers, ticks: ticking, client }: Running, front: Front) {
  laneRunner.windUp(true);
  const requests = front.stop(graceSeconds);
  const messages = Promise.all([ticking.stop(), ...pollers.map((poller) => poller.stop())]);
  await Promise.race([Promise.all([requests, messages]), pause(graceSeconds * 1000, undefined, { ref: false })]);
  client.destroy();
}

const observed = new Set(["POST", "PUT", "DELETE"]);

/** /_local/* is ours alone; all else is what the cloud would see. */
function respond(ask: Gateway, controls: ReturnType<typeof control>, sandbox: Sandbox | undefined): Gateway {
  const local = async (asked: Asked) => {
    const answer = await sandbox?.local({ ...asked, query: new URLSearchParams(asked.query) });
    if (!answer) return undefined;
    const { status, headers, body } = answer;
    return { statusCode: status, headers, body: Buffer.from(body).toString("base64"), isBase64Encoded: true };
  };
  return async (asked) => {
    if (asked.path.startsWith("/_local/")) {
      if (isForeign(asked, process.env.PUBLIC_URL!)) return refuse(403, "forbidden", "Only pages of this service may use /_local");
      return (await controls(asked)) ?? (await local(asked)) ?? ask(asked);
    }
    const answer = await ask(asked);
    const { statusCode = 200, body: responseBody } = answer;
    if (statusCode < 300 && observed.has(asked.method) && asked.path.startsWith("/api/v1/sending-configs"))
      sandbox?.observe({ method: asked.method, path: asked.path, requestBody: asked.body, responseBody });
    return answer;
  };
}
