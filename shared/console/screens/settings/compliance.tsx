import { Skeleton, Switch, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Branding, Compliance } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormCard } from "../../parts/form.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { useUnsavedDraft } from "../../parts/unsaved-changes.ts";

/** What the law wants in marketing email, and the footer of the service. */
export function ComplianceSettings() {
  const compliance = useQuery(queries.compliance());
  const branding = useQuery(queries.branding());
  return (
    <>
      <ErrorNote error={compliance.error ?? branding.error} />
      {compliance.data ? <ComplianceForm compliance={compliance.data} /> : <Skeleton h={240} />}
      {branding.data && <BrandingCard branding={branding.data} />}
    </>
  );
}

function ComplianceForm({ compliance }: { compliance: Compliance }) {
  const mayWrite = useRight("organization:write");
  const address = useTextField(compliance.physicalAddress ?? "");
  const unsubscribeUrl = useTextField(compliance.unsubscribeUrl ?? "");
  const [enabled, setEnabled] = useState(compliance.enabled);
  const saving = useChange({
    run: () =>
      api.compliance.updateSettings({
        physicalAddress: address.value || null,
        unsubscribeUrl: unsubscribeUrl.value || null,
        enabled,
      }),
    refreshes: ["compliance", "organization"],
  });
  useUnsavedDraft([address.value, unsubscribeUrl.value, enabled], saving);
  return (
    <FormCard
      title={t("Marketing email")}
      state={saving.isSuccess ? t("Saved") : ""}
      action={t("Save")}
      submission={saving}
      isDisabled={!mayWrite}
    >
      <Textarea
        className="narrow"
        label={t("Postal address")}
        description={t("The law requires one in marketing email. A post office box is fine.")}
        autosize
        minRows={2}
        data-field="physicalAddress"
        {...address.input}
      />
      <TextInput
        className="narrow"
        label={t("Own page for unsubscribing (optional)")}
        description={t("Without it, the footer links to the page of this service.")}
        type="url"
        placeholder="https://shop.example/unsubscribe"
        data-field="unsubscribeUrl"
        {...unsubscribeUrl.input}
      />
      <Switch
        label={t("Refuse marketing email without a postal address")}
        checked={enabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
      />
    </FormCard>
  );
}

function BrandingCard({ branding }: { branding: Branding }) {
  const mayWrite = useRight("organization:write");
  const { enabled, discountPercent, footer } = branding;
  const saving = useChange({
    run: (on: boolean) => api.organization.updateBranding({ enabled: on }),
    refreshes: ["branding"],
  });
  return (
    <Card title={t("Footer of the service")}>
      <ErrorNote error={saving.error} />
      <Switch
        label={t("Add “{text}” to every email, for {discountPercent} % off", {
          text: footer.text.trim(),
          discountPercent,
        })}
        disabled={!mayWrite || saving.isPending}
        checked={enabled}
        onChange={(event) => saving.mutate(event.currentTarget.checked)}
      />
    </Card>
  );
}
