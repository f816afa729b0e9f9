import { inject } from "vitest";

/** How far tests have moved the clock of the service (milliseconds). */
export async function readClockLead(): Promise<number> {
  const answer = await fetch(`${inject("baseUrl")}/_local/clock`);
  const { data } = (await answer.json()) as { data: { now: string } };
  return Date.parse(data.now) - Date.now();
}
