import "../../shared/domain/reactions.ts";
import { resumeSubmission } from "../../shared/domain/forms/submission-processing.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.submission, ({ orgId, formId, place }) =>
  resumeSubmission(orgId, formId, place),
);
export const { handler } = worker;
