import { Link } from "@tanstack/react-router";
import type { Snippet } from "pennymail";
import type { ReactNode } from "react";
import { useRight } from "../../../data/session.ts";
import { t } from "../../../language/translate.ts";
import { tNodes } from "../../../language/translate-nodes.ts";
import type { RowAction } from "../../../parts/row-menu.tsx";
import { VersionedPage } from "../../../parts/versioned-page.tsx";
import type { VersionedSaving } from "../../../parts/versioned-saving.ts";
import { SnippetMenu } from "./snippet-menu.tsx";

interface SnippetPageProps {
  snippet: Snippet;
  saving: VersionedSaving;
  /** Further entries of the menu. */
  actions?: readonly RowAction[];
  onReload(): unknown;
  children: ReactNode;
}

/** What surrounds the visual and the code editor of a snippet. */
export function SnippetPage(props: SnippetPageProps) {
  const { snippet, saving, actions, onReload, children } = props;
  return (
    <VersionedPage
      title={snippet.name}
      note={tNodes("<link>Snippets</link> · Version {version}", {
        link: (text) => <Link to="/snippets">{text}</Link>,
        version: snippet.version,
      })}
      action={t("Save snippet")}
      saving={saving}
      mayWrite={useRight("content:write")}
      menu={<SnippetMenu snippet={snippet} saving={saving} actions={actions} />}
      onReload={onReload}
    >
      {children}
    </VersionedPage>
  );
}
