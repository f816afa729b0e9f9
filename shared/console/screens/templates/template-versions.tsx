import { Button, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Template, TemplateVersion } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";

interface TemplateVersionsProps {
  template: Template;
  isChanged: boolean;
  onRestored(template: Template): void;
}

export function TemplateVersions({ template, isChanged, onRestored }: TemplateVersionsProps) {
  const { timezone } = useMe().organization;
  const mayWrite = useRight("content:write");
  const { data, error } = useQuery(queries.templateVersions(template.id));
  const [chosen, setChosen] = useState<TemplateVersion>();
  const restoring = useChange({
    run: ({ version }: TemplateVersion) => api.templates.restore(template.id, { version }),
    refreshes: ["templates"],
    onDone: (restored) => {
      setChosen(undefined);
      onRestored(restored);
    },
  });
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={160} />;
  const columns: PlainColumn<TemplateVersion>[] = [
    {
      label: t("Version"),
      render: ({ version, subject, current }) => (
        <>
          {version} {current && <span className="tag">{t("Current")}</span>}
          <small>{subject}</small>
        </>
      ),
    },
    { label: t("Saved"), isWide: true, render: ({ savedAt }) => formatTime(savedAt, timezone) },
    {
      label: t("Restore"),
      isAction: true,
      render: (version) =>
        mayWrite &&
        !version.current && (
          <Button variant="default" size="xs" onClick={() => setChosen(version)}>
            {t("Restore version {version}", { version: version.version })}
          </Button>
        ),
    },
  ];
  return (
    <>
      <PlainTable
        label={t("Versions")}
        columns={columns}
        rows={data.versions}
        keyOf={({ version }) => version}
      />
      <ConfirmDialog
        title={template.name}
        action={t("Restore version {version}", { version: chosen?.version })}
        target={chosen}
        change={restoring}
        onClose={() => setChosen(undefined)}
      >
        {t("Its content becomes a new version. The current one stays in this list.")}{" "}
        {isChanged && t("Changes that are not saved yet are lost.")}
      </ConfirmDialog>
    </>
  );
}
