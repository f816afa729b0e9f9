import { consume } from "../../shared/consume.ts";
import * as work from "../../shared/domain/sequences/work.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.advance, work.done);
export const { handler } = worker;
