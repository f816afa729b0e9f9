// The confirmation email of double opt-in. It is a normal send of the site.

import { get } from "../../adapters/dynamodb/table.ts";
import { config } from "../../config.ts";
import { renderSimpleEmail } from "../../email/simple-email.ts";
import { confirmationEmailWording } from "../../email/wording/confirmation-email.ts";
import type { Language } from "../../email/wording/email-footer.ts";
import { Problem } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { keys } from "../../keys.ts";
import { displayNameOf, type Site } from "../identity/sites.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import { acceptSingle } from "../sending/intake/accept-single.ts";
import { loadIntake } from "../sending/intake/intake.ts";
import type { SingleMessage } from "../sending/intake/message.ts";
import * as confirmations from "./double-opt-in.ts";
import type { SubmissionItem } from "./submissions.ts";

/** Fields for the submission. */
export type ConfirmationMailResult = Pick<SubmissionItem, "confirmationSendId" | "error">;

const limitError =
  "No confirmation email was sent: one was already sent to this address within the last hour";

/** Idempotent: a retry after a crash uses the send id of the first attempt. */
export async function sendConfirmationMail(
  submission: SubmissionItem,
): Promise<ConfirmationMailResult> {
  if (!(await confirmations.reserveMailSlot(submission))) return { error: limitError };
  try {
    const reserved = { key: submission, taken: { ...submission.taken } };
    return {
      confirmationSendId: await ids.withReservedIds(reserved, () => acceptMail(submission)),
    };
  } catch (error) {
    // A retry does not help, for example without a verified sending config or without credits.
    if (error instanceof Problem && ["invalid", "missing", "unpaid"].includes(error.kind))
      return { error: error.message };
    throw error;
  }
}

async function acceptMail(submission: SubmissionItem): Promise<number> {
  const { orgId, siteId, email, formId, id, contactId } = submission;
  const [sender, site, token] = await Promise.all([
    sendingConfigs.findDefault(orgId),
    get<Site>(keys.record(orgId, "SITE", siteId)),
    confirmations.createToken(submission),
  ]);
  const siteName = site
    ? displayNameOf(site)
    : (sender.fromName ?? sendingConfigs.senderOf(sender).email);
  const message: SingleMessage = {
    to: email,
    siteId,
    sendingConfigId: sender.id,
    fromName: sender.fromName ?? siteName.slice(0, 100),
    ...composeContent(
      siteName,
      submission.language as Language,
      `${config.publicUrl}/api/v1/forms/confirm/${token}`,
    ),
    // Click tracking would replace the confirmation link with a redirect.
    trackOpens: false,
    trackClicks: false,
    metadata: { formId, submissionId: id },
    headers: {},
    tags: [],
    attachments: [],
    secure: false,
    secureExpiresInDays: 30,
  };
  return (
    await acceptSingle({ orgId }, message, {
      context: await loadIntake({ orgId }, message, {
        emails: [email],
        contactId,
        canFailOver: true,
      }),
    })
  ).id;
}

/** Passes all texts as variables, so that the site's name is not read as Liquid. */
function composeContent(siteName: string, language: Language, link: string) {
  const { subject, greeting, intro, confirm, ignoreNote } = confirmationEmailWording[language];
  const blocks = [greeting, intro(siteName), { link, label: confirm }, { note: ignoreNote }];
  const variables = {
    subject: subject(siteName),
    ...renderSimpleEmail({ sender: siteName, lang: language, blocks }),
  };
  return { subject: "{{ subject }}", html: "{{ html | raw }}", text: "{{ text }}", variables };
}
