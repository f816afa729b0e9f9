// The image of infra/local/Dockerfile holds what the service needs, and runs it.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildImage, type Container, type Image, startContainer } from "./image.ts";
import { missingForImage } from "./tools.ts";

const readJson = (file: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../..", file), "utf8"));

/** A port that no other service of this machine uses: the container shares its network. */
const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer();
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });

describe.skipIf(missingForImage())("the container image", () => {
  let folder: string;
  let image: Image;
  let url: string;
  let service: Container;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "container-"));
    image = buildImage(folder);
    await start("SANDBOX=shared");
  });
  const start = async (...settings: string[]) => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    service = await startContainer(image, [`PORT=${port}`, "LOG_LEVEL=ERROR", ...settings]);
  };
  const runHealthcheck = async (...env: string[]) => {
    const [, ...command] = image.config.Healthcheck.Test;
    return (await service.execute(["env", ...env, ...command])).code;
  };

  afterAll(async () => {
    try {
      process.kill(service.pid, "SIGKILL");
    } catch {
      // It was stopped by a test, or never started.
    }
    await service?.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  test("has no dev dependency, no tests and no second Node.js", () => {
    const { packages } = readJson("package-lock.json");
    const present = Object.entries<{ dev?: boolean }>(packages).filter(
      ([path, { dev }]) => dev && existsSync(join(image.root, "app", path)),
    );
    expect(present).toEqual([]);
    expect(readdirSync(join(image.root, "app")).sort()).toEqual([
      "LICENSE",
      "bin",
      "dist",
      "functions",
      "infra",
      "node_modules",
      "package.json",
      "shared",
    ]);
    expect(existsSync(join(image.root, "app/node_modules/.bin/node"))).toBe(false);
  });

  test("does not run as root", () => {
    expect(image.config.User).toBe("1000");
  });

  test("is healthy once the service has started", async () => {
    await expect.poll(() => runHealthcheck()).toBe(0);
    expect(await runHealthcheck("PORT=1")).toBe(1);
  });

  test("serves the console that was built with it", async () => {
    const response = await fetch(`${url}/app`);
    expect(response.status).toBe(200);
    const page = await response.text();
    const [, script] = /<script type="module" src="([^"]+)"/.exec(page)!;
    expect((await fetch(url + script)).status).toBe(200);
  });

  test("sends email, and backs up what it has stored", async () => {
    const demo = await service.execute(["node", "bin/demo.ts"]);
    expect(demo, demo.output).toMatchObject({ code: 0 });
    const backup = await service.execute(["node", "bin/backup.ts", "/backups/1"]);
    expect(backup, backup.output).toMatchObject({ code: 0 });
    expect(existsSync(join(image.root, "backups/1/backup.json"))).toBe(true);
  });

  test("stops by SIGTERM, and starts with the settings of production", async () => {
    process.kill(service.pid, "SIGTERM");
    expect(await service.ended).toBe(0);
    const settings = ["SANDBOX=off", "PUBLIC_URL=https://mail.shop.example"];
    await start(...settings, "DATA_DIR=/backups/production");
    await expect.poll(() => runHealthcheck()).toBe(0);
    expect((await fetch(`${url}/_local/inbox`)).status).toBe(404);
  });
});
