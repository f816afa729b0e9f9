import { consume } from "../../shared/consume.ts";
import { run } from "../../shared/domain/imports/run.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.import, ({ orgId, importId }) => run(orgId, importId));
export const { handler } = worker;
