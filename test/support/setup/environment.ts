import "../quick-passwords.ts";
import "../../../shared/domain/conversion-reactions.ts";
import "../../../shared/domain/reactions.ts";
import { basename } from "node:path";
import { expect, inject } from "vitest";
import * as clock from "../../../shared/clock.ts";
import { useMemoryTables } from "../memory-dynamodb.ts";
import { randomOfTest } from "../seeded-random.ts";
import type {} from "./engines.ts";

Object.assign(process.env, inject("settings"));

// `npm run test:all` runs every file on the embedded engine, and each other run a tenth of them.
const fileName = basename(expect.getState().testPath ?? "");
if (inject("usesMemoryTables") && randomOfTest(fileName)() > 0.1) useMemoryTables();

// Tests move the clock by hours. Late in the evening they would pass midnight, and at times the end
// of a month.
const hour = new Date().getUTCHours();
if (hour >= 20) clock.advanceClock((24 - hour) * 3600);
