import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { ImportFile } from "../../data/imports.ts";
import { useRight, useSite } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { ChooseFile } from "./choose-file.tsx";
import { ImportProgress } from "./import-progress.tsx";
import { ImportWizard } from "./import-wizard.tsx";
import { PastImports } from "./past-imports.tsx";

/** The open import is part of the address, so it is found again after the page was left. */
export function Imports() {
  const { id } = useSearch({ from: "/shell/contacts/import" });
  const navigate = useNavigate({ from: "/contacts/import" });
  const { site } = useSite();
  const mayWrite = useRight("audience:write");
  const [file, setFile] = useState<ImportFile>();
  const showImport = (importId: number) => {
    setFile(undefined);
    return navigate({ search: { id: importId } });
  };
  return (
    <div className="page">
      <PageHead
        title={t("Import contacts")}
        note={
          <>
            <Link to="/contacts">{t("Contacts")}</Link> ·{" "}
            {id === undefined ? (
              t("From a file or a spreadsheet")
            ) : (
              <Link to="/contacts/import">{t("All imports")}</Link>
            )}
          </>
        }
      />
      {id !== undefined && <ImportProgress key={id} id={id} />}
      {id === undefined && site && file && (
        <ImportWizard
          key={file.id}
          siteId={site.id}
          file={file}
          onStarted={showImport}
          onCancel={() => setFile(undefined)}
        />
      )}
      {id === undefined && site && !file && (
        <div className="stack">
          {mayWrite && <ChooseFile onChoose={setFile} />}
          <PastImports siteId={site.id} />
        </div>
      )}
    </div>
  );
}
