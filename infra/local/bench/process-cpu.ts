// CPU time of other processes, from /proc, which exists on Linux only.
import { readFileSync } from "node:fs";

/** Returns milliseconds since the process started. Undefined if the system does not say. */
export const processCpuMs = (pid: number): number | undefined =>
  undefinedOnError(() => 10 * cpuTicks(pid));

/** Returns the milliseconds of all processes that it started, and of their children. */
export const childrenCpuMs = (pid: number): number | undefined =>
  undefinedOnError(() => 10 * cpuTicksOfChildren(pid));

function undefinedOnError<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const cpuTicksOfChildren = (pid: number): number =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter(Boolean)
    .map(Number)
    .reduce((sum, child) => sum + cpuTicks(child) + cpuTicksOfChildren(child), 0);

// The process name is in brackets and can contain spaces. Of the fields after it, the 12th is user
// time and the 13th is system time.
const cpuTicks = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
  return Number(fields[11]) + Number(fields[12]);
};
