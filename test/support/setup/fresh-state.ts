// Files of a project without isolation share a process. Each file gets the clock and the
// environment variables that the first one had.
import { afterAll } from "vitest";
import * as clock from "../../../shared/clock.ts";

const variables = { ...process.env };

afterAll(() => {
  clock.advanceClock((Date.now() - clock.now().getTime()) / 1000);
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  Object.assign(process.env, variables);
});
