// Starts the DynamoDB engine that this machine has.
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { CliError } from "../cli-error.ts";
import * as dynamodbLocal from "./dynamodb-local.ts";
import { enginePackage, fetchEngine, findFetched, findInstalled } from "./dynoxide.ts";
import { type EngineCommand, portPlaceholder } from "./engine-order.ts";
import { startGuardedEngines } from "./guarded-engines.ts";
import { createCredentials, type EngineCredentials } from "./request-check.ts";

export interface DynamoDbEngine {
  endpoint: string;
  /** The engine accepts only requests that are signed with these. */
  credentials: EngineCredentials;
  /** Endpoints of further engines that only read the same data. */
  readers?: string[];
  /** The engine needs commas between the changes of a PartiQL UPDATE. */
  partiqlCommas?: true;
  stop(): Promise<void>;
}

/** The path of a file. Undefined keeps data in memory. */
type DataPath = (name: string) => string | undefined;

/** Uses the existing endpoint, else starts dynoxide, else Amazon's DynamoDB Local. */
export async function startDynamoDb(
  existingEndpoint: string | undefined,
  path: DataPath,
  machine: Machine = process,
): Promise<DynamoDbEngine> {
  if (existingEndpoint)
    return { endpoint: existingEndpoint, credentials: createCredentials(), stop: async () => {} };
  const exists = (name: string) => existsSync(path(name) ?? "");
  if (exists("dynamodb-local") && !exists("table.db"))
    return startDynamoDbLocal(path, "DATA_DIR has data of Amazon's DynamoDB Local");
  const found = await findDynoxide(path, machine);
  if ("program" in found) return startDynoxide(found.program, path("table.db"));
  if (exists("table.db"))
    throw new CliError(
      `${found.missing}. Only that engine can read the data in DATA_DIR, which it has written`,
    );
  return startDynamoDbLocal(path, found.missing);
}

/** As `process` names them. */
interface Machine {
  platform: string;
  arch: string;
}

async function findDynoxide(
  path: DataPath,
  { platform, arch }: Machine,
): Promise<{ program: string } | { missing: string }> {
  const wanted = enginePackage(platform, arch);
  if (!wanted) return { missing: `The embedded engine does not exist for ${platform} on ${arch}` };
  const installed = findInstalled(wanted);
  if (installed) return { program: installed };
  const folder = path("engine") ?? join(import.meta.dirname, "../../../node_modules/.cache/engine");
  const fetched = findFetched(folder, wanted);
  if (fetched) return { program: fetched };
  try {
    return { program: await fetchEngine(folder, wanted) };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { missing: error.message };
  }
}

/**
 * dynoxide serves one request at a time, in one thread. Several can have one file, which SQLite
 * locks, and a read sees every write that was answered before. So counts use all cores.
 */
async function startDynoxide(program: string, file: string | undefined): Promise<DynamoDbEngine> {
  const command: EngineCommand = [
    program,
    "serve",
    "--port",
    portPlaceholder,
    ...(file ? ["--db-path", file] : []),
  ];
  const readers = file ? Math.min(maxReaders, availableParallelism() - 1) : 0;
  const credentials = createCredentials();
  const { endpoints, stop } = await startGuardedEngines({
    commands: Array.from({ length: 1 + readers }, () => command),
    secretAccessKey: credentials.secretAccessKey,
    persistent: file !== undefined,
  });
  const [endpoint, ...further] = endpoints;
  return { endpoint: endpoint!, credentials, readers: further, partiqlCommas: true, stop };
}

const maxReaders = 3;

export async function startDynamoDbLocal(path: DataPath, reason?: string): Promise<DynamoDbEngine> {
  const missing = dynamodbLocal.missingRequirement();
  const because = reason ? `${reason}. ` : "";
  if (missing)
    throw new CliError(
      `No DynamoDB engine is available on this machine. ${because}${missing}, or set ` +
        "AWS_ENDPOINT_URL_DYNAMODB to a running one",
    );
  const folder = path("dynamodb-local");
  const credentials = createCredentials(dynamodbLocal.loadAccessKeyId(folder));
  const { endpoints, stop } = await startGuardedEngines({
    commands: [dynamodbLocal.launchCommand(folder)],
    secretAccessKey: credentials.secretAccessKey,
    persistent: folder !== undefined,
  });
  return { endpoint: endpoints[0]!, credentials, stop };
}
