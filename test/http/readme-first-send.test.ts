// The script for a first send in README.md works.
import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, inject, test } from "vitest";
import { waitForMail } from "../support/api-client.ts";
import { waitFor } from "../support/wait-for.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const [, lines = ""] = /^## First send$[\s\S]*?^```sh\n([\s\S]*?)^```$/m.exec(readme) ?? [];
const pasteable =
  new URL(inject("baseUrl")).hostname === "127.0.0.1" &&
  spawnSync("curl", ["--version"]).status === 0;

describe.skipIf(!pasteable)("README", () => {
  test("sends a first email with five curl commands, and can be pasted again", async () => {
    const calls = lines.split("\n").filter((line) => /^(KEY=\$\()?curl /.test(line));
    expect(calls).toHaveLength(5);
    const recipient = `${randomUUID()}@example.com`;
    // Other tests use the same service, so the recipient is unique.
    const pasted = lines
      .replace("http://127.0.0.1:3000", inject("baseUrl"))
      .replace("ada@example.com", recipient);
    const folder = mkdtempSync(join(tmpdir(), "readme-"));
    const paste = () =>
      execFileSync("sh", ["-e"], {
        cwd: folder,
        input: pasted,
        stdio: ["pipe", "pipe", "ignore"],
      }).toString();
    try {
      const output = paste();
      expect(output).not.toContain('"error"');
      expect(output).toContain('"webhookSecretSet":true');
      const answers = output.trimEnd().split("\n");
      expect(answers).toHaveLength(5);
      expect(answers[0]).toMatch(/"organization":{"id":\d/);
      expect(answers.at(-1)).toContain(`${inject("baseUrl")}/_local/inbox`);
      await pause(1000);
      expect(paste()).not.toContain('"error"');
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(await waitForMail(recipient)).toMatchObject({
      subject: "Hello",
      html: "<p>Hello Ada</p>",
    });
    await waitFor(async () => {
      const { events } = (await waitForMail(recipient)) as unknown as { events: unknown[] };
      expect(events).toContainEqual(expect.objectContaining({ kind: "delivered", status: 200 }));
    });
  });
});
