import { Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { t } from "../../language/translate.ts";
import { FormDialog } from "../../parts/form.tsx";
import { useTextField } from "../../parts/text-field.ts";

interface AddContactProps {
  siteId: number;
  opened: boolean;
  onClose(): void;
}

export function AddContact({ siteId, opened, onClose }: AddContactProps) {
  const email = useTextField();
  const firstName = useTextField();
  const lastName = useTextField();
  const [mustConfirm, setMustConfirm] = useState(false);
  const close = () => {
    setMustConfirm(false);
    for (const field of [email, firstName, lastName]) field.set("");
    adding.reset();
    onClose();
  };
  const adding = useChange({
    run: () =>
      api.contacts.create({
        siteId,
        email: email.value,
        ...(firstName.value && { firstName: firstName.value }),
        ...(lastName.value && { lastName: lastName.value }),
        ...(mustConfirm && { status: "pending" as const, sendConfirmation: true }),
      }),
    refreshes: ["contacts"],
    onDone: () => close(),
  });
  return (
    <FormDialog
      title={t("Add contact")}
      action={t("Add contact")}
      submission={adding}
      opened={opened}
      onClose={close}
    >
      <TextInput
        label={t("Email")}
        type="email"
        required
        data-autofocus
        data-field="email"
        {...email.input}
      />
      <TextInput label={t("First name (optional)")} data-field="firstName" {...firstName.input} />
      <TextInput label={t("Last name (optional)")} data-field="lastName" {...lastName.input} />
      <Switch
        label={t("Ask by email to confirm")}
        description={t("The contact gets no other marketing email before it has confirmed.")}
        checked={mustConfirm}
        onChange={(event) => setMustConfirm(event.currentTarget.checked)}
      />
      <p className="quiet">{t("Add only people who agreed to get your email.")}</p>
    </FormDialog>
  );
}
