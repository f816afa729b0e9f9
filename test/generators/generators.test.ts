// Tools of strangers read the OpenAPI document that a service serves: linters find nothing, and
// clients that are generated from it compile, load and send an email. `npm run test:generators`
// downloads the tools. They bring hundreds of packages, so they are no dependencies.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import { afterAll, beforeAll, expect, inject, type TestContext, test } from "vitest";
import { expectStatus, signedUp, type TestClient, uniqueEmail } from "../support/api-client.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "generators-"));
const document = join(folder, "openapi.json");
const baseUrl = inject("baseUrl");
let client: TestClient;

beforeAll(async () => {
  const [served, sandbox] = await Promise.all([
    fetch(`${baseUrl}/api/v1/openapi.json`),
    fetch(`${baseUrl}/_local/sandbox`),
  ]);
  writeFileSync(document, await served.text());
  const { data } = (await sandbox.json()) as { data: { providers: Record<string, object> } };
  client = await signedUp();
  const config = { fromEmail: "hello@shop.example", ...data.providers.sendgrid };
  expectStatus(201, await client.call("POST", "/sending-configs", config));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Output {
  failed: boolean;
  text: string;
}

/** Retries less than usual, so that a test soon says that a registry cannot be reached. */
const env = {
  ...process.env,
  NO_COLOR: "1",
  npm_config_loglevel: "error",
  npm_config_fetch_retries: "1",
  PIP_RETRIES: "1",
  PIP_DEFAULT_TIMEOUT: "20",
};

async function run(command: string, parameters: string[]): Promise<Output> {
  const options = { cwd: folder, env, timeout: 170_000, maxBuffer: 1e8 };
  return promisify(execFile)(command, parameters, options).then(
    ({ stdout, stderr }) => ({ failed: false, text: stdout + stderr }),
    ({ stdout, stderr }) => ({ failed: true, text: String(stdout) + String(stderr) }),
  );
}

/** Runs a command, which must succeed. Returns its output. */
async function runWell(...call: Parameters<typeof run>): Promise<string> {
  const { failed, text } = await run(...call);
  if (failed) throw new Error(text);
  return text;
}

/** Runs a tool from the registry of npm. Skips the test if the registry cannot be reached. */
async function npx(context: TestContext, packages: string[], call: string[]): Promise<Output> {
  const options = ["--yes", ...packages.map((name) => `--package=${name}`)];
  const { failed } = await run("npx", [...options, "node", "--version"]);
  if (failed) context.skip(`npm cannot install ${packages.join(" and ")}`);
  return run("npx", [...options, ...call]);
}

/**
 * The rules of Redocly that are off. Descriptions show html snippets; ids are numbers, so paths
 * with a word in their place are unambiguous; the health check and the pages refuse no request; and
 * the conditions of a schema name fields of the schema around them, which Redocly does not see.
 */
const skippedRules = [
  "no-unsafe-markdown",
  "no-ambiguous-paths",
  "operation-4xx-response",
  "no-required-schema-properties-undefined",
];

test("Redocly has no errors and no warnings", async (context) => {
  const skipped = skippedRules.map((rule) => `--skip-rule=${rule}`);
  const call = ["redocly", "lint", document, "--format=json", ...skipped];
  const { text } = await npx(context, ["@redocly/cli@2.77.0"], call);
  const { problems } = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  expect(problems).toEqual([]);
});

test("Spectral has no errors and no warnings", async (context) => {
  // OpenAPI 3.1 permits scopes of a bearer token, which Spectral does not know.
  const off = { "oas3-operation-security-defined": "off", "no-script-tags-in-markdown": "off" };
  const ruleset = join(folder, "spectral.json");
  writeFileSync(ruleset, JSON.stringify({ extends: ["spectral:oas"], rules: off }));
  const call = ["spectral", "lint", "--ruleset", ruleset, "--format=text", document];
  const { failed, text } = await npx(context, ["@stoplight/spectral-cli@6.16.3"], call);
  expect(text).toContain("No results with a severity of 'error' found!");
  expect({ failed, text }).toMatchObject({ failed: false });
});

const message = () => ({
  to: uniqueEmail(),
  fromEmail: "hello@shop.example",
  subject: "Hello",
  html: "<p>Hello</p>",
});

async function expectSent(id: number, to: string): Promise<void> {
  const { body } = await client.call("GET", `/sends/${id}`);
  expect(body).toMatchObject({ data: { toEmail: to } });
}

test("@hey-api/openapi-ts generates without warnings a client that compiles and sends an email", async (context) => {
  const packages = ["@hey-api/openapi-ts@0.95.0", "typescript@5.9.3"];
  const call = ["openapi-ts", "--input", document, "--output", join(folder, "client")];
  const { failed, text } = await npx(context, packages, call);
  expect([failed, text]).toEqual([false, expect.not.stringMatching(/warn|error/i)]);

  const email = message();
  writeFileSync(
    join(folder, "program.ts"),
    `import { getSend, sendEmail } from "./client";
import { client } from "./client/client.gen";
client.setConfig({
  baseUrl: ${JSON.stringify(baseUrl)},
  headers: { authorization: ${JSON.stringify(`Bearer ${client.apiKey}`)} },
});
const sent = await sendEmail({ body: ${JSON.stringify(email)}, throwOnError: true });
const { id } = sent.data.data;
const read = await getSend({ path: { id }, throwOnError: true });
console.log(JSON.stringify({ id, toEmail: read.data.data.toEmail }));
`,
  );
  const compilerOptions = {
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    module: "esnext",
    moduleResolution: "bundler",
    strict: true,
    noEmit: true,
    types: [],
  };
  const project = join(folder, "tsconfig.json");
  writeFileSync(project, JSON.stringify({ compilerOptions, include: ["program.ts", "client"] }));
  await runWell(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", project]);
  const bundle = join(folder, "program.js");
  await esbuild.build({
    entryPoints: [join(folder, "program.ts")],
    outfile: bundle,
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "silent",
  });
  const output = JSON.parse(await runWell(process.execPath, [bundle]));
  expect(output.toEmail).toBe(email.to);
  await expectSent(output.id, email.to);
});

/** Content types that openapi-python-client reads as files only if it is told so. */
const fileTypes = [
  ...["text/csv", "text/tab-separated-values", "text/plain"],
  ...["application/javascript", "text/javascript", "image/jpeg", "image/png", "image/gif"],
];

test("openapi-python-client generates without warnings a client that loads and sends an email", async (context) => {
  const environment = join(folder, "python");
  if ((await run("python3", ["-m", "venv", environment])).failed)
    context.skip("there is no python3 with venv");
  const bin = join(environment, "bin");
  const install = ["-m", "pip", "install", "--quiet", "openapi-python-client==0.29.1"];
  if ((await run(join(bin, "python"), install)).failed)
    context.skip("pip cannot install openapi-python-client 0.29.1");
  const config = join(folder, "python-client.json");
  writeFileSync(
    config,
    JSON.stringify({
      post_hooks: [],
      content_type_overrides: Object.fromEntries(
        fileTypes.map((type) => [type, "application/octet-stream"]),
      ),
    }),
  );
  const output = join(folder, "python-client");
  const call = ["generate", "--fail-on-warning", "--config", config, "--path", document];
  await runWell(join(bin, "openapi-python-client"), [...call, "--output-path", output]);

  const email = message();
  const program = `
import importlib, json, pkgutil, sys
sys.path.insert(0, ${JSON.stringify(output)})
import pennymail_client
modules = [one.name for one in pkgutil.walk_packages(pennymail_client.__path__, "pennymail_client.")]
for name in modules:
    importlib.import_module(name)
from pennymail_client.api.emails import send_email
from pennymail_client.models import SendEmailRequest
client = pennymail_client.AuthenticatedClient(${JSON.stringify(baseUrl)}, ${JSON.stringify(client.apiKey)})
sent = send_email.sync(client=client, body=SendEmailRequest.from_dict(json.loads(${JSON.stringify(JSON.stringify(email))})))
print(json.dumps({"modules": len(modules), "id": sent.data.id}))
`;
  const { modules, id } = JSON.parse(await runWell(join(bin, "python"), ["-c", program]));
  expect(modules).toBeGreaterThan(900);
  await expectSent(id, email.to);
});
