import { ActionIcon } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { t } from "../language/translate.ts";
import { useShortcuts } from "./shortcuts.ts";

interface SidePanelProps {
  /** Names the panel for a screen reader. */
  label: string;
  title: ReactNode;
  onClose(): void;
  children: ReactNode;
}

/** Beside a table, which stays usable: the arrow keys go from row to row. Escape closes it. */
export function SidePanel({ label, title, onClose, children }: SidePanelProps) {
  useShortcuts([{ keys: ["Escape"], label: t("Close the panel"), run: onClose, inFields: true }]);
  return (
    <aside className="drawer" aria-label={label}>
      <header>
        <div className="drawer-title">{title}</div>
        <ActionIcon variant="subtle" color="gray" aria-label={t("Close")} onClick={onClose}>
          <IconX size={18} />
        </ActionIcon>
      </header>
      {children}
    </aside>
  );
}
