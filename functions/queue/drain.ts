import "../../shared/domain/reactions.ts";
import * as dueWork from "../../shared/domain/due-work.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.drain, ({ what, shard }) => dueWork.drain(what, shard));
export const { handler } = worker;
