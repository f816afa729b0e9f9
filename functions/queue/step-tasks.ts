import "../../shared/domain/reactions.ts";
import { runTask } from "../../shared/domain/automation/step-actions/run-task.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.stepTasks, ({ orgId, taskId }) => runTask(orgId, taskId));
export const { handler } = worker;
