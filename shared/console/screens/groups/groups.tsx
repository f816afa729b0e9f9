import { Link, useParams } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { ListPage, type ListProps } from "../../parts/list-page.tsx";
import { Fields } from "./fields.tsx";
import { Lists } from "./lists.tsx";
import { Tags } from "./tags.tsx";
import { Topics } from "./topics.tsx";

interface GroupView {
  label: string;
  note: string;
  action: string;
  View: ComponentType<ListProps>;
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
  const { label, note, action, View } = views[kind] ?? views.lists!;
  return (
    <ListPage title="Lists and tags" note={note} action={action} right="audience:write" List={View}>
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
    </ListPage>
  );
}
