// Plays tasks in several threads.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Task, TaskResult } from "./player.ts";

/** Plays all tasks in this many threads. Yields their results in the order of the tasks. */
export async function* playInThreads(tasks: Task[], threads: number): AsyncGenerator<TaskResult> {
  const results = tasks.map(() => Promise.withResolvers<TaskResult>());
  const queue = tasks.entries();
  const workers = Array.from({ length: threads }, () => new Worker(workerFile));
  const finished = Promise.all(
    workers.map(async (worker) => {
      for (const [i, task] of queue) {
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
  for (const { promise } of results) yield promise;
  await finished;
}

const workerFile = new URL("./player-thread.ts", import.meta.url);
