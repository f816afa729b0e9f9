// The whole service in one process: the same functions as on AWS, with local engines in place of
// AWS.
import { setTimeout as pause } from "node:timers/promises";
import { SQSClient } from "@aws-sdk/client-sqs";
import { handler as fallback } from "../../functions/http/fallback.ts";
import { workers } from "../../functions/queue-workers.ts";
import { groups } from "../../functions/route-groups.ts";
import { schedules } from "../../functions/schedules.ts";
import { signRequestsWith } from "../../shared/adapters/aws-requests.ts";
import { joinCallsOfRequests } from "../../shared/adapters/dynamodb/table.ts";
import { config } from "../../shared/config.ts";
import { storeCounts } from "../../shared/domain/audit/entries.ts";
import { writeEveryTenSeconds } from "../../shared/domain/audit/request-log.ts";
import * as laneRunner from "../../shared/domain/sending/bulk/lane-runner.ts";
import { isKnown } from "../../shared/http/authenticate.ts";
import { maxBytes } from "../../shared/http/request-body.ts";
import { aloneFromNow } from "../../shared/kernel/leases.ts";
import * as log from "../../shared/kernel/log.ts";
import { type SendingStop, setSendingStop } from "../../shared/kernel/sending-stop.ts";
import { readPublicUrl } from "../../shared/kernel/service-address.ts";
import { queues } from "../../shared/queues.ts";
import { CliError } from "./cli-error.ts";
import { prepareConsole } from "./console-files.ts";
import { type DataFolder, openDataFolder } from "./data-folder.ts";
import { type LocalEngines, startEngines } from "./engines/engines.ts";
import { createLocalSigner } from "./engines/request-check.ts";
import { localRegion } from "./engines/sqs-and-s3.ts";
import {
  createGateway,
  errorResponse,
  type Gateway,
  type GatewayRequest,
  type Head,
} from "./gateway.ts";
import { type HttpFront, startHttpServer } from "./http-server.ts";
import { readListenAddress } from "./listen-address.ts";
import { isForeignRequest } from "./local-access.ts";
import { createLocalApi } from "./local-api.ts";
import { type MovableClock, openMovableClock } from "./movable-clock.ts";
import { openOperatorSocket } from "./operator-socket.ts";
import { checkSettings, type ServiceSettings, trustedProxies, usesSandbox } from "./production.ts";
import { startPolling } from "./queue-poller.ts";
import { createResume, findSendingStop, prepareRestored } from "./restored-backup.ts";
import type { LocalRuntime } from "./run-until-idle.ts";
import { openSandbox, type Sandbox } from "./sandbox/sandbox.ts";
import { startScheduler } from "./scheduler.ts";
import { readSmtpSettings, startSmtpEndpoint } from "./smtp/smtp-endpoint.ts";
import { printEntry } from "./terminal-log.ts";

export interface LocalService {
  /** Without a path: http://127.0.0.1:3000 */
  url: string;
  /** The URL for callers. */
  publicUrl: string;
  sandbox: boolean;
  /** Where it takes email by SMTP, `host:port`. Undefined without SMTP_PORT. */
  smtpAddress: string | undefined;
  /** How far the service clock is ahead of the machine's clock. */
  aheadSeconds: number;
  /** Set if the data is a restored backup: nothing is sent until the operator resumes it. */
  sendingStop: SendingStop | undefined;
  stop(): Promise<void>;
}

/** How long a stop waits for requests and messages in progress. Unfinished messages stay queued. */
const shutdownSeconds = 8;

/**
 * Starts with the settings that infra/local/README.md lists, and sets them in this process's
 * environment. Throws CliError when it cannot start.
 */
