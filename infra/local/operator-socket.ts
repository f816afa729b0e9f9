// A unix domain socket in DATA_DIR, or a named pipe on Windows, for commands that need a running
// service. Only the user who runs the service can open it, so it asks for no credential; no request
// from outside can reach it.
import { rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { relative } from "node:path";
import { json, text } from "node:stream/consumers";
import { grantPlan, OperatorGrant } from "../../shared/domain/billing/operator-grants.ts";
import { Problem } from "../../shared/errors.ts";
import { sha256 } from "../../shared/keys.ts";
import { CliError } from "./cli-error.ts";

/** The operations of commands, by path. */
export type OperatorCommands = Record<string, (input: unknown) => Promise<unknown>>;
const ownCommands: OperatorCommands = {
  "/plan": async (input) => grantPlan(OperatorGrant.parse(input)),
};

interface Answer {
  data?: unknown;
  error?: string;
}

/** Without `file` (a service that stores nothing) there is no socket. */
export async function openOperatorSocket(
  file: string | undefined,
  { commands, report }: { commands: OperatorCommands; report: (error: unknown) => void },
): Promise<{ stop(): Promise<void> }> {
  if (!file) return { stop: async () => {} };
  const path = socketPath(file);
  // Removes the socket of a killed service. This process holds the folder's lock, so nobody listens
  // on it.
  rmSync(file, { force: true });
  const server = createServer(async (incoming, response) => {
    const command = { ...ownCommands, ...commands }[incoming.url ?? ""];
    const { status, answer } = await run(command, () => json(incoming), report);
    response
      .writeHead(status, { "content-type": "application/json", connection: "close" })
      .end(JSON.stringify(answer));
  });
  const mask = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) =>
      server.once("error", reject).listen(path, resolve),
    );
  } catch (error) {
    throw new CliError(
      `The socket ${file} (DATA_DIR) cannot be created: ${(error as Error).message}`,
    );
  } finally {
    process.umask(mask);
  }
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { stop };
}

async function run(
  command: OperatorCommands[string] | undefined,
  input: () => Promise<unknown>,
  report: (error: unknown) => void,
) {
  try {
    if (!command) return { status: 404, answer: { error: "There is no such command" } };
    return { status: 200, answer: { data: await command(await input()) } };
  } catch (error) {
    if (error instanceof Problem) return { status: 400, answer: { error: error.message } };
    report(error);
    return {
      status: 500,
      answer: { error: "The command failed. See the log of the service" },
    };
  }
}

/** Runs a command over the socket. Undefined when no service listens on it. */
export async function askOperatorSocket(
  file: string,
  command: string,
  input: unknown,
): Promise<{ data: unknown } | undefined> {
  const answer = await exchange(socketPath(file), command, input);
  if (!answer) return undefined;
  if (answer.error) throw new CliError(answer.error);
  return { data: answer.data };
}

const exchange = (socket: string, command: string, input: unknown) =>
  new Promise<Answer | undefined>((resolve, reject) => {
    const asking = request({ socketPath: socket, path: command, method: "POST" }, (response) => {
      text(response).then((body) => resolve(JSON.parse(body) as Answer), reject);
    });
    asking.on("error", ({ code, message }: NodeJS.ErrnoException) => {
      if (code === "ENOENT" || code === "ECONNREFUSED") return resolve(undefined);
      reject(new CliError(`The service does not respond at ${socket}: ${message}`));
    });
    asking.end(JSON.stringify(input));
  });

// Socket paths are limited to about 100 bytes; a relative path can be shorter.
function socketPath(file: string): string {
  if (process.platform === "win32") return `\\\\.\\pipe\\pennymail-${sha256(file).slice(0, 32)}`;
  const relativePath = relative(process.cwd(), file);
  const path = relativePath.length < file.length ? relativePath : file;
  if (Buffer.byteLength(path) <= 100) return path;
  throw new CliError(
    `The path ${file} is too long for a socket: choose a DATA_DIR with a shorter path`,
  );
}
