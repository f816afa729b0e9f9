// What a browser loads to show the console, after gzip.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildConsole } from "../../infra/console/build.ts";

test("the console loads at most 350 kB, 45 kB per screen and 450 kB per editor", async () => {
  const folder = await mkdtemp(join(tmpdir(), "console-"));
  const { firstLoad, screens, editors } = await buildConsole(folder);
  await rm(folder, { recursive: true });
  console.log(`first load ${firstLoad} bytes`, screens, editors);
  expect(firstLoad).toBeGreaterThan(50_000);
  expect(firstLoad).toBeLessThan(350_000);
  expect(Object.keys(screens)).toContain("contacts/contacts");
  for (const [screen, bytes] of Object.entries(screens)) expect(bytes, screen).toBeLessThan(45_000);
  expect(Object.keys(editors)).toContain("code-editor");
  for (const [editor, bytes] of Object.entries(editors))
    expect(bytes, editor).toBeLessThan(450_000);
});
