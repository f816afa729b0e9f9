import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../language/translate.ts";
import { ErrorNote } from "./error-note.tsx";
import { PageHead } from "./page-head.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { useUnsavedChanges } from "./unsaved-changes.ts";
import type { VersionedSaving } from "./versioned-saving.ts";

/** All pages keep a draft that saves itself, because leaving the page saves it. */
const everywhere = "";

interface VersionedPageProps {
  title: string;
  /** Below the title: the way to the list, and the version. */
  note: ReactNode;
  /** "Save template" */
  action: string;
  saving: VersionedSaving;
  mayWrite: boolean;
  /** Beside the button that saves. */
  menu: ReactNode;
  onReload(): unknown;
  children: ReactNode;
}

/** The page of a record with versions: how its draft is saved, and what a conflict asks. */
export function VersionedPage(props: VersionedPageProps) {
  const { title, note, action, saving, mayWrite, menu, onReload, children } = props;
  const save = () => mayWrite && saving.save();
  useShortcuts([{ keys: ["mod+S"], label: action, run: save, inFields: true }]);
  useUnsavedChanges(saving.isChanged, saving.savesItself ? everywhere : undefined);
  return (
    <div className="page">
      <PageHead
        title={title}
        note={
          <>
            {note} <span role="status">{saving.isSaved && t("Saved")}</span>
          </>
        }
      >
        {mayWrite && (
          <Button disabled={!saving.isChanged} loading={saving.isPending} onClick={save}>
            {action}
          </Button>
        )}
        {mayWrite && menu}
      </PageHead>
      <ErrorNote error={saving.error} />
      {saving.isConflict && <ConflictNote saving={saving} onReload={onReload} />}
      {children}
    </div>
  );
}

interface ConflictNoteProps {
  saving: VersionedSaving;
  onReload(): unknown;
}

function ConflictNote({ saving, onReload }: ConflictNoteProps) {
  return (
    <div className="error-note" role="alert">
      <p>
        {t(
          "Somebody else has saved this since you opened it, so your changes are " +
            "not saved yet. The version that you replace stays in the list of " +
            "versions.",
        )}
      </p>
      <div className="buttons">
        <Button variant="default" size="xs" onClick={onReload}>
          {t("Show theirs and lose mine")}
        </Button>
        <Button
          variant="default"
          size="xs"
          loading={saving.isPending}
          onClick={() => saving.overwrite()}
        >
          {t("Save mine over theirs")}
        </Button>
      </div>
    </div>
  );
}
