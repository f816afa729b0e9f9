import { Link, useParams } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { t } from "../../language/translate.ts";
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
    label: t("Lists"),
    note: t("Sets of contacts that you put together yourself"),
    action: t("New list"),
    View: Lists,
  },
  tags: {
    label: t("Tags"),
    note: t("Marks on contacts, given by you, your forms and your sequences"),
    action: t("New tag"),
    View: Tags,
  },
  topics: {
    label: t("Topics"),
    note: t("Kinds of email that contacts can leave and join by themselves"),
    action: t("New topic"),
    View: Topics,
  },
  fields: {
    label: t("Fields"),
    note: t("What you know of a contact: names, plans, sizes and whatever else you need"),
    action: t("New field"),
    View: Fields,
  },
};

export function Groups() {
  const { kind = "lists" } = useParams({ strict: false });
  const { label, note, action, View } = views[kind] ?? views.lists!;
  return (
    <ListPage
      title={t("Lists and tags")}
      note={note}
      action={action}
      right="audience:write"
      List={View}
    >
      <nav className="tabs" aria-label={t("Lists and tags")}>
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
