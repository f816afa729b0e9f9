// Somebody submits: first it is stored, and from then on it will be done, by us at once or by whoever finds it left undone.
import * as log from "../../log.ts";
import { accept, meet } from "./acceptance.ts";
import type { FormItem } from "./form.ts";
import * as submissions from "./submissions.ts";
import type { Entered } from "./values.ts";

export async function submit(form: FormItem, entry: Entered, asked: submissions.Circumstances): Promise<void> {
  const submission = await submissions.store(form, entry, asked);
  if (submission.duesk === undefined) return;
  try {
    await ways[submission.status](form, submission);
  } catch (error) {
    // Who submitted has nothing to mend: the due index brings it again.
    log.failure("a submission is left for later", error, { orgId: form.orgId, formId: form.id, submissionId: submission.id });
  }
}

const ways: Record<submissions.SubmissionItem["status"], (form: FormItem, submission: submissions.SubmissionItem) => Promise<void>> = {
  accepted: accept,
  pending: async (form, submission) => {
    await meet(form, submission);
    // The mail is a worker's: it needs all that sending needs.
    await submissions.takeUpSoon(form.orgId, form.id, submission.sk);
  },
};
