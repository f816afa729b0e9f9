import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useMe } from "../data/session.ts";
import { t } from "../language/translate.ts";
import { ErrorNote } from "./error-note.tsx";
import { splitAddresses, useTextField } from "./text-field.ts";

/** What became of a test email. */
interface TestResult {
  email: string;
  status: string;
}

interface TestEmailFormProps {
  /** How many addresses there may be, and what is sent. */
  description: string;
  isDisabled?: boolean;
  send(emails: string[]): Promise<readonly TestResult[]>;
}

/** Sends a test email to people who review it, at first to the user. */
export function TestEmailForm({ description, isDisabled = false, send }: TestEmailFormProps) {
  const addresses = useTextField(useMe().user.email);
  const emails = splitAddresses(addresses.value);
  const sending = useMutation({ mutationFn: () => send(emails) });
  return (
    <>
      <TextInput
        label={t("Send it to")}
        description={description}
        data-field="emails"
        {...addresses.input}
      />
      <ErrorNote error={sending.error} />
      <div role="status">{sending.data && <p>{describeResults(sending.data)}</p>}</div>
      <div className="buttons">
        <Button
          variant="default"
          disabled={isDisabled || emails.length === 0}
          loading={sending.isPending}
          onClick={() => sending.mutate()}
        >
          {t("Send test email")}
        </Button>
      </div>
    </>
  );
}

function describeResults(results: readonly TestResult[]): string {
  const refused = results.filter(({ status }) => status === "failed");
  const sent = results.length - refused.length;
  const text = t("{sent, plural, one {# test email is} other {# test emails are}} on the way.", {
    sent,
  });
  return refused.length === 0
    ? text
    : t("{text} On the suppression list: {addresses}", {
        text,
        addresses: refused.map(({ email }) => email).join(", "),
      });
}
