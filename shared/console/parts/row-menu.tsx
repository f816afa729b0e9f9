import { ActionIcon, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { t } from "../language/translate.ts";
import type { Column } from "./row-table.tsx";

export interface RowAction {
  /** A verb: "Rename". */
  label: string;
  isDangerous?: boolean;
  run(): unknown;
}

interface RowMenuProps {
  /** Names the row for a screen reader. */
  name: string;
  actions: readonly RowAction[];
}

/** What can be done with a row of a table, besides opening it. */
export function RowMenu({ name, actions }: RowMenuProps) {
  if (actions.length === 0) return null;
  return (
    <Menu position="bottom-end" width={180}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t("Actions for {name}", { name })}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ label, isDangerous, run }) => (
          <Menu.Item key={label} {...(isDangerous && { color: "red" })} onClick={() => run()}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The last column of a table: a menu for each row. */
export const menuColumn = <Row extends { name: string }>(
  actionsOf: (row: Row) => readonly RowAction[],
): Column<Row> => ({
  label: t("Actions"),
  className: "c-menu num",
  isAction: true,
  render: (row) => <RowMenu name={row.name} actions={actionsOf(row)} />,
});
