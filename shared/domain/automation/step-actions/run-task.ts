// Does tasks of actions: requests to URLs and emails to members.
import { callUrl } from "./call-url.ts";
import { sendNotices } from "./send-notices.ts";
import { claimTask, type StoredTask } from "./step-tasks.ts";

const tasks: { [T in StoredTask["task"]]: (task: StoredTask) => Promise<void> } = {
  call: callUrl,
  notices: sendNotices,
};

/** Does nothing if another worker has the task or has done it, or if it is not due. */
export async function runTask(orgId: number, taskId: string): Promise<void> {
  const task = await claimTask(orgId, taskId);
  if (task) await tasks[task.task](task);
}
