/**
 * Returns the milliseconds of CPU time that this thread takes for `work`, which does not wait. A busy
 * machine changes only how long it lasts.
 */
export function measureCpuTime(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
