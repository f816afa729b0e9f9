// What the search finds: acts, screens, pages of the settings, records by name, and contacts.

import {
  IconAddressBook,
  IconFilter,
  IconForms,
  IconListSearch,
  IconPlus,
  IconPuzzle,
  IconRoute,
  IconSend,
  IconSettings,
  IconTags,
  IconTemplate,
} from "@tabler/icons-react";
import { useQueries, useQuery } from "@tanstack/react-query";
import { type NavigateOptions, useNavigate } from "@tanstack/react-router";
import { type NamedGroup, namedGroups, queries } from "../data/queries.ts";
import { useRights, useSite } from "../data/session.ts";
import { t } from "../language/translate.ts";
import { looksComplete } from "../parts/address.ts";
import { runOnPage } from "../parts/shortcuts.ts";
import { useSections } from "../screens/settings/sections.ts";
import { useNavigation } from "./navigation.ts";

export interface PaletteEntry {
  id: string;
  /** The heading that it stands below. */
  group: string;
  label: string;
  icon: typeof IconPlus;
  /** Further words that find it. */
  words?: string;
  run(): void;
}

interface Act {
  label: string;
  right: string;
  to: NavigateOptions;
  /** The shortcut of the screen that starts the act. */
  key?: string;
}

const acts: Act[] = [
  { label: t("New campaign"), right: "marketing:write", to: { to: "/campaigns" }, key: "c" },
  { label: t("New sequence"), right: "marketing:write", to: { to: "/sequences" }, key: "c" },
  { label: t("New template"), right: "content:write", to: { to: "/templates" }, key: "c" },
  { label: t("New snippet"), right: "content:write", to: { to: "/snippets" }, key: "c" },
  { label: t("New segment"), right: "audience:write", to: { to: "/segments/new" } },
  { label: t("New form"), right: "audience:write", to: { to: "/forms" }, key: "c" },
  {
    label: t("New list"),
    right: "audience:write",
    to: { to: "/groups/{-$kind}", params: { kind: "lists" } },
    key: "c",
  },
  {
    label: t("New contact field"),
    right: "audience:write",
    to: { to: "/groups/{-$kind}", params: { kind: "fields" } },
    key: "c",
  },
  { label: t("Add a contact"), right: "audience:write", to: { to: "/contacts" }, key: "c" },
  { label: t("Import contacts"), right: "audience:write", to: { to: "/contacts/import" } },
  {
    label: t("Suppress an address"),
    right: "audience:write",
    to: { to: "/suppressions" },
    key: "c",
  },
  {
    label: t("Invite somebody"),
    right: "team:write",
    to: { to: "/settings/{-$section}", params: { section: "members" } },
  },
  {
    label: t("Create an API key"),
    right: "credentials:write",
    to: { to: "/settings/{-$section}", params: { section: "keys" } },
  },
  {
    label: t("Add a sender"),
    right: "credentials:write",
    to: { to: "/settings/{-$section}", params: { section: "senders" } },
  },
];

interface Kind {
  group: string;
  icon: typeof IconPlus;
  right: string;
  to(id: number): NavigateOptions;
}

const kinds: Partial<Record<NamedGroup, Kind>> = {
  campaigns: {
    group: t("Campaigns"),
    icon: IconSend,
    right: "marketing:read",
    to: (id) => ({ to: "/campaigns/$id", params: { id } }),
  },
  sequences: {
    group: t("Sequences"),
    icon: IconRoute,
    right: "marketing:read",
    to: (id) => ({ to: "/sequences/$id/{-$part}", params: { id } }),
  },
  templates: {
    group: t("Templates"),
    icon: IconTemplate,
    right: "content:read",
    to: (id) => ({ to: "/templates/$id", params: { id } }),
  },
  snippets: {
    group: t("Snippets"),
    icon: IconPuzzle,
    right: "content:read",
    to: (id) => ({ to: "/snippets/$id", params: { id } }),
  },
  segments: {
    group: t("Segments"),
    icon: IconFilter,
    right: "audience:read",
    to: (id) => ({ to: "/segments/$id", params: { id } }),
  },
  lists: {
    group: t("Lists"),
    icon: IconTags,
    right: "audience:read",
    to: (id) => ({ to: "/contacts", search: { list: id } }),
  },
  forms: {
    group: t("Forms"),
    icon: IconForms,
    right: "audience:read",
    to: (id) => ({ to: "/forms/$id", params: { id } }),
  },
};

const maxPerGroup = 6;
/** Before, too much would match. */
const minSearch = 2;
const namesMs = 300_000;

/**
 * The entries that match a text, and whether further ones may come. `settled`: the text at the last
 * pause, for which requests are made.
 */
