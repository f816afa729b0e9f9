// The subjects of the mails of a walk, as their contact would get them.

import * as liquid from "../../email/liquid.ts";
import { Problem } from "../../errors.ts";
import { toSingleLine } from "../../kernel/email-fields.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { subjectFor } from "../content/template-translations.ts";
import type { SentTemplate } from "../content/templates.ts";
import { nameOfContact, toContactVariables } from "../sending/contact-variables.ts";
import type { SequenceStep } from "./step-schema.ts";
import { getTemplates } from "./steps.ts";
import type { WalkedMail, WalkedStep } from "./walk-schema.ts";

export interface MailOfWalk {
  walked: WalkedStep;
  step: SequenceStep;
  /** As the contact is then. */
  contact: ContactItem;
  /** JSON of the properties of the event that the mail can read. */
  event: string | undefined;
  at: Date;
}

const maxLength = 1000;

/** All together have the budget of one mail. */
export async function renderMails(orgId: number, mails: MailOfWalk[]): Promise<void> {
  const templateIds = [...new Set(mails.flatMap(({ step }) => step.templateId ?? []))];
  const templates = await getTemplates(orgId, templateIds);
  const budget = new liquid.Budget();
  for (const mail of mails)
    mail.walked.mail = renderMail(mail, templates.get(mail.step.templateId ?? 0), budget);
}

function renderMail(
  { step: { templateId, previewText }, contact, event, at }: MailOfWalk,
  template: SentTemplate | undefined,
  budget: liquid.Budget,
): WalkedMail {
  const mail = { templateId, subject: null, previewText: null };
  if (templateId === null) return { ...mail, problem: "The step has no template" };
  if (!template) return { ...mail, problem: `Template ${templateId} no longer exists` };
  const variables = {
    ...toContactVariables(contact),
    ...{ email: contact.email, name: nameOfContact(contact) },
    ...(event !== undefined && { event: JSON.parse(event) as unknown }),
  };
  const render = (field: string, source: string) => {
    const compiled = liquid.compile(source, { escape: false, field });
    const { text } = liquid.render(compiled, variables, { now: at, budget });
    return toSingleLine(text).slice(0, maxLength);
  };
  try {
    return {
      templateId,
      subject: render("subject", subjectFor(template, contact.locale)),
      previewText: previewText === null ? null : render("previewText", previewText),
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof Problem && error.kind === "invalid")) throw error;
    return { ...mail, problem: error.message };
  }
}
