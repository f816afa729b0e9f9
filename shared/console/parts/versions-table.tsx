import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useChange } from "../data/changes.ts";
import { useMe } from "../data/session.ts";
import { formatTime } from "../format.ts";
import { t } from "../language/translate.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { type PlainColumn, PlainTable } from "./plain-table.tsx";

interface Version {
  version: number;
  savedAt: string;
}

interface VersionsTableProps<Restored> {
  /** The record's name. */
  name: string;
  versions: readonly Version[];
  current: number;
  /** Below the number of the version. */
  noteOf?(version: number): ReactNode;
  mayWrite: boolean;
  /** Whether there are changes that are not saved. */
  isChanged: boolean;
  restore(version: number): Promise<Restored>;
  refreshes: readonly string[];
  onRestored(restored: Restored): void;
}

/** The versions of a record, of which one can become the newest again. */
export function VersionsTable<Restored>(props: VersionsTableProps<Restored>) {
  const { name, versions, current, noteOf, mayWrite, isChanged } = props;
  const { timezone } = useMe().organization;
  const [chosen, setChosen] = useState<Version>();
  const restoring = useChange({
    run: ({ version }: Version) => props.restore(version),
    refreshes: props.refreshes,
    onDone: (restored) => {
      setChosen(undefined);
      props.onRestored(restored);
    },
  });
  const columns: PlainColumn<Version>[] = [
    {
      label: t("Version"),
      render: ({ version }) => (
        <>
          {version} {version === current && <span className="tag">{t("Current")}</span>}
          {noteOf && <small>{noteOf(version)}</small>}
        </>
      ),
    },
    { label: t("Saved"), isWide: true, render: ({ savedAt }) => formatTime(savedAt, timezone) },
    {
      label: t("Restore"),
      isAction: true,
      render: (version) =>
        mayWrite &&
        version.version !== current && (
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
        rows={versions}
        keyOf={({ version }) => version}
      />
      <ConfirmDialog
        title={name}
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
