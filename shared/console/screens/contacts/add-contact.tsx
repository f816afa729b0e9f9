import { TextInput } from "@mantine/core";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
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
  const close = () => {
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
      }),
    refreshes: ["contacts"],
    onDone: () => close(),
  });
  return (
    <FormDialog
      title="Add contact"
      action="Add contact"
      submission={adding}
      opened={opened}
      onClose={close}
    >
      <TextInput label="Email" type="email" required data-autofocus {...email.input} />
      <TextInput label="First name (optional)" {...firstName.input} />
      <TextInput label="Last name (optional)" {...lastName.input} />
      <p className="quiet">Add only people who agreed to get your email.</p>
    </FormDialog>
  );
}
