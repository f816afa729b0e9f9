import { consume } from "../../shared/consume.ts";
import { takeUp } from "../../shared/domain/forms/taking-up.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.submission, ({ orgId, formId, place }) => takeUp(orgId, formId, place));
export const { handler } = worker;