export function usePaletteEntries(
  text: string,
  settled: string,
): { entries: PaletteEntry[]; isLoading: boolean } {
  const fixed = useFixedEntries().filter(matching(text));
  const records = useRecords(text, settled);
  const contacts = useContacts(text, settled);
  return {
    entries: [...firstOfEach(fixed), ...records.entries, ...contacts.entries],
    isLoading: records.isLoading || contacts.isLoading,
  };
}

/** Every word of the text occurs. */
function matching(text: string) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ label, words: more = "" }: Pick<PaletteEntry, "label" | "words">): boolean => {
    const searched = `${label} ${more}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  };
}

const firstOfEach = (entries: PaletteEntry[]): PaletteEntry[] =>
  [...Map.groupBy(entries, ({ group }) => group).values()].flatMap((ofGroup) =>
    ofGroup.slice(0, ofGroup[0]?.group === t("Go to") ? undefined : maxPerGroup),
  );

function useFixedEntries(): PaletteEntry[] {
  const has = useRights();
  const navigate = useNavigate();
  const { site } = useSite();
  const screens = useNavigation().flatMap(({ items }) => items);
  const sections = useSections();
  return [
    ...acts
      .filter(({ right, key }) => has(right) && (site || !key))
      .map(({ label, to, key }) => ({
        id: label,
        group: t("Do"),
        label,
        icon: IconPlus,
        run: () => {
          if (key) runOnPage(key, pathOf(to));
          navigate(to);
        },
      })),
    ...screens.map(({ label, to, icon }) => ({
      id: `to ${label}`,
      group: t("Go to"),
      label,
      icon,
      run: () => navigate({ to }),
    })),
    {
      ...{ id: "to snippets", group: t("Go to"), label: t("Snippets"), icon: IconPuzzle },
      run: () => navigate({ to: "/snippets" }),
    },
    ...sections.map(([section, { label, words }]) => ({
      id: `settings ${section}`,
      group: t("Settings"),
      label,
      words: `${t("settings")} ${words}`,
      icon: IconSettings,
      run: () => navigate({ to: "/settings/{-$section}", params: { section } }),
    })),
  ];
}

const pathOf = ({ to, params }: NavigateOptions): string =>
  String(to).replace("{-$kind}", (params as { kind?: string } | undefined)?.kind ?? "");

/** Records by name. The names are read once, so further letters cost no request. */
function useRecords(text: string, settled: string) {
  const has = useRights();
  const navigate = useNavigate();
  const siteId = useSite().site?.id;
  const searched = namedGroups.flatMap((name) => {
    const kind = kinds[name];
    return kind && has(kind.right) ? [{ name, kind }] : [];
  });
  const isSearched = settled.length >= minSearch && siteId !== undefined;
  const read = useQueries({
    queries: searched.map(({ name }) => ({
      ...queries.names(name, siteId ?? 0),
      enabled: isSearched,
      staleTime: namesMs,
    })),
  });
  const matches = matching(text);
  const entries = searched.flatMap(({ kind: { group, icon, to } }, i) =>
    (isSearched ? (read[i]?.data ?? []) : [])
      .filter(({ name }) => matches({ label: name }))
      .slice(0, maxPerGroup)
      .map(({ id, name }) => ({
        ...{ id: `${group} ${id}`, group, label: name, icon },
        run: () => void navigate(to(id)),
      })),
  );
  return { entries, isLoading: read.some(({ isLoading }) => isLoading) };
}

/** Contacts by address, and the emails to an address. */
function useContacts(text: string, settled: string) {
  const has = useRights();
  const navigate = useNavigate();
  const siteId = useSite().site?.id;
  const { data, isLoading, isPlaceholderData } = useQuery({
    ...queries.foundContacts(siteId ?? 0, settled),
    enabled: settled.length >= minSearch && siteId !== undefined && has("audience:read"),
  });
  const group = t("Contacts");
  const found = settled === text && !isPlaceholderData ? (data?.contacts ?? []) : [];
  const entries: PaletteEntry[] = found.slice(0, maxPerGroup).map((contact) => {
    const { id, email, firstName, lastName } = contact;
    const name = [firstName, lastName].filter(Boolean).join(" ");
    return {
      ...{ id: `contact ${id}`, group, icon: IconAddressBook },
      label: name ? `${name} · ${email}` : email,
      run: () => navigate({ to: "/contacts", search: { contact: id, search: email } }),
    };
  });
  if (looksComplete(text) && has("sending:read"))
    entries.push({
      ...{
        id: "why",
        group,
        label: t("Emails to {address}", { address: text }),
        icon: IconListSearch,
      },
      run: () => navigate({ to: "/log", search: { email: text } }),
    });
  return { entries, isLoading };
}
