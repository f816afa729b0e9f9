import "../../shared/domain/reactions.ts";
import { resumeConfirmation } from "../../shared/domain/forms/contact-confirmations.ts";
import { resumeSubmission } from "../../shared/domain/forms/submission-processing.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

export const worker = handleEach(queues.submission, (message) =>
  "formId" in message
    ? resumeSubmission(message.orgId, message.formId, message.place)
    : resumeConfirmation(message.orgId, message.contactId),
);
export const { handler } = worker;
