// The code of the guides works, as the API reference of a service with the sandbox shows it.
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectStatus, signedUp, type TestClient, waitForMail } from "../support/api-client.ts";
import { type GuideBlock, readBlocks, runCommands, saveFiles } from "../support/guides.ts";
import { createSdkProject, type SdkProject } from "../support/sdk-project.ts";
import { type RunningTestService, startServiceProcess } from "../support/service-process.ts";

const hasPython = spawnSync("python3", ["-c", "import requests"]).status === 0;
const hasShell = spawnSync("bash", ["-c", "curl --version"]).status === 0;

let [service, project, guides] = [] as unknown as [RunningTestService, SdkProject, string];
beforeAll(async () => {
  [service, project] = await Promise.all([
    startServiceProcess({ DEFAULT_PLAN: "enterprise", SIGNUP: "open" }),
    createSdkProject(),
  ]);
  const response = await fetch(`${service.url}/api/v1/openapi.json`);
  guides = ((await response.json()) as { info: { description: string } }).info.description;
});
afterAll(async () => {
  await service?.stop();
  project?.remove();
});

interface Reader {
  client: TestClient;
  env: Record<string, string>;
}

/** A reader with what the guides ask for: an API key, a site, and a sending config. */
async function createReader(): Promise<Reader> {
  const client = await signedUp({ service: service.url });
  const { data } = (await (await fetch(`${service.url}/_local/sandbox`)).json()) as {
    data: { providers: { sendgrid: object } };
  };
  const config = { fromEmail: "hello@shop.example", ...data.providers.sendgrid };
  expectStatus(201, await client.call("POST", "/sending-configs", config));
  return { client, env: { PENNYMAIL_URL: service.url, PENNYMAIL_API_KEY: client.apiKey } };
}

/** Saves the files of the guide in a folder of their own. `change` replaces texts of the guide. */
function openGuide(title: string, change: Record<string, string> = {}) {
  const blocks: GuideBlock[] = readBlocks(guides, title).map((block) => ({
    ...block,
    text: Object.entries(change).reduce(
      (text, [from, to]) => text.replaceAll(from, to),
      block.text,
    ),
  }));
  const folder = join(project.folder, title.toLowerCase().replace(/\W+/g, "-"));
  saveFiles(blocks, folder);
  return { blocks, folder };
}

const runFile = ([command, file]: [string, string], folder: string, env: Record<string, string>) =>
  execFileSync(command, [file], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    encoding: "utf8",
  });

describe.skipIf(!hasShell)("the guide", () => {
  test("First send creates what it needs and sends with curl and with the SDK", async () => {
    const { blocks, folder } = openGuide("First send");
    expect(guides.includes("SG....")).toBe(false);
    const [created] = await runCommands(blocks, { folder, env: {} });
    expect(created).toContain('"webhookSecretSet":true');
    expect(await waitForMail("ada@example.com", service.url)).toMatchObject({
      subject: "Hello Ada",
      html: "<p>Hello Ada</p>",
    });
    const { env } = await createReader();
    expect(runFile([process.execPath, "first-send.mjs"], folder, env)).toMatch(/^\d+\n$/);
  });

  test.skipIf(!hasPython)("First send sends with Python", async () => {
    const { folder } = openGuide("First send", { "ada@example.com": "grace@example.com" });
    const { env } = await createReader();
    expect(runFile(["python3", "first_send.py"], folder, env)).toMatch(/^\d+\n$/);
    expect(await waitForMail("grace@example.com", service.url)).toMatchObject({
      subject: "Hello Ada",
    });
  });
});
