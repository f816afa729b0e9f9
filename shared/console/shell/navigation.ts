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
  IconPhoto,
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
import { t } from "../language/translate.ts";

export interface NavigationItem {
  label: string;
  to: NonNullable<LinkProps["to"]>;
  icon: typeof IconHome;
  /** After `g`, it opens the screen. */
  letter: string;
  /** The right that the screen needs; undefined if every member may open it. */
  right?: string;
  /** Whether tabs of the screen before it lead to it, so the menu leaves it out. */
  isTab?: true;
}

const navigation: { name?: string; items: NavigationItem[] }[] = [
  { items: [{ label: t("Home"), to: "/", icon: IconHome, letter: "h" }] },
  {
    name: t("Audience"),
    items: [
      { label: t("Contacts"), to: "/contacts", icon: IconAddressBook, letter: "c" },
      { label: t("Lists and tags"), to: "/groups/{-$kind}", icon: IconTags, letter: "l" },
      { label: t("Segments"), to: "/segments", icon: IconFilter, letter: "s" },
      { label: t("Forms"), to: "/forms", icon: IconForms, letter: "f" },
      { label: t("Lead scoring"), to: "/scoring", icon: IconFlame, letter: "d" },
      { label: t("Suppressions"), to: "/suppressions", icon: IconMailOff, letter: "x" },
    ],
  },
  {
    name: t("Send"),
    items: [
      { label: t("Campaigns"), to: "/campaigns", icon: IconSend, letter: "m" },
      { label: t("Sequences"), to: "/sequences", icon: IconRoute, letter: "q" },
      {
        label: t("Holiday emails"),
        to: "/sequences/holidays",
        icon: IconCalendarHeart,
        letter: "y",
        isTab: true,
      },
      { label: t("Templates"), to: "/templates", icon: IconTemplate, letter: "t" },
      { label: t("Pictures"), to: "/media", icon: IconPhoto, letter: "i" },
    ],
  },
  {
    name: t("Operate"),
    items: [
      { label: t("Log"), to: "/log", icon: IconListSearch, letter: "o" },
      {
        label: t("Reports"),
        to: "/reports/{-$report}",
        icon: IconReportAnalytics,
        letter: "p",
        right: "statistics:read",
      },
      {
        label: t("Webhooks"),
        to: "/webhooks",
        icon: IconWebhook,
        letter: "w",
        right: "credentials:read",
      },
      {
        label: t("Request log"),
        to: "/log/requests",
        icon: IconApi,
        letter: "r",
        right: "credentials:read",
        isTab: true,
      },
      {
        label: t("Audit log"),
        to: "/log/changes",
        icon: IconHistory,
        letter: "a",
        right: "audit:read",
        isTab: true,
      },
      { label: t("Settings"), to: "/settings/{-$section}", icon: IconSettings, letter: "e" },
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
