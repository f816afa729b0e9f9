import { ActionIcon } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { type ReactNode, useEffect } from "react";

interface SidePanelProps {
  /** Names the panel for a screen reader. */
  label: string;
  title: ReactNode;
  onClose(): void;
  children: ReactNode;
}

/** Beside a table, which stays usable: the arrow keys go from row to row. Escape closes it. */
export function SidePanel({ label, title, onClose, children }: SidePanelProps) {
  useEffect(() => {
    const closeOnEscape = ({ key, defaultPrevented }: KeyboardEvent) => {
      if (key === "Escape" && !defaultPrevented) onClose();
    };
    addEventListener("keydown", closeOnEscape);
    return () => removeEventListener("keydown", closeOnEscape);
  }, [onClose]);
  return (
    <aside className="drawer" aria-label={label}>
      <header>
        <div className="drawer-title">{title}</div>
        <ActionIcon variant="subtle" color="gray" aria-label="Close" onClick={onClose}>
          <IconX size={18} />
        </ActionIcon>
      </header>
      {children}
    </aside>
  );
}
