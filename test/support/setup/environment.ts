import "../quick-passwords.ts";
import "../../../shared/domain/reactions.ts";
import { expect, inject } from "vitest";
import { useMemoryTables } from "../memory-dynamodb.ts";
import { randomOfTest } from "../seeded-random.ts";
import type {} from "./engines.ts";

Object.assign(process.env, inject("settings"));
// `npm run test:all` runs every file on the embedded engine, and each other run a tenth of them.
if (inject("usesMemoryTables") && randomOfTest(expect.getState().testPath ?? "")() > 0.1)
  useMemoryTables();
