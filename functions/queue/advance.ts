import * as work from "../../shared/domain/automation/advance-worker.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.advance, work.handleMessage);
export const { handler } = worker;