export async function startLocalService(settings: ServiceSettings): Promise<LocalService> {
  const cleanups: (() => Promise<unknown> | undefined)[] = [];
  const stop = async () => {
    for (const each of cleanups.reverse().splice(0)) await each();
  };
  // As on Lambda: Liquid reads dates without a time zone in the zone of the process.
  process.env.TZ = "UTC";
  try {
    checkSettings(settings);
    const smtpSettings = readSmtpSettings(settings);
    const dataDir = settings.DATA_DIR || ".data";
    const folder = openDataFolder(dataDir);
    cleanups.push(async () => folder.close());
    const front = await startHttpServer({
      ...readListenAddress({ HOST: settings.HOST, PORT: settings.PORT }),
      proxies: trustedProxies(settings),
      reportError: logFailure,
    });
    cleanups.push(() => front.stop(0));
    const sandbox = usesSandbox(settings)
      ? await openSandbox({ dataDir, publicUrl: () => process.env.PUBLIC_URL! })
      : undefined;
    cleanups.push(async () => sandbox?.stop());
    const engines = await startEngines({
      folder,
      queues: Object.values(queues),
      secrets: collectSecrets(settings, sandbox),
      dynamoDb: settings.AWS_ENDPOINT_URL_DYNAMODB,
    });
    cleanups.push(engines.stop);
    const eventFiles = findEventFiles(settings, folder);
    applyEnvironment(settings, { httpServer: front, sandbox, engines, eventFiles });
    if (process.stdout.isTTY && settings.LOG_FORMAT !== "json")
      log.writeLogWith((entry) => printEntry(entry, process.stdout, config.logLevel));
    const stopReason = findSendingStop(folder.path(""));
    setSendingStop(stopReason);
    const runtime = await createRuntime(folder, engines, sandbox);
    cleanups.push(writeEveryTenSeconds(storeCounts));
    cleanups.push(() => stopWorkers(runtime, front));
    if (stopReason) await prepareRestored(folder.path("")!, stopReason);
    else startWorkers(runtime);
    const resume = createResume(folder.path(""), stopReason, async () => {
      setSendingStop(undefined);
      startWorkers(runtime);
    });
    const operator = await openOperatorSocket(folder.path("control.sock"), {
      commands: { "/after-restore": resume },
      report: logFailure,
    });
    cleanups.push(() => operator.stop());
    const api = withConsole(createGateway(groups, fallback, isKnown), folder.path("console"));
    const smtp = smtpSettings && (await startSmtpEndpoint(smtpSettings, logFailure));
    cleanups.push(async () => smtp?.stop(shutdownSeconds));
    front.setHandler(sandbox ? withSandbox(api, createLocalApi(runtime), sandbox) : api);
    if (!sandbox)
      log.info("real mail goes out", {
        publicUrl: config.publicUrl,
        signup: config.signupMode,
        defaultPlan: config.defaultPlan,
      });
    const { publicUrl } = config;
    return {
      url: front.url,
      publicUrl,
      sandbox: Boolean(sandbox),
      smtpAddress: smtp?.address,
      aheadSeconds: runtime.time.offsetSeconds(),
      sendingStop: stopReason,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const logFailure = (error: unknown): void => log.error("local service error", error);

/** The secrets of Secrets Manager: the credentials of the system sender. */
const collectSecrets = (
  { SYSTEM_SENDER_CREDENTIALS, SYSTEM_SENDER_SECRET }: ServiceSettings,
  sandbox: Sandbox | undefined,
) => ({
  ...sandbox?.secrets,
  ...(SYSTEM_SENDER_CREDENTIALS && {
    [SYSTEM_SENDER_SECRET || systemSenderSecret]: SYSTEM_SENDER_CREDENTIALS,
  }),
});

const homeLinks =
  "Inbox: every mail that was sent here=/_local/inbox," +
  "Sandbox: test accounts for every provider=/_local/sandbox";
const systemSenderSecret = "system-sender";

interface EnvironmentSources {
  httpServer: HttpFront;
  sandbox: Sandbox | undefined;
  engines: LocalEngines;
  /** The folder in which event files are written. */
  eventFiles: string | undefined;
}

function findEventFiles({ EVENT_FILES }: ServiceSettings, folder: DataFolder): string | undefined {
  if (EVENT_FILES !== "on") return undefined;
  const path = folder.path("");
  if (!path) throw new CliError("EVENT_FILES=on needs a folder: set DATA_DIR to one");
  return path;
}

/**
 * Sets the environment from which functions read their settings. Explicit settings win, except over
 * the engines' addresses.
 */
function applyEnvironment(
  settings: ServiceSettings,
  { httpServer, sandbox, engines, eventFiles }: EnvironmentSources,
) {
  const providers = Object.entries(sandbox?.originByProvider ?? {}).map(([key, url]) => [
    `PROVIDER_URL_${key.toUpperCase().replaceAll("-", "_")}`,
    url,
  ]);
  const defaults = {
    PUBLIC_URL: httpServer.url,
    SYSTEM_SENDER_SECRET: systemSenderSecret,
    ...(sandbox && {
      SIGNUP: "open",
      DEFAULT_PLAN: "free",
      EMAIL_VERIFICATION: "off",
      ALLOW_LOOPBACK_WEBHOOKS: "on",
      SYSTEM_SENDER: sandbox.systemSenderSetting,
      SNS_URL: sandbox.snsUrl,
      HOME_LINKS: homeLinks,
      SANDBOX_URL: `${httpServer.url}/_local/sandbox`,
    }),
    ...Object.fromEntries(providers),
  };
  const explicit = Object.fromEntries(Object.entries(settings).filter(([, value]) => value));
  if (explicit.PUBLIC_URL) explicit.PUBLIC_URL = readPublicUrl(explicit.PUBLIC_URL).url;
  // With these, the SDK would call a real AWS account.
  for (const name of [
    "AWS_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_ENDPOINT_URL",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
  ])
    delete process.env[name];
  // No setting changes API_ORIGIN: the service sends the API keys of its callers there.
  Object.assign(process.env, defaults, explicit, { API_ORIGIN: httpServer.url }, engines.env);
  delete process.env.EVENT_FILES_FOLDER;
  if (eventFiles) process.env.EVENT_FILES_FOLDER = eventFiles;
}

interface RunningParts extends LocalRuntime {
  client: SQSClient;
}

/** Everything but the workers and schedules, which `startWorkers` adds. */
async function createRuntime(
  folder: DataFolder,
  engines: LocalEngines,
  sandbox: Sandbox | undefined,
): Promise<RunningParts> {
  laneRunner.setStopping(false);
  joinCallsOfRequests();
  signRequestsWith(engines.own ? createLocalSigner(engines.credentials) : undefined);
  const time: MovableClock = openMovableClock(folder.path("clock"));
  if (engines.own && folder.wasUsed) await aloneFromNow();
  const client = new SQSClient({
    endpoint: engines.queues.endpoint,
    region: localRegion,
    credentials: engines.credentials,
    useQueueUrlAsEndpoint: false,
    // Each queue waits for messages all the time, and hundreds of them are deleted meanwhile.
    requestHandler: { httpAgent: { keepAlive: true, maxSockets: 500 } },
    ...(engines.own && { signer: createLocalSigner(engines.credentials) }),
  });
  const flushWebhooks = flushSandboxWebhooks(sandbox);
  return {
    queues: engines.queues,
    pollers: [],
    scheduler: startScheduler([], logFailure),
    time,
    dueItems: engines.countDue,
    flushExternal: flushWebhooks,
    client,
  };
}

function startWorkers(runtime: RunningParts): void {
  const { client, queues: queuesOfEngine } = runtime;
  runtime.pollers = workers.map((worker) =>
    startPolling(worker, {
      client,
      url: queuesOfEngine.url(worker.queue.name),
      reportError: logFailure,
    }),
  );
  runtime.scheduler = startScheduler(schedules, logFailure);
}

/** Posts the pending webhooks of the sandbox. */
const flushSandboxWebhooks = (sandbox: Sandbox | undefined) => async (): Promise<boolean> => {
  if (!sandbox) return false;
  const posted = () => sandbox.stats().webhooksPosted + sandbox.stats().webhooksFailed;
  const before = posted();
  await sandbox.flushWebhooks();
  return posted() > before;
};

/** Waits for requests and messages in progress. The queues keep the rest. */
async function stopWorkers(runtime: RunningParts, httpServer: HttpFront) {
  const { pollers, scheduler, client } = runtime;
  laneRunner.setStopping(true);
  const requests = httpServer.stop(shutdownSeconds);
  const messages = Promise.all([scheduler.stop(), ...pollers.map((poller) => poller.stop())]);
  await Promise.race([
    Promise.all([requests, messages]),
    pause(shutdownSeconds * 1000, undefined, { ref: false }),
  ]);
  client.destroy();
}

/** The first request for the console waits until it is built, and the others with it. */
function withConsole(api: Gateway, cache: string | undefined): Gateway {
  let prepared: Promise<void> | undefined;
  const answer = async (request: GatewayRequest) => {
    if (/^\/app(\/|$)/.test(request.path)) {
      prepared ??= setConsoleFolder(cache);
      await prepared;
    }
    return api.answer(request);
  };
  return { ...api, answer };
}

/** CONSOLE_FOLDER replaces the build of this checkout. */
async function setConsoleFolder(cache: string | undefined): Promise<void> {
  if (config.consoleFolder) return;
  try {
    process.env.CONSOLE_FOLDER = await prepareConsole(cache);
  } catch (error) {
    log.error("the console could not be built", error);
  }
}

const observedMethods = new Set(["POST", "PUT", "DELETE"]);

/** Adds /_local/*, which exists only with the sandbox. */
function withSandbox(
  api: Gateway,
  localApi: ReturnType<typeof createLocalApi>,
  sandbox: Sandbox,
): Gateway {
  const answerFromSandbox = async (request: GatewayRequest) => {
    const query = new URLSearchParams(request.query);
    const response = await sandbox.handleLocalRequest({ ...request, query });
    if (!response) return undefined;
    const { status, headers, body } = response;
    return {
      statusCode: status,
      headers,
      body: Buffer.from(body).toString("base64"),
      isBase64Encoded: true,
    };
  };
  const isLocal = ({ path }: Head) => path.startsWith("/_local/");
  const answer = async (request: GatewayRequest) => {
    const { method, path } = request;
    if (isLocal(request)) {
      if (isForeignRequest(request, process.env.PUBLIC_URL!))
        return errorResponse(403, "forbidden", "Only pages of this service can call /_local");
      return (await localApi(request)) ?? (await answerFromSandbox(request)) ?? api.answer(request);
    }
    const response = await api.answer(request);
    const { statusCode = 200, body: responseBody } = response;
    const changesConfig = observedMethods.has(method) && path.startsWith("/api/v1/sending-configs");
    if (statusCode < 300 && changesConfig)
      sandbox.observeApiCall({ method, path, requestBody: request.body, responseBody });
    return response;
  };
  return {
    answer,
    maxBytes: async (head) => (isLocal(head) ? maxBytes.account : api.maxBytes(head)),
  };
}
