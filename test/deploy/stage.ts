// A stage of Pennymail in the emulator, deployed from a copy of this checkout. The sandbox replaces
// its ten email providers.
import "./localhost.ts";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, createWriteStream, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { GetQueueAttributesCommand, ListQueuesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { SignatureV4 } from "@smithy/signature-v4";
import { openSandbox, type Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import { type Emulator, startEmulator } from "./emulator.ts";
import { openLocalPages } from "./local-pages.ts";

const project = join(import.meta.dirname, "../..");
const stackName = "Pennymail-dev";

export interface Stage {
  emulator: Emulator;
  sandbox: Sandbox;
  /** The copy of the checkout. */
  tree: string;
  /**
   * Runs a program in the copy and writes its output to `<name>.log`. If it fails, throws an error
   * with the end of the output.
   */
  run(name: string, command: string[], env?: Record<string, string>): Promise<string>;
  /**
   * Runs `npm run deploy` with the settings of this stage. The stage is protected, because the
   * emulator replaces a table when its protection changes. Returns the outputs of the stack.
   */
  deploy(name: string): Promise<Record<string, string>>;
  /** Makes a signed call to an AWS service for which the project has no client. */
  aws<T>(request: AwsRequest): Promise<T>;
  /**
   * Counts visible messages and messages in flight by queue. Delayed messages do not count.
   */
  queued(): Promise<Record<string, number>>;
  /**
   * Runs the schedules, and waits at most 30 seconds until all webhooks are posted and all queues
   * are empty.
   */
  settle(): Promise<void>;
  /** Origin of the pages /_local/* that test/http uses; see local-pages.ts. */
  localPages: string;
  stop(): Promise<void>;
}

interface AwsRequest {
  service: string;
  method?: "GET" | "HEAD" | "POST";
  path?: string;
  /** The operation, for services with the protocol AWS JSON 1.1. */
  target?: string;
  body?: object;
}

/** Starts an empty AWS account and copies this checkout. Nothing is deployed yet. */
export async function openStage(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "pennymail-deploy-"));
  const tree = join(folder, "tree");
  copyCheckout(tree);
  let origin = "";
  const sandbox = await openSandbox({ dataDir: ":memory:", publicUrl: () => origin });
  const emulator = await startEmulator(folder, {
    // Settings that only tests need are no options of a deploy.
    SNS_URL: sandbox.snsUrl,
    ALLOW_LOOPBACK_WEBHOOKS: "on",
    ADDRESS_LIMIT_PER_MINUTE: "1000000",
    LOGIN_FAILURES_PER_ADDRESS: "1000000",
    // Lambda's runtime contains the SDK, and CDK's own functions use it.
    NODE_PATH: sdkFolder(folder),
  });
  const sqs = new SQSClient({ endpoint: emulator.endpoint, region, credentials });
  const run: Stage["run"] = (name, [command, ...given], env = {}) =>
    runLogged(
      { log: join(folder, `${name}.log`), cwd: tree, env: { ...emulator.env, ...env } },
      command!,
      given,
    );

  async function queued(): Promise<Record<string, number>> {
    const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
    const counts = await Promise.all(
      QueueUrls.map(async (QueueUrl) => {
        const attributesCommand = new GetQueueAttributesCommand({
          QueueUrl,
          AttributeNames: ["All"],
        });
        const { Attributes = {} } = await sqs.send(attributesCommand);
        const {
          ApproximateNumberOfMessages: ready = 0,
          ApproximateNumberOfMessagesNotVisible: inWork = 0,
        } = Attributes;
        return [QueueUrl.split("/").at(-1)!, Number(ready) + Number(inWork)] as const;
      }),
    );
    return Object.fromEntries(counts);
  }

  async function settle(): Promise<void> {
    const schedules = (await functionsOf({ aws })).filter(({ Description }) =>
      Description.includes(": schedule/"),
    );
    const invoked = schedules.map(({ FunctionName }) =>
      aws({
        service: "lambda",
        path: `/2015-03-31/functions/${FunctionName}/invocations`,
        body: {},
      }),
    );
    await Promise.all(invoked);
    for (let left = 150; left > 0; left--) {
      await sandbox.flushWebhooks();
      const busy = Object.values(await queued()).some((messages) => messages > 0);
      if (!busy) return;
      await sleep(200);
    }
  }

  const aws: Stage["aws"] = (request) => signedCall(emulator.endpoint, request);
  const pages = await openLocalPages(sandbox, settle);

  return {
    emulator,
    sandbox,
    tree,
    run,
    async deploy(name) {
      const outputs = join(folder, `${name}.json`);
      const settings = {
        signup: "open",
        defaultPlan: "enterprise",
        // As in a new account, a queue has at most two workers. Each is a process in the emulator.
        accountConcurrency: "10",
        providerUrls: JSON.stringify(sandbox.originByProvider),
      };
      const context = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
      const how = ["--require-approval", "never", "--outputs-file", outputs, ...context];
      await run(name, ["npm", "run", "deploy", "--", ...how]);
      const stackOutputs = JSON.parse(readFileSync(outputs, "utf8"))[stackName] as Record<
        string,
        string
      >;
      origin = new URL(stackOutputs.BaseUrl!).origin;
      return stackOutputs;
    },
    aws,
    queued,
    settle,
    localPages: pages.origin,
    async stop() {
      sqs.destroy();
      pages.close();
      await emulator.stop();
      await sandbox.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

const region = "us-east-1";
const credentials = { accessKeyId: "test", secretAccessKey: "test" };

/** Copies all files that are not ignored by git, so no bundles and no templates. */
function copyCheckout(tree: string) {
  const listed = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const files = execFileSync("git", listed, { cwd: project, encoding: "utf8" })
    .split("\0")
    .filter(Boolean);
  for (const file of files) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    cpSync(join(project, file), join(tree, file));
  }
  symlinkSync(join(project, "node_modules"), join(tree, "node_modules"));
}

function sdkFolder(folder: string): string {
  const path = join(folder, "runtime");
  mkdirSync(path);
  symlinkSync(join(project, "node_modules/@aws-sdk"), join(path, "@aws-sdk"));
  return path;
}

interface Surroundings {
  log: string;
  cwd: string;
  env: Record<string, string>;
}

function runLogged(
  { log, cwd, env }: Surroundings,
  command: string,
  given: string[],
): Promise<string> {
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE } = process.env;
  const path = `${join(project, "node_modules/.bin")}:${PATH}`;
  const child = spawn(command, given, {
    cwd,
    env: { PATH: path, HOME, NODE_COMPILE_CACHE, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // A test that times out does not end the programs that it has started.
    timeout: 600_000,
  });
  const file = createWriteStream(log);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
      file.write(chunk);
    });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      file.end();
      if (code === 0) resolve(output);
      else
        reject(
          new Error(
            `${command} ${given.slice(0, 3).join(" ")} ended with ${code}:\n${output.slice(-3000)}`,
          ),
        );
    });
  });
}

