// A thread that plays one task after the other.
import { parentPort } from "node:worker_threads";
import { createPlayer, type Task } from "./player.ts";

const play = await createPlayer();
parentPort!.on("message", async (task: Task) => parentPort!.postMessage(await play(task)));
