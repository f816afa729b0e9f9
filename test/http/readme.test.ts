// What README tells a newcomer to paste must work.
import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, inject, test, vi } from "vitest";
import { freshEmail, mailTo } from "../support/client.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const [, lines = ""] = /^## A first send$[\s\S]*?^```sh\n([\s\S]*?)^```$/m.exec(readme) ?? [];
const pasteable = new URL(inject("baseUrl")).hostname === "127.0.0.1" && spawnSync("curl", ["--version"]).status === 0;

describe.skipIf(!pasteable)("README", () => {
  test("sends a first mail in five curls, pasted into a shell as they stand", async () => {
    const calls = lines.split("\n").filter((line) => /^(KEY=\$\()?curl /.test(line));
    expect(calls).toHaveLength(5);
    const recipient = `${randomUUID()}@example.com`;
    // Other tests sign up and send at the same service.
    const pasted = lines
      .replace("http://127.0.0.1:3000", inject("baseUrl"))
      .replace("me@shop.example", freshEmail())
      .replace("ada@example.com", recipient);
    const folder = mkdtempSync(join(tmpdir(), "readme-"));
    try {
      const output = execFileSync("sh", ["-e"], { cwd: folder, input: pasted, stdio: ["pipe", "pipe", "ignore"] }).toString();
      expect(output).not.toContain('"error"');
      expect(output).toContain('"webhookSecretSet":true');
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(await mailTo(recipient)).toMatchObject({ subject: "Hello", html: "<p>Hello Ada</p>" });
    await vi.waitFor(async () => {
      const { events } = (await mailTo(recipient)) as unknown as { events: unknown[] };
      expect(events).toContainEqual(expect.objectContaining({ kind: "delivered", status: 200 }));
    });
  });
});
