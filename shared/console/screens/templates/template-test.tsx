import { api } from "../../data/client.ts";
import { t } from "../../language/translate.ts";
import { TestEmailForm } from "../../parts/test-email-form.tsx";
import type { ShownDraft } from "./draft.ts";

/** Sends the draft, with the fields of the contact, to people who review it. */
export function TemplateTest({ template, draft, contact }: ShownDraft) {
  const { subject, html, text } = draft;
  const send = async (emails: string[]) => {
    const fields = { emails, subject, html, text, ...(contact && { contactId: contact.id }) };
    return (await api.templates.sendTests(template.id, fields)).tests;
  };
  return (
    <div className="stack">
      <TestEmailForm
        description={t(
          "Up to five addresses, separated by commas. What is not saved yet is sent too.",
        )}
        send={send}
      />
    </div>
  );
}
