import { consume } from "../../shared/consume.ts";
import * as exports from "../../shared/domain/exports.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.export, ({ orgId, exportId }) => exports.run(orgId, exportId));
export const { handler } = worker;
