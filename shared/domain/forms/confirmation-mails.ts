// The mail that asks to confirm: a send of the site like any other, listed and recorded.
import { config } from "../../config.ts";
import { get } from "../../doors/table.ts";
import { Problem } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { keys } from "../../keys.ts";
import { confirmMailWords } from "../../pages/confirm-mail-words.ts";
import { letter } from "../../pages/letters.ts";
import type { Language } from "../../pages/mail-words.ts";
import { gather } from "../sending/accept.ts";
import { single } from "../sending/accept-single.ts";
import type { SingleMessage } from "../sending/message.ts";
import * as sendingConfigs from "../sending-configs.ts";
import { nameOf, type Site } from "../sites.ts";
import * as confirmations from "./confirmations.ts";
import type { SubmissionItem } from "./submissions.ts";

/** What became of it, for the submission to tell. */
export type Asked = Pick<SubmissionItem, "confirmationSendId" | "error">;

const limited = "A mail that asks this address to confirm went within the hour";

/** Accepts the mail once, however often it is tried: a try after a death takes the send id of the first. */
export async function ask(submission: SubmissionItem): Promise<Asked> {
  if (!(await confirmations.mayAsk(submission))) return { error: limited };
  try {
    const memory = { address: submission, taken: { ...submission.taken } };
    return { confirmationSendId: await ids.remembering(memory, () => send(submission)) };
  } catch (error) {
    // No sending config is verified any more, or the credits are used up: waiting does not mend it.
    if (error instanceof Problem && ["invalid", "missing", "unpaid"].includes(error.kind)) return { error: error.message };
    throw error;
  }
}

async function send(submission: SubmissionItem): Promise<number> {
  const { orgId, siteId, email, formId, id, contactId } = submission;
  const [sender, site, token] = await Promise.all([
    sendingConfigs.defaultConfig(orgId),
    get<Site>(keys.record(orgId, "SITE", siteId)),
    confirmations.tokenOf(submission),
  ]);
  const siteName = site ? nameOf(site) : (sender.fromName ?? sender.fromEmail);
  const message: SingleMessage = {
    to: email,
    siteId,
    sendingConfigId: sender.id,
    fromName: sender.fromName ?? siteName.slice(0, 100),
    ...worded(siteName, submission.language as Language, `${config.publicUrl}/api/v1/forms/confirm/${token}`),
    // A link that is counted leads somewhere else first.
    trackOpens: false,
    trackClicks: false,
    metadata: { formId, submissionId: id },
    headers: {},
    tags: [],
    attachments: [],
    secure: false,
    secureExpiresInDays: 30,
  };
  return (await single({ orgId }, message, await gather({ orgId }, message, [email], { contactId }))).id;
}

/** As values: what a site is called must not be read as Liquid. */
function worded(siteName: string, language: Language, link: string) {
  const { subject, hello, ask: asking, confirm, ignore } = confirmMailWords[language];
  const blocks = [hello, asking(siteName), { link, label: confirm }, { small: ignore }];
  const variables = { subject: subject(siteName), ...letter({ sender: siteName, lang: language, blocks }) };
  return { subject: "{{ subject }}", html: "{{ html | raw }}", text: "{{ text }}", variables };
}
