import { Select, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { html as safeHtml } from "../../../kernel/html.ts";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { FormDialog } from "../../parts/form.tsx";
import { ReadableError } from "../../parts/readable-error.ts";
import { useTextField } from "../../parts/text-field.ts";

interface SendSecureMessageProps {
  siteId: number;
  opened: boolean;
  onClose(): void;
}

const lifetimes = [1, 7, 30, 90, 365];
const usualLifetime = 30;

/** Writes a message that is encrypted, and says what its recipient gets. */
export function SendSecureMessage({ siteId, opened, onClose }: SendSecureMessageProps) {
  const to = useTextField();
  const subject = useTextField();
  const message = useTextField();
  const passphrase = useTextField();
  const [days, setDays] = useState(usualLifetime);
  const { senders, sender, choose } = useSender();
  const sending = useChange({
    run: () =>
      sendSecurely({
        siteId,
        sendingConfigId: Number(sender),
        to: to.value.trim(),
        subject: toLiteral(subject.value),
        html: toHtml(message.value),
        secureExpiresInDays: days,
        ...(passphrase.value && { securePassphrase: passphrase.value }),
      }),
    refreshes: ["secure-messages", "sends"],
    onDone: () => close(),
    says: () => t("The message to {email} is on its way.", { email: to.value.trim() }),
  });
  const close = () => {
    for (const field of [to, subject, message, passphrase]) field.set("");
    setDays(usualLifetime);
    sending.reset();
    onClose();
  };
  return (
    <FormDialog
      title={t("Secure message")}
      action={t("Send message")}
      submission={sending}
      isDisabled={!sender || !message.value.trim()}
      opened={opened}
      onClose={close}
    >
      <TextInput
        label={t("Recipient")}
        type="email"
        required
        data-autofocus
        data-field="to"
        {...to.input}
      />
      <Select
        label={t("From")}
        placeholder={t("Choose a sender")}
        required
        data={senders}
        value={sender}
        onChange={choose}
        data-field="sendingConfigId"
      />
      <TextInput
        label={t("Subject")}
        description={t("Everybody who sees the inbox can read it. It is not encrypted.")}
        required
        maxLength={300}
        data-field="subject"
        {...subject.input}
      />
      <Textarea
        label={t("Message")}
        required
        autosize
        minRows={5}
        maxRows={14}
        data-field="html"
        {...message.input}
      />
      <Select
        label={t("Readable for")}
        allowDeselect={false}
        data={lifetimes.map((value) => ({ value: String(value), label: daysText(value) }))}
        value={String(days)}
        onChange={(value) => setDays(Number(value))}
      />
      <TextInput
        label={t("Passphrase (optional)")}
        description={t("Tell it to the recipient in another way, such as by phone.")}
        autoComplete="off"
        minLength={4}
        maxLength={200}
        data-field="securePassphrase"
        {...passphrase.input}
      />
      <p className="quiet" role="status">
        {summaryOf({ to: to.value.trim(), days, hasPassphrase: passphrase.value !== "" })}
      </p>
    </FormDialog>
  );
}

const daysText = (days: number): string =>
  t("{days, plural, one {# day} other {# days}}", { days });

/** The senders that have an address. The only one is chosen. */
function useSender() {
  const configs = useQuery(queries.sendingConfigs()).data?.sendingConfigs ?? [];
  const [chosen, choose] = useState<string | null>(null);
  const senders = configs.flatMap(({ id, fromEmail, fromName }) =>
    fromEmail === null
      ? []
      : { value: String(id), label: fromName ? `${fromName} <${fromEmail}>` : fromEmail },
  );
  const only = senders.length === 1 ? senders[0]!.value : null;
  return { senders, sender: chosen ?? only, choose };
}

interface Summary {
  to: string;
  days: number;
  hasPassphrase: boolean;
}

/** What the recipient gets. */
const summaryOf = ({ to, days, hasPassphrase }: Summary): string =>
  [
    t("{email} gets an email with the subject and a link, without the message.", {
      email: to || t("The recipient"),
    }),
    hasPassphrase
      ? t("The page behind the link asks for the passphrase.")
      : t("Everybody who has the link can read the message."),
    t("After {days, plural, one {# day} other {# days}}, the message is deleted.", { days }),
  ].join(" ");

type SecureEmail = Parameters<typeof api.emails.send>[0];

async function sendSecurely(message: SecureEmail): Promise<void> {
  const { status } = await api.emails.send({ ...message, secure: true });
  if (status === "failed")
    throw new ReadableError(t("Nothing was sent, because the address is on the suppression list."));
}

/** Templates are read in subjects and in HTML. What a person types is a text. */
const toLiteral = (text: string): string => text.replaceAll(/\{[{%]/g, '{{ "$&" }}');

const toHtml = (text: string): string =>
  safeHtml`<div style="white-space:pre-wrap">${text}</div>`.html.replaceAll("{", "&#123;");
