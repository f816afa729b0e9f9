import { TextInput } from "@mantine/core";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { t } from "../../language/translate.ts";
import { FormDialog } from "../../parts/form.tsx";
import { useTextField } from "../../parts/text-field.ts";

interface AddSuppressionProps {
  opened: boolean;
  onClose(): void;
}

export function AddSuppression({ opened, onClose }: AddSuppressionProps) {
  const email = useTextField();
  const detail = useTextField();
  const adding = useChange({
    run: () =>
      api.suppressions.create({
        email: email.value,
        ...(detail.value && { detail: detail.value }),
      }),
    refreshes: ["suppressions", "contacts"],
    onDone: () => close(),
  });
  const close = () => {
    email.set("");
    detail.set("");
    adding.reset();
    onClose();
  };
  return (
    <FormDialog
      title={t("Add address")}
      action={t("Suppress address")}
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
      <TextInput
        label={t("Note (optional)")}
        maxLength={500}
        data-field="detail"
        {...detail.input}
      />
      <p className="quiet">
        {t(
          "No email goes to the address any more, from any site, not even " +
            "transactional email.",
        )}
      </p>
    </FormDialog>
  );
}
