import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, inject, test } from "vitest";
import { listEntryPoints, maxBundleBytes } from "../../infra/aws/build.ts";
import { lazyFileName, lazyModules } from "../../infra/aws/esbuild-plugins.ts";
import {
  appendMessage,
  createFolder,
  startImapServer,
} from "../../infra/local/sandbox/imap-server.ts";
import type { ImapSession } from "../../shared/adapters/imap/imap-client.ts";
import { languages } from "../../shared/email/languages.ts";
import { emailFooterWording, unsubscribePageWording } from "../../shared/email/wording/by-topic.ts";
import { getReferenceScript } from "../../shared/http/reference/scalar-script.ts";
import type {} from "../support/setup/bundles.ts";
import { serviceTables } from "../support/synthesized-stack.ts";

const dist = inject("dist");
const all = await listEntryPoints();
const fileOf = ({ kind, name }: { kind: string; name: string }) =>
  join(dist, kind, name, "index.cjs");

/** Runs code in a process with an empty environment. Returns its output. */
async function inEmptyEnvironment(code: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "-e", code],
    { env: {} },
  );
  expect(stderr).toBe("");
  return stdout;
}

type Inputs = Record<string, { bytesInOutput: number }>;
interface Metafile {
  outputs: Record<string, { entryPoint?: string; inputs: Inputs }>;
}

