// Sends the emails of an action `notify` through the default sending config. Their send ids are
// stored in the task, so a repeat after a crash is the same emails.
import { transact } from "../../../adapters/dynamodb/table.ts";
import { renderSimpleEmail } from "../../../email/simple-email.ts";
import { Problem } from "../../../errors.ts";
import { getMember } from "../../identity/members.ts";
import * as sites from "../../identity/sites.ts";
import { findDefault } from "../../senders/choose-config.ts";
import { acceptSingle } from "../../sending/accept/accept-single.ts";
import { loadIntake } from "../../sending/accept/intake.ts";
import { SingleMessage } from "../../sending/accept/single-message.ts";
import { findItem } from "../sequence-schema.ts";
import {
  abandonTask,
  type NoticeContent,
  readContent,
  removeTaskWrite,
  type StepTask,
  type StoredTask,
} from "./step-tasks.ts";

interface Notices extends StepTask {
  content: NoticeContent;
}

/** Members who have left get none. */
export async function sendNotices(task: StoredTask): Promise<void> {
  const { orgId } = task;
  const content = await readContent<"notices">(task);
  const { memberIds, sendIds } = content;
  try {
    for (const [i, memberId] of memberIds.entries()) {
      const member = await getMember(orgId, memberId);
      if (member) await acceptNotice({ ...task, content }, member.email, sendIds[i]!);
    }
    await transact(removeTaskWrite(task));
  } catch (error) {
    // For example, no sending config is verified or the credits are used up. A retry would not
    // help.
    const isFinal = error instanceof Problem && finalKinds.has(error.kind);
    if (!isFinal) throw error;
    await abandonTask(task);
  }
}

const finalKinds = new Set(["invalid", "missing", "unpaid"]);

async function acceptNotice(
  { orgId, sequenceId, stepId, content: { subject, message } }: Notices,
  to: string,
  id: number,
): Promise<void> {
  const { siteId, name } = await findItem({ orgId }, sequenceId);
  const [sender, site] = await Promise.all([findDefault(orgId), sites.find({ orgId }, siteId)]);
  const email = SingleMessage.parse({
    to,
    siteId,
    sendingConfigId: sender.id,
    fromName: sender.fromName ?? site.name.slice(0, 100),
    // The content comes in variables, because names of contacts must not run as Liquid.
    subject: "{{ subject }}",
    html: "{{ html | raw }}",
    text: "{{ text }}",
    trackOpens: false,
    trackClicks: false,
    metadata: { sequenceId, stepId },
  });
  const note = `Sent by the sequence “${name}”.`;
  const blocks = [...message.split(/\n\n/).filter((part) => part.trim()), { note }];
  // Set after the parse, because callers cannot send system mail.
  const mailWithVariables = {
    ...email,
    system: true as const,
    variables: { subject, ...renderSimpleEmail({ sender: site.name, blocks }) },
  };
  const context = await loadIntake({ orgId }, mailWithVariables, { emails: [to] });
  await acceptSingle({ orgId }, mailWithVariables, { context, id });
}
