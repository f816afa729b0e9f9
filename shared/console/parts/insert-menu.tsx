import { Menu } from "@mantine/core";
import type { ReactNode } from "react";

export interface InsertOption {
  label: string;
  text: string;
}

interface InsertMenuProps {
  /** By the name of the group. */
  options: Record<string, InsertOption[]>;
  onInsert(text: string): void;
  /** The button that opens the menu. */
  children: ReactNode;
}

/** What can be put into a text: fields of the contact and links. */
export function InsertMenu({ options, onInsert, children }: InsertMenuProps) {
  const groups = Object.entries(options).filter(([, ofGroup]) => ofGroup.length);
  return (
    <Menu position="bottom-start" returnFocus={false}>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown className="menu-scroll">
        {groups.map(([group, ofGroup]) => (
          <div key={group}>
            <Menu.Label>{group}</Menu.Label>
            {ofGroup.map(({ label, text }) => (
              <Menu.Item key={label} onClick={() => onInsert(text)}>
                {label}
              </Menu.Item>
            ))}
          </div>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