describe("bundles", () => {
  test("exist for every group, queue, schedule and the fallback", () => {
    const expected = [
      "http/fallback",
      ...serviceTables.groups.map(({ name }) => `http/${name}`),
      ...serviceTables.workers.map(({ queue }) => `queue/${queue.name}`),
      ...serviceTables.schedules.map(({ name }) => `schedule/${name}`),
    ];
    expect(all.map(({ kind, name }) => `${kind}/${name}`).toSorted()).toEqual(expected.toSorted());
  });

  test("are at most 575 kB", async () => {
    for (const entry of all)
      expect(
        (await readFile(fileOf(entry))).length,
        `${entry.kind}/${entry.name}`,
      ).toBeLessThanOrEqual(maxBundleBytes);
  });

  test.each([
    ["change contacts", "contacts/reactions.ts", "reactions.ts", 6],
    ["record events", "tracking/converting-events.ts", "conversion-reactions.ts", 3],
  ])("bundles that %s include their reactions", async (_, hook, reactions, atLeast) => {
    const meta: Metafile = JSON.parse(await readFile(join(dist, "meta.json"), "utf8"));
    const sizeIn = (inputs: Inputs, file: string) =>
      inputs[`shared/domain/${file}`]?.bytesInOutput ?? 0;
    const reacting = Object.values(meta.outputs).filter(
      ({ inputs }) => sizeIn(inputs, `audience/${hook}`) > 0,
    );
    expect(reacting.length).toBeGreaterThanOrEqual(atLeast);
    for (const { entryPoint, inputs } of reacting)
      expect(sizeIn(inputs, reactions), entryPoint).toBeGreaterThan(0);
  });

  test("lazy modules are next to the bundles that use them, and nowhere else", async () => {
    const late = lazyModules.map(lazyFileName);
    for (const entry of all) {
      const code = await readFile(fileOf(entry), "utf8");
      const expected = late.filter((file) => code.includes(`require("./${file}")`));
      // The console is a folder beside the bundle that serves it.
      const files = (await readdir(join(dist, entry.kind, entry.name))).filter(
        (file) => file !== "console",
      );
      const withMaps = [...expected, "index.cjs"].flatMap((file) => [file, `${file}.map`]);
      expect(files.toSorted(), `${entry.kind}/${entry.name}`).toEqual(withMaps.toSorted());
    }
  });

  test("workers contain no texts of pages", async () => {
    const pageTexts = languages.map((language) => unsubscribePageWording[language].askTitle);
    const footers = languages.map((language) => emailFooterWording[language].preferences);
    const countIn = async (kind: string, name: string, texts: string[]) => {
      const code = await readFile(fileOf({ kind, name }), "utf8");
      return texts.filter((text) => code.includes(text)).length;
    };
    for (const { kind, name } of all)
      if (kind !== "http") expect(await countIn(kind, name, pageTexts), name).toBe(0);
    const pages = join(dist, "http/compliance", lazyFileName("unsubscribe-pages.ts"));
    const code = await readFile(pages, "utf8");
    expect(pageTexts.filter((text) => code.includes(text))).toEqual(pageTexts);
    expect(await countIn("queue", "lane", footers)).toBe(languages.length);
  });

  test("only the bundle of the API reference contains the script of Scalar", async () => {
    const files = all
      .map((entry) => join(dirname(fileOf(entry)), lazyFileName("scalar-script.ts")))
      .filter(existsSync);
    expect(files).toEqual([join(dist, "http/reference/scalar-script.cjs")]);
    const { getReferenceScript: getBundledScript } = await import(files[0]!);
    expect(Buffer.compare(await getBundledScript(), await getReferenceScript())).toBe(0);
  });

  test("contain an IMAP client that knows names in UTF-7", async () => {
    const folder = createFolder();
    appendMessage(folder, "From: ada@example.com", new Date());
    const folders = new Map([["Zur&APw-ck &AOk-", folder]]);
    const { url, close } = await startImapServer({
      findMailbox: () => ({ password: "é", folders }),
    });
    const server = { host: "127.0.0.1", port: Number(new URL(url).port), tls: "none", isOwn: true };
    const { useFolder } = await import(join(dist, "queue/jobs", lazyFileName("imap-client.ts")));
    const read: string[] = [];
    const login = { ...server, user: "ada", password: "é" };
    const use = { folder: "Zurück é", changes: false, seconds: 20 };
    const fault = await useFolder(login, use, async (session: ImapSession) => {
      for (const uid of await session.listUids(0))
        read.push(String(await session.readMessage(uid)));
    });
    await close();
    expect([fault, read]).toEqual([undefined, ["From: ada@example.com"]]);
  });

  test("load with an empty environment and export their handler", async () => {
    const files = JSON.stringify(all.map(fileOf));
    const code = `const handlers = []; for (const file of ${files}) handlers.push(typeof (await import(file)).handler); console.log(JSON.stringify(handlers));`;
    expect(JSON.parse(await inEmptyEnvironment(code))).toEqual(all.map(() => "function"));
  });

  test("load from source with an empty environment", async () => {
    const files = all.map(({ kind, name }) =>
      join(import.meta.dirname, "../../functions", kind, `${name}.ts`),
    );
    const code = `for (const file of ${JSON.stringify(files)}) await import(file); console.log("loaded");`;
    expect(await inEmptyEnvironment(code)).toBe("loaded\n");
  });

  test("the fallback redirects to the API reference and responds 404 to other paths", async () => {
    const event = (rawPath: string) => ({
      routeKey: "$default",
      rawPath,
      headers: {},
      requestContext: { requestId: "r", http: { method: "GET", sourceIp: "192.0.2.1" } },
    });
    const code = `
      process.env.LOG_LEVEL = "SILENT";
      const { handler } = await import(${JSON.stringify(fileOf({ kind: "http", name: "fallback" }))});
      const events = ${JSON.stringify([event("/docs"), event("/api/v1/nothing")])};
      console.log(JSON.stringify(await Promise.all(events.map((event) => handler(event)))));`;
    const [docs, nothing] = JSON.parse(await inEmptyEnvironment(code));
    expect(docs).toMatchObject({ statusCode: 302, headers: { location: "/api/v1/docs" } });
    expect(nothing.statusCode).toBe(404);
    expect(JSON.parse(nothing.body)).toMatchObject({ code: "not_found" });
    const { outputs } = JSON.parse(await readFile(join(dist, "meta.json"), "utf8")) as Metafile;
    const { inputs } = Object.values(outputs).find(
      ({ entryPoint }) => entryPoint === "functions/http/fallback.ts",
    )!;
    const groups = Object.keys(inputs).filter((file) => file.startsWith("functions/http/"));
    expect(groups).toEqual(["functions/http/fallback.ts"]);
  });
});
