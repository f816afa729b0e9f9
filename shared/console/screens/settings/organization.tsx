import { NumberInput, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useMe, useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { FormCard } from "../../parts/form.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { useUnsavedDraft } from "../../parts/unsaved-changes.ts";

const timezones = Intl.supportedValuesOf("timeZone");

export function OrganizationSettings() {
  const { organization } = useMe();
  const mayWrite = useRight("organization:write");
  const name = useTextField(organization.name);
  const [timezone, setTimezone] = useState(organization.timezone);
  const [idleMinutes, setIdleMinutes] = useState<number | "">(
    organization.sessionIdleMinutes ?? "",
  );
  const saving = useChange({
    run: () =>
      api.organization.update({
        name: name.value,
        timezone,
        sessionIdleMinutes: idleMinutes === "" ? null : idleMinutes,
      }),
    refreshes: ["account"],
  });
  useUnsavedDraft([name.value, timezone, idleMinutes], saving);
  return (
    <FormCard
      title={t("Organization")}
      state={saving.isSuccess ? t("Saved") : ""}
      action={t("Save organization")}
      submission={saving}
      isDisabled={!mayWrite}
    >
      <TextInput className="narrow" label={t("Name")} required data-field="name" {...name.input} />
      <Select
        className="narrow"
        label={t("Time zone")}
        description={t("Reports, days and scheduled campaigns use it.")}
        searchable
        allowDeselect={false}
        data={timezones.includes(timezone) ? timezones : [timezone, ...timezones]}
        value={timezone}
        onChange={(value) => setTimezone(value ?? timezone)}
      />
      <NumberInput
        className="narrow"
        label={t("Sign out after minutes without use (optional)")}
        description={t("Without it, a session lasts until it is ended.")}
        min={5}
        max={10_080}
        allowDecimal={false}
        value={idleMinutes}
        onChange={(value) => setIdleMinutes(value === "" ? "" : Number(value))}
      />
    </FormCard>
  );
}
