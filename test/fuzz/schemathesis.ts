// Schemathesis (schemathesis.io) makes requests from an OpenAPI document, valid ones and invalid
// ones, and checks the responses.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installPackages } from "../support/python-environment.ts";

/** The folder for all files of the tests. */
export const cache: string = join(import.meta.dirname, "../../node_modules/.cache/test-fuzz");
const requirements = join(import.meta.dirname, "requirements.txt");
const settings = join(import.meta.dirname, "schemathesis.toml");

/** Installs Schemathesis if it is missing. Returns the reason if that is not possible. */
export const install = (): string | undefined =>
  installPackages({ home: homeOfSchemathesis(), requirements: ["--requirement", requirements] });

/** Changed requirements lead to a new folder. */
function homeOfSchemathesis(): string {
  const hash = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 8);
  return join(cache, `schemathesis-${hash}`);
}

const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_schema_conformance",
  "use_after_free",
  "ignored_auth",
];

/** The Python of its virtual environment, which also has the package requests. */
export const pythonOfSchemathesis = (): string => join(homeOfSchemathesis(), "bin/python");

interface Run {
  /** Names the files of the run. */
  name: string;
  /** URL of the service. */
  url: string;
  /** The OpenAPI document of the operations to call. */
  document: object;
  apiKey: string;
  /** The value of the session cookie. */
  session: string;
}

export interface RunResult {
  /** Title of a failed check, and the operations. Also the errors of Schemathesis itself. */
  failures: object[];
  /** Operations that responded to at least one request with 2xx. */
  accepted: string[];
  /** All that Schemathesis printed. */
  output: string;
}

interface Report {
  failures: { title: string; operations: string[] }[];
  errors: object[];
  valid_rates: Record<string, Record<string, { accepted: number }>>;
}

/** Random requests to each operation, in place of those that examples and bounds lead to. */
const randomRequests = Number(process.env.FUZZ_RANDOM_REQUESTS ?? 0);
const phases = randomRequests
  ? ["--phases", "fuzzing", "--max-examples", String(randomRequests)]
  : ["--phases", "examples,coverage"];

/** Calls all operations of the document. */
export async function callOperations(run: Run): Promise<RunResult> {
  const folder = join(cache, run.name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const document = join(folder, "openapi.json");
  writeFileSync(document, JSON.stringify(run.document));
  const report = join(folder, "report.json");
  const reports = ["--report", "json", "--report-json-path", report];
  const command = ["--config-file", settings, "run", document, "--url", run.url, ...phases];
  const log = join(folder, "output.txt");
  await runSchemathesis([...command, "--checks", checks.join(), ...reports], run, log);
  const { failures, errors, valid_rates }: Report = JSON.parse(readFileSync(report, "utf8"));
  return {
    failures: [...failures.map(({ title, operations }) => ({ title, operations })), ...errors],
    accepted: Object.entries(valid_rates)
      .filter(([, phases]) => Object.values(phases).some(({ accepted }) => accepted > 0))
      .map(([operation]) => operation),
    output: readFileSync(log, "utf8"),
  };
}

/** The exit code is not 0 after a failed check, so it is ignored. */
async function runSchemathesis(command: string[], { apiKey, session }: Run, log: string) {
  const env = { PATH: process.env.PATH, API_KEY: apiKey, SESSION: session, PYTHONHASHSEED: "0" };
  const output = openSync(log, "w");
  const child = spawn(pythonOfSchemathesis(), ["-m", "schemathesis.cli", ...command], {
    cwd: cache,
    env,
    stdio: ["ignore", output, output],
  });
  await once(child, "close");
  closeSync(output);
}
