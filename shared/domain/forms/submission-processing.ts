// Processes submissions. A submission is stored first and then processed at once; after a crash,
// the due index brings it to a worker.
import type { Language } from "../../email/languages.ts";
import * as log from "../../kernel/log.ts";
import * as records from "../../kernel/records.ts";
import { acceptSubmission, ensureContact } from "./acceptance.ts";
import { isMailDue, sendNextMail } from "./confirmation-mails.ts";
import * as doubleOptIn from "./double-opt-in.ts";
import type { FormEntry } from "./form-entry.ts";
import type { FormItem } from "./form-schema.ts";
import * as submissions from "./submissions.ts";

export async function submitForm(
  form: FormItem,
  entry: FormEntry,
  context: submissions.SubmissionContext,
): Promise<void> {
  const submission = await submissions.storeSubmission(form, entry, context);
  if (submission.duesk === undefined) return;
  try {
    await handlersByStatus[submission.status](form, submission);
  } catch (error) {
    // The visitor cannot fix this error. The due index retries the submission.
    log.error("form submission failed and will be retried", error, {
      orgId: form.orgId,
      formId: form.id,
      submissionId: submission.id,
    });
  }
}

const handlersByStatus: Record<
  submissions.SubmissionItem["status"],
  (form: FormItem, submission: submissions.SubmissionItem) => Promise<void>
> = {
  accepted: acceptSubmission,
  pending: async (form, submission) => {
    await ensureContact(form, submission);
    // A worker sends the confirmation email, because the public function has no permission to send.
    await submissions.enqueueSubmission(form.orgId, form.id, submission.sk);
  },
};

/** Does what is left to do for a submission. Idempotent. */
export async function resumeSubmission(
  orgId: number,
  formId: number,
  sortKey: string,
): Promise<void> {
  const [submission, form] = await Promise.all([
    submissions.find(orgId, formId, sortKey),
    records.findAlive<FormItem>("FORM", orgId, formId),
  ]);
  if (submission?.duesk === undefined) return;
  if (!form) return void (await submissions.finish(submission));
  if (submission.status === "accepted") return acceptSubmission(form, submission);
  if (!isMailDue(submission)) return;
  const linked = await ensureContact(form, submission);
  const { id, language, locale = language, renewedAt } = submission;
  const sent = await sendNextMail(linked, {
    language: language as Language,
    locale,
    token: await doubleOptIn.createToken(submission),
    formId,
    place: renewedAt === undefined ? sortKey : `${sortKey} ${renewedAt}`,
    metadata: { formId, submissionId: id },
  });
  await submissions.finish(submission, sent);
}
