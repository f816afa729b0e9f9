import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { type ComponentType, type ReactNode, useState } from "react";
import { useRight, useSite } from "../data/session.ts";
import { PageHead } from "./page-head.tsx";
import { useShortcuts } from "./shortcuts.ts";

/** What the list of a page gets. */
export interface ListProps {
  siteId: number;
  mayWrite: boolean;
  /** Whether the dialog for a new row is open. */
  isCreating: boolean;
  onDialogClose(): void;
}

interface ListPageProps {
  title: string;
  note: string;
  /** The words on the button that opens the dialog for a new row. */
  action: string;
  /** The right to write rows. */
  right: string;
  List: ComponentType<ListProps>;
  /** Between the head and the list. */
  children?: ReactNode;
}

/** A page with a list of the site's records. Its button, or the key C, creates one in a dialog. */
export function ListPage({ title, note, action, right, List, children }: ListPageProps) {
  const { site } = useSite();
  const mayWrite = useRight(right);
  const [isCreating, setCreating] = useState(false);
  const create = () => site && mayWrite && setCreating(true);
  useShortcuts([{ keys: ["c"], label: action, run: create }]);
  return (
    <div className="page list-page">
      <PageHead title={title} note={note}>
        {mayWrite && site && (
          <Button leftSection={<IconPlus size={16} />} onClick={create}>
            {action}
          </Button>
        )}
      </PageHead>
      {children}
      {site && (
        <List
          key={site.id}
          siteId={site.id}
          mayWrite={mayWrite}
          isCreating={isCreating}
          onDialogClose={() => setCreating(false)}
        />
      )}
    </div>
  );
}
