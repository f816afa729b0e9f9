import { consume } from "../../shared/consume.ts";
import * as singles from "../../shared/domain/sending/singles.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.send, ({ orgId, sendId }) => singles.deliver(orgId, sendId));
export const { handler } = worker;
