// The screens of the navigation, and which of them the user may open.
import {
  IconAddressBook,
  IconApi,
  IconCalendarHeart,
  IconFilter,
  IconFlame,
  IconForms,
  IconHistory,
  IconHome,
  IconListSearch,
  IconMailOff,
  IconReportAnalytics,
  IconRoute,
  IconSend,
  IconSettings,
  IconTags,
  IconTemplate,
  IconWebhook,
} from "@tabler/icons-react";
import type { LinkProps } from "@tanstack/react-router";
import { useRights } from "../data/session.ts";

export interface NavigationItem {
  label: string;
  to: NonNullable<LinkProps["to"]>;
  icon: typeof IconHome;
  /** After `g`, it opens the screen. */
  letter: string;
  /** The right that the screen needs; undefined if every member may open it. */
  right?: string;
}

const navigation: { name?: string; items: NavigationItem[] }[] = [
  { items: [{ label: "Home", to: "/", icon: IconHome, letter: "h" }] },
  {
    name: "Audience",
    items: [
      { label: "Contacts", to: "/contacts", icon: IconAddressBook, letter: "c" },
      { label: "Lists and tags", to: "/groups/{-$kind}", icon: IconTags, letter: "l" },
      { label: "Segments", to: "/segments", icon: IconFilter, letter: "s" },
      { label: "Forms", to: "/forms", icon: IconForms, letter: "f" },
      { label: "Lead scoring", to: "/scoring", icon: IconFlame, letter: "d" },
      { label: "Suppressions", to: "/suppressions", icon: IconMailOff, letter: "x" },
    ],
  },
  {
    name: "Send",
    items: [
      { label: "Campaigns", to: "/campaigns", icon: IconSend, letter: "m" },
      { label: "Sequences", to: "/sequences", icon: IconRoute, letter: "q" },
      { label: "Holiday emails", to: "/holidays", icon: IconCalendarHeart, letter: "y" },
      { label: "Templates", to: "/templates", icon: IconTemplate, letter: "t" },
    ],
  },
  {
    name: "Operate",
    items: [
      { label: "Log", to: "/log", icon: IconListSearch, letter: "o" },
      {
        label: "Reports",
        to: "/reports/{-$report}",
        icon: IconReportAnalytics,
        letter: "p",
        right: "statistics:read",
      },
      {
        label: "Webhooks",
        to: "/webhooks",
        icon: IconWebhook,
        letter: "w",
        right: "credentials:read",
      },
      {
        label: "Request log",
        to: "/request-log",
        icon: IconApi,
        letter: "r",
        right: "credentials:read",
      },
      { label: "Audit log", to: "/audit-log", icon: IconHistory, letter: "a", right: "audit:read" },
      { label: "Settings", to: "/settings/{-$section}", icon: IconSettings, letter: "e" },
    ],
  },
];
/** The screens that the user may open. */
export function useNavigation() {
  const has = useRights();
  return navigation.map(({ name, items }) => ({
    name,
    items: items.filter(({ right }) => !right || has(right)),
  }));
}
