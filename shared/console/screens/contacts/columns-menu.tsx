import { Button, Checkbox, Popover } from "@mantine/core";
import { IconColumns3 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { isOwnField, maxColumns, type useColumnChoice } from "./contact-columns.tsx";

interface ColumnsMenuProps {
  /** All that can be chosen. */
  columns: readonly { id: string; label: string }[];
  choice: ReturnType<typeof useColumnChoice>;
  /** Stands below the columns. */
  note: string;
}

/** Chooses the columns of the contact table. */
export function ColumnsMenu({ columns, choice, note }: ColumnsMenuProps) {
  const { chosen, choose, isDefault, reset } = choice;
  const own = columns.filter(({ id }) => isOwnField(id));
  const common = columns.filter(({ id }) => !isOwnField(id));
  const isFull = chosen.length >= maxColumns;
  const box = ({ id, label }: (typeof columns)[number]) => (
    <Checkbox
      key={id}
      value={id}
      label={label}
      size="xs"
      disabled={isFull && !chosen.includes(id)}
    />
  );
  return (
    <Popover position="bottom-end" width={260} trapFocus withRoles>
      <Popover.Target>
        <Button variant="default" leftSection={<IconColumns3 size={16} aria-hidden />}>
          {t("Columns")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t("Columns")}>
        <Checkbox.Group
          aria-label={t("Columns of the table")}
          value={[...chosen]}
          onChange={choose}
        >
          <div className="columns-menu">
            {common.map(box)}
            <p className="menu-title">{t("Your own fields")}</p>
            {own.map(box)}
            {own.length === 0 && (
              <p className="quiet">
                {tNodes("There are none yet. <link>Create a field</link>", {
                  link: (text) => (
                    <Link to="/groups/{-$kind}" params={{ kind: "fields" }}>
                      {text}
                    </Link>
                  ),
                })}
              </p>
            )}
          </div>
        </Checkbox.Group>
        {isFull && (
          <p className="quiet">{t("A table has up to {maxColumns} columns.", { maxColumns })}</p>
        )}
        <p className="quiet columns-note">{note}</p>
        {!isDefault && (
          <Button variant="subtle" size="xs" onClick={reset}>
            {t("Usual columns")}
          </Button>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
