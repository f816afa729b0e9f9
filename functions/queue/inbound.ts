import "../../shared/domain/conversion-reactions.ts";
import "../../shared/domain/reactions.ts";
import { storeRequest } from "../../shared/domain/inbound/store-inbound.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.inbound, storeRequest);
export const { handler } = worker;
