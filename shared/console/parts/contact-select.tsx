import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { Contact } from "pennymail";
import { useState } from "react";
import { queries } from "../data/queries.ts";
import { t } from "../language/translate.ts";
import { ErrorNote } from "./error-note.tsx";

interface ContactSelectProps {
  siteId: number;
  label: string;
  /** Whether the label is for screen readers only. */
  isLabelHidden?: boolean;
  value: Contact | undefined;
  onChange(contact: Contact | undefined): void;
  /** Whether there can be no contact. */
  isClearable?: boolean;
  /** What is listed before the user has typed something. */
  suggestions?: readonly Contact[];
}

/** Chooses any contact of a site. The service searches by address and name. */
export function ContactSelect(props: ContactSelectProps) {
  const { siteId, label, isLabelHidden, value, onChange, isClearable, suggestions = [] } = props;
  const [text, setText] = useState("");
  const [search] = useDebouncedValue(text.trim(), 300);
  // The field shows the chosen address, which is no search.
  const isSearching = search.length > 1 && search !== value?.email;
  const found = useQuery({ ...queries.foundContacts(siteId, search), enabled: isSearching });
  const listed = isSearching ? (found.data?.contacts ?? []) : suggestions;
  const known = value && !listed.some(({ id }) => id === value.id) ? [value, ...listed] : listed;
  return (
    <>
      <Select
        {...(isLabelHidden ? { "aria-label": label } : { label })}
        placeholder={t("Search email or name")}
        searchable
        allowDeselect={isClearable ?? false}
        {...(isClearable && { clearable: true, clearButtonProps: { "aria-label": t("Clear") } })}
        // The service has searched.
        filter={({ options }) => options}
        data={known.map(({ id, email }) => ({ value: String(id), label: email }))}
        nothingFoundMessage={isSearching && !found.isFetching ? t("Nobody found") : undefined}
        value={value ? String(value.id) : null}
        onChange={(id) => onChange(known.find((contact) => String(contact.id) === id))}
        searchValue={text}
        onSearchChange={setText}
      />
      <ErrorNote error={found.error} />
    </>
  );
}
