// Whatever is still to be done about a submission. First by who takes it, at once; should they die, by a worker that the due index sends.
import { get } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import { accept, finish, meet } from "./acceptance.ts";
import { ask } from "./confirmation-mails.ts";
import type { FormItem } from "./form.ts";
import * as submissions from "./submissions.ts";

/** Safe to repeat. */
export async function takeUp(orgId: number, formId: number, place: string): Promise<void> {
  const [submission, form] = await Promise.all([submissions.find(orgId, formId, place), get<FormItem>(keys.record(orgId, "FORM", formId))]);
  if (submission?.duesk === undefined) return;
  if (!form) return void (await finish(submission));
  if (submission.status === "accepted") return accept(form, submission);
  await finish(submission, await ask(await meet(form, submission)));
}
