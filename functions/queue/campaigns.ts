import { consume } from "../../shared/consume.ts";
import * as broadcasts from "../../shared/domain/broadcasts/step.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.campaigns, ({ beat, ...key }) => broadcasts.step(key, beat));
export const { handler } = worker;
