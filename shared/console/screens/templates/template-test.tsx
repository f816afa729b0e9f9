import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { api } from "../../data/client.ts";
import { useMe } from "../../data/session.ts";
import { countOf } from "../../format.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { splitAddresses, useTextField } from "../../parts/text-field.ts";
import type { ShownDraft } from "./template-editor.tsx";

/** Sends the draft, with the fields of the contact, to people who review it. */
export function TemplateTest({ template, draft, contact }: ShownDraft) {
  const { user } = useMe();
  const addresses = useTextField(user.email);
  const emails = splitAddresses(addresses.value);
  const { subject, html, text } = draft;
  const sending = useMutation({
    mutationFn: () =>
      api.templates.sendTests(template.id, {
        emails,
        subject,
        html,
        text,
        ...(contact && { contactId: contact.id }),
      }),
  });
  const tests = sending.data?.tests ?? [];
  const refused = tests.filter(({ status }) => status === "failed");
  return (
    <div className="stack">
      <TextInput
        label="Send it to"
        description="Up to five addresses, separated by commas. What is not saved yet is sent too."
        {...addresses.input}
      />
      <ErrorNote error={sending.error} />
      <div role="status">
        {sending.isSuccess && (
          <p>
            {countOf(tests.length - refused.length, "test email")} on the way.
            {refused.length > 0 &&
              ` On the suppression list: ${refused.map(({ email }) => email).join(", ")}`}
          </p>
        )}
      </div>
      <div className="buttons">
        <Button
          variant="default"
          disabled={emails.length === 0}
          loading={sending.isPending}
          onClick={() => sending.mutate()}
        >
          Send test email
        </Button>
      </div>
    </div>
  );
}
