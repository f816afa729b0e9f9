import "../quick-passwords.ts";
import "../../../shared/domain/reactions.ts";
import { basename } from "node:path";
import { expect, inject } from "vitest";
import { useMemoryTables } from "../memory-dynamodb.ts";
import { randomOfTest } from "../seeded-random.ts";
import type {} from "./engines.ts";

Object.assign(process.env, inject("settings"));

// `npm run test:all` runs every file on the embedded engine, and each other run a tenth of them.
const fileName = basename(expect.getState().testPath ?? "");
if (inject("usesMemoryTables") && randomOfTest(fileName)() > 0.1) useMemoryTables();
