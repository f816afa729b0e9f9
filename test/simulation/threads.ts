// Plays tasks in several threads.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Task, TaskResult } from "./player.ts";

interface Limits {
  threads: number;
  /** No task is started from then on. In milliseconds, as `performance.now()` tells them. */
  until: number;
}

/** Plays tasks in several threads. Yields the results in the order of the tasks. */
export async function* playInThreads(
  tasks: Task[],
  { threads, until }: Limits,
): AsyncGenerator<TaskResult> {
  const results = tasks.map(() => Promise.withResolvers<TaskResult | undefined>());
  const queue = tasks.entries();
  const workers = Array.from({ length: threads }, () => new Worker(workerFile));
  const finished = Promise.all(
    workers.map(async (worker) => {
      for (const [i, task] of queue) {
        if (performance.now() >= until) {
          results[i]!.resolve(undefined);
          continue;
        }
        worker.postMessage(task);
        const [result] = (await once(worker, "message")) as [TaskResult];
        results[i]!.resolve(result);
      }
      await worker.terminate();
    }),
  );
  finished.catch((error: unknown) => {
    for (const { promise, reject } of results) {
      promise.catch(() => {});
      reject(error);
    }
  });
  for (const { promise } of results) {
    const result = await promise;
    if (result) yield result;
  }
  await finished;
}

const workerFile = new URL("./player-thread.ts", import.meta.url);