async function signedCall<T>(
  endpoint: string,
  { service, method = "POST", path = "/", target, body }: AwsRequest,
): Promise<T> {
  const url = new URL(path, endpoint);
  const { sha256 } = new SQSClient({ region, credentials }).config;
  const signer = new SignatureV4({ service, region, credentials, sha256 });
  const text = body && JSON.stringify(body);
  const headers = {
    host: url.host,
    ...(target && { "x-amz-target": target, "content-type": "application/x-amz-json-1.1" }),
  };
  const unsigned = {
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    port: Number(url.port),
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers,
    ...(text !== undefined && { body: text }),
  };
  const signed = await signer.sign(unsigned);
  const response = await fetch(url, {
    method,
    headers: signed.headers,
    ...(text !== undefined && { body: text }),
  });
  const answer = await response.text();
  if (!response.ok)
    throw new Error(
      `${service} ${target ?? path} answered ${response.status}: ${answer.slice(0, 500)}`,
    );
  return (answer ? JSON.parse(answer) : undefined) as T;
}

export interface Deployed {
  FunctionName: string;
  Description: string;
  CodeSha256: string;
  Environment: { Variables: Record<string, string> };
}

export async function functionsOf({ aws }: Pick<Stage, "aws">): Promise<Deployed[]> {
  const all: Deployed[] = [];
  for (let marker = ""; ; ) {
    const path = `/2015-03-31/functions?MaxItems=50${marker && `&Marker=${encodeURIComponent(marker)}`}`;
    const page = await aws<{ Functions: Deployed[]; NextMarker?: string | null }>({
      service: "lambda",
      method: "GET",
      path,
    });
    all.push(...page.Functions);
    if (!page.NextMarker) return all;
    marker = page.NextMarker;
  }
}

interface LogPage {
  events: { message: string }[];
  nextToken?: string;
}

/** Reads the log lines of level ERROR, and those that Lambda writes when a function fails. */
export async function errorLines({ aws }: Pick<Stage, "aws">): Promise<string[]> {
  const logs = <T>(operation: string, body: object) =>
    aws<T>({ service: "logs", target: `Logs_20140328.${operation}`, body });
  const found: string[] = [];
  const { logGroups } = await logs<{ logGroups: { logGroupName: string }[] }>(
    "DescribeLogGroups",
    {},
  );
  for (const { logGroupName } of logGroups) {
    for (let nextToken: string | undefined; ; ) {
      const page: LogPage = await logs("FilterLogEvents", {
        logGroupName,
        ...(nextToken && { nextToken }),
      });
      for (const { message } of page.events)
        if (/"level":\s*"ERROR"|Task timed out|Runtime\.\w+Error/.test(message))
          found.push(`${logGroupName}: ${message}`);
      nextToken = page.nextToken;
      if (!nextToken) break;
    }
  }
  return found;
}
