import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { Link, useParams } from "@tanstack/react-router";
import { type ComponentType, useState } from "react";
import { useRight, useSite } from "../../data/session.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { Fields } from "./fields.tsx";
import { Lists } from "./lists.tsx";
import { Tags } from "./tags.tsx";
import { Topics } from "./topics.tsx";

/** What each view of the screen gets. */
export interface GroupViewProps {
  siteId: number;
  mayWrite: boolean;
  /** Whether the dialog for a new one is open. */
  isCreating: boolean;
  onDialogClose(): void;
}

interface GroupView {
  label: string;
  note: string;
  action: string;
  View: ComponentType<GroupViewProps>;
}

/** The views, by the last part of the address. */
const views: Record<string, GroupView> = {
  lists: {
    label: "Lists",
    note: "Sets of contacts that you put together yourself",
    action: "New list",
    View: Lists,
  },
  tags: {
    label: "Tags",
    note: "Marks on contacts, given by you, your forms and your sequences",
    action: "New tag",
    View: Tags,
  },
  topics: {
    label: "Topics",
    note: "Kinds of email that contacts can leave and join by themselves",
    action: "New topic",
    View: Topics,
  },
  fields: {
    label: "Fields",
    note: "What you know of a contact: names, plans, sizes and whatever else you need",
    action: "New field",
    View: Fields,
  },
};

export function Groups() {
  const { kind = "lists" } = useParams({ strict: false });
  const { site } = useSite();
  const mayWrite = useRight("audience:write");
  const [isCreating, setCreating] = useState(false);
  const { label, note, action, View } = views[kind] ?? views.lists!;
  const create = () => site && mayWrite && setCreating(true);
  useShortcuts([{ keys: ["c"], label: action, run: create }]);
  return (
    <div className="page list-page">
      <PageHead title="Lists and tags" note={note}>
        {mayWrite && site && (
          <Button leftSection={<IconPlus size={16} />} onClick={create}>
            {action}
          </Button>
        )}
      </PageHead>
      <nav className="tabs" aria-label="Lists and tags">
        {Object.entries(views).map(([key, view]) => (
          <Link
            key={key}
            to="/groups/{-$kind}"
            params={{ kind: key }}
            aria-current={view.label === label ? "page" : undefined}
          >
            {view.label}
          </Link>
        ))}
      </nav>
      {site && (
        <View
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
