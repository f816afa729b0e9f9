import { Modal, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { Fragment, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { t } from "../language/translate.ts";
import { type PaletteEntry, usePaletteEntries } from "./palette-entries.ts";

/** Goes to a screen, a setting or a record, or starts an act. Mounted while it is open. */
export function SearchPalette({ onClose }: { onClose(): void }) {
  const [opener] = useState(() => document.activeElement);
  const [text, setText] = useState("");
  // One search when the typing pauses.
  const typed = text.trim();
  const [settled] = useDebouncedValue(typed, 250);
  const { entries, isLoading } = usePaletteEntries(typed, settled);
  const [active, setActive] = useState(0);
  useEffect(() => setActive(0), [typed]);
  const listId = useId();
  const optionId = (index: number) => `${listId}-${index}`;
  const shown = Math.min(active, entries.length - 1);
  const dismiss = () => {
    onClose();
    if (opener instanceof HTMLElement) opener.focus();
  };
  const choose = (entry: PaletteEntry) => {
    onClose();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const entry = entries[shown];
    if (step !== undefined) {
      event.preventDefault();
      setActive((shown + step + entries.length) % entries.length);
    } else if (event.key === "Enter" && entry) choose(entry);
  };
  return (
    <Modal
      opened
      onClose={dismiss}
      title={t("Search")}
      lockScroll={false}
      size="lg"
      yOffset="10dvh"
      className="palette"
    >
      <TextInput
        aria-label={t("Screen, setting, name or email address")}
        placeholder={t("Screen, setting, name or email address")}
        leftSection={<IconSearch size={16} aria-hidden />}
        role="combobox"
        aria-expanded={entries.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={entries.length > 0 ? optionId(shown) : undefined}
        value={text}
        maxLength={200}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        data-autofocus
      />
      <div role="listbox" id={listId} aria-label={t("Results")} className="palette-results">
        {[...Map.groupBy(entries, ({ group }) => group)].map(([group, ofGroup]) => (
          <Fragment key={group}>
            <p className="group-name" aria-hidden>
              {group}
            </p>
            {ofGroup.map((entry) => {
              const index = entries.indexOf(entry);
              return (
                <Option
                  key={entry.id}
                  id={optionId(index)}
                  entry={entry}
                  isActive={index === shown}
                  onChoose={choose}
                />
              );
            })}
          </Fragment>
        ))}
      </div>
      <p className="quiet palette-state" role="status">
        {stateText(entries.length, isLoading || settled !== typed)}
      </p>
    </Modal>
  );
}

function stateText(count: number, isLoading: boolean): string {
  if (isLoading) return t("Searching");
  if (count === 0) return t("Nothing has this name here. Try fewer letters.");
  return t("{count, plural, one {# result} other {# results}}", { count });
}

interface OptionProps {
  id: string;
  entry: PaletteEntry;
  isActive: boolean;
  onChoose(entry: PaletteEntry): void;
}

function Option({ id, entry, isActive, onChoose }: OptionProps) {
  const { label, icon: Icon } = entry;
  const element = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isActive) element.current?.scrollIntoView({ block: "nearest" });
  }, [isActive]);
  return (
    <button
      type="button"
      ref={element}
      id={id}
      role="option"
      aria-selected={isActive}
      tabIndex={-1}
      className="palette-option"
      onClick={() => onChoose(entry)}
    >
      <Icon size={16} stroke={1.6} aria-hidden />
      <span>{label}</span>
    </button>
  );
}
