import { MultiSelect, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Site } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { fieldQueries } from "../../data/field-queries.ts";
import { t } from "../../language/translate.ts";
import { FormDialog } from "../../parts/form.tsx";

const standardFields = [
  { value: "firstName", label: t("First name") },
  { value: "lastName", label: t("Last name") },
  { value: "phone", label: t("Phone") },
  { value: "company", label: t("Company") },
];

interface PreferencePageProps {
  site: Site;
  onClose(): void;
}

/** What contacts of the site can do on the page behind the links of an email. */
export function PreferencePageDialog({ site, onClose }: PreferencePageProps) {
  const [page, setPage] = useState(site.preferencePage);
  const known = useQuery(fieldQueries.list(site.id)).data?.fields ?? [];
  const saving = useChange({
    run: () => api.sites.update(site.id, { preferencePage: page }),
    refreshes: ["sites"],
    onDone: onClose,
  });
  const declared = known
    .filter(({ declared: isDeclared, type }) => isDeclared && type !== "datetime")
    .map(({ key, label }) => ({ value: key, label }));
  const offered = [...standardFields, ...declared];
  const others = page.fields
    .filter((key) => !offered.some(({ value }) => value === key))
    .map((key) => ({ value: key, label: key }));
  return (
    <FormDialog
      title={t("Preference page of {name}", { name: site.name })}
      action={t("Save page")}
      submission={saving}
      opened
      onClose={onClose}
    >
      <p className="quiet">
        {t(
          "Contacts open the page from the footer of your emails, to choose " +
            "topics or to leave.",
        )}
      </p>
      <MultiSelect
        label={t("Fields that contacts can change")}
        description={t("Everybody who has the email can see them, also after it was forwarded.")}
        data={[...offered, ...others]}
        maxValues={10}
        value={page.fields}
        onChange={(fields) => setPage({ ...page, fields })}
      />
      <Switch
        label={t("Offer a pause")}
        description={t(
          "For 30, 60 or 90 days a contact gets no marketing email, and stays subscribed.",
        )}
        checked={page.snooze}
        onChange={(event) => setPage({ ...page, snooze: event.currentTarget.checked })}
      />
      <Switch
        label={t("Ask why")}
        description={t("Contacts who have unsubscribed can say why. Reports count the answers.")}
        checked={page.leaveReason}
        onChange={(event) => setPage({ ...page, leaveReason: event.currentTarget.checked })}
      />
    </FormDialog>
  );
}
