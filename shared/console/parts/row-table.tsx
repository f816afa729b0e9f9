import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useRef,
  useState,
} from "react";
import type { PagedRows } from "../data/paged-rows.ts";
import { t } from "../language/translate.ts";
import { ErrorNote } from "./error-note.tsx";
import { type Shortcut, useShortcuts } from "./shortcuts.ts";

export interface Column<Row> {
  /** Tells columns with the same label apart. */
  id?: string;
  label: string;
  /** Whether it holds buttons. Only screen readers get the label. */
  isAction?: boolean;
  /** A class of styles.css, which sets the width and hides the column where there is no room. */
  className: string;
  isNumber?: boolean;
  /** For a column by which the list can be sorted. */
  sorting?: ColumnSort | undefined;
  render(row: Row): ReactNode;
}

export interface ColumnSort {
  /** Undefined while the list is sorted by another column. */
  direction: "asc" | "desc" | undefined;
  /** What the label does not say: "by address". */
  hint?: string;
  onSort(): void;
}

/** Ids of entries of logs are texts. */
type RowId = number | string;

interface RowTableProps<Row> {
  label: string;
  columns: Column<Row>[];
  list: PagedRows<Row>;
  /** The row whose panel is open. */
  openId?: RowId | undefined;
  onOpen(row: NoInfer<Row>): void;
  /** In place of the table when there are no rows. */
  empty: ReactNode;
  selection?: Selection;
  /** In pixels, for columns that must not leave. A phone keeps its own width. */
  minWidth?: number;
}

export interface Selection {
  ids: ReadonlySet<RowId>;
  toggle(id: number): void;
  /** Names a row for a screen reader. */
  labelOf(id: number): string;
}

const rowHeight = 44;
const headHeight = 36;
const ghostRows = 12;

/** A long list of which only the rows in view are in the document. One row is in the tab order. */
export function RowTable<Row extends { id: RowId }>(props: RowTableProps<Row>) {
  const { error, isStale } = props.list;
  return (
    <>
      <ErrorNote error={error} />
      <div className={isStale ? "list-box stale" : "list-box"}>
        <VirtualRows {...props} />
      </div>
    </>
  );
}

function VirtualRows<Row extends { id: RowId }>(props: RowTableProps<Row>) {
  const { label, columns, empty, selection, minWidth = 0 } = props;
  const { rows, total, hasMore, onScroll } = props.list;
  const box = useRef<HTMLDivElement>(null);
  const count = rows.length + (hasMore ? ghostRows : 0);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollPaddingStart: headHeight,
    onChange: (instance) => onScroll(instance.getVirtualItems().at(-1)?.index ?? 0),
  });
  const items = virtual.getVirtualItems();
  useShortcuts([...moves, openKey, ...(selection ? [selectKey] : [])]);
  const [active, setActive] = useState(0);
  // The focus follows a frame later, and keys can be faster.
  const latestActive = useRef(active);
  const activate = (index: number) => {
    latestActive.current = index;
    setActive(index);
  };
  const moveTo = (index: number) => {
    activate(index);
    virtual.scrollToIndex(index);
    focusRow(box, index);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // A button in the row has the focus.
    if (event.target !== event.currentTarget) return;
    const index = latestActive.current;
    const row = rows[index];
    const step = stepOf(event.key);
    if (step !== undefined && rows.length > 0) {
      event.preventDefault();
      const next = Math.min(Math.max(index + step, 0), rows.length - 1);
      moveTo(next);
      if (props.openId !== undefined) props.onOpen(rows[next]!);
    } else if (row && openKey.keys.includes(event.key)) props.onOpen(row);
    else if (row && selectKey.keys.includes(event.key)) selection?.toggle(Number(row.id));
  };
  return (
    <div ref={box} className="table-scroll main-table">
      {count === 0 ? (
        empty
      ) : (
        <table
          className={minWidth ? "rows scrolls" : "rows"}
          style={{ "--min-width": `${minWidth}px` } as CSSProperties}
          aria-rowcount={total ?? -1}
          aria-label={label}
        >
          <HeadRow columns={columns} hasSelection={selection !== undefined} />
          <tbody>
            <Spacer height={items[0]?.start ?? 0} />
            {items.map(({ index }) => {
              const row = rows[index];
              if (!row) return <GhostRow key={`ghost${index}`} {...props} />;
              return (
                <tr
                  key={row.id}
                  data-index={index}
                  aria-rowindex={index + 2}
                  aria-selected={row.id === props.openId}
                  tabIndex={index === active ? 0 : -1}
                  className={classOf(row.id, props)}
                  onKeyDown={onKeyDown}
                  onFocus={() => activate(index)}
                  onClick={({ target }) => isControl(target) || props.onOpen(row)}
                >
                  {selection && <SelectionCell id={Number(row.id)} selection={selection} />}
                  {columns.map(({ label, id = label, className, isNumber, render }) => (
                    <td key={id} className={isNumber ? `${className} num` : className}>
                      {render(row)}
                    </td>
                  ))}
                </tr>
              );
            })}
            <Spacer height={virtual.getTotalSize() - (items.at(-1)?.end ?? 0)} />
          </tbody>
        </table>
      )}
    </div>
  );
}

/** Whether a click is for a control in the row, and not for the row itself. */
const isControl = (target: EventTarget): boolean =>
  (target as Element).closest(".check, button, a") !== null;

const moves: readonly (Shortcut & { step: number })[] = [
  { keys: ["ArrowDown", "j"], label: t("Next row"), step: 1 },
  { keys: ["ArrowUp", "k"], label: t("Previous row"), step: -1 },
  { keys: ["PageDown"], label: "12 rows down", step: 12 },
  { keys: ["PageUp"], label: "12 rows up", step: -12 },
  { keys: ["Home"], label: t("First row"), step: Number.NEGATIVE_INFINITY },
  { keys: ["End"], label: t("Last row"), step: Number.POSITIVE_INFINITY },
];
const stepOf = (key: string): number | undefined =>
  moves.find(({ keys }) => keys.includes(key))?.step;

const openKey: Shortcut = { keys: ["Enter"], label: t("Open the row") };
const selectKey: Shortcut = { keys: ["x"], label: t("Select the row") };

/** The row may only be drawn after the scroll. */
function focusRow(box: RefObject<HTMLDivElement | null>, index: number): void {
  requestAnimationFrame(() =>
    box.current
      ?.querySelector<HTMLElement>(`[data-index="${index}"]`)
      ?.focus({ preventScroll: true }),
  );
}

function classOf(
  id: RowId,
  { openId, selection }: { openId?: RowId | undefined; selection?: Selection },
) {
  if (id === openId) return "open";
  return selection?.ids.has(id) ? "selected" : "";
}

interface HeadRowProps {
  columns: Omit<Column<never>, "render">[];
  hasSelection: boolean;
}

function HeadRow({ columns, hasSelection }: HeadRowProps) {
  return (
    <thead>
      <tr>
        {hasSelection && (
          <th scope="col" className="check">
            <span className="visually-hidden">{t("Select")}</span>
          </th>
        )}
        {columns.map(({ label, id = label, className, isNumber, isAction, sorting }) => (
          <th
            key={id}
            scope="col"
            className={isNumber ? `${className} num` : className}
            {...(sorting && { "aria-sort": ariaSort(sorting) })}
          >
            {isAction && <span className="visually-hidden">{label}</span>}
            {sorting && <SortButton label={label} {...sorting} />}
            {!isAction && !sorting && label}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function ariaSort({ direction }: ColumnSort): "ascending" | "descending" | "none" {
  if (!direction) return "none";
  return direction === "asc" ? "ascending" : "descending";
}

function SortButton({ label, direction, hint, onSort }: ColumnSort & { label: string }) {
  const Arrow = direction === "desc" ? IconArrowDown : IconArrowUp;
  return (
    <button type="button" className={direction ? "sort sorted" : "sort"} onClick={onSort}>
      {label}
      {hint && <span className="sort-hint">{hint}</span>}
      <Arrow size={14} aria-hidden />
    </button>
  );
}

function SelectionCell({ id, selection }: { id: number; selection: Selection }) {
  return (
    <td className="check">
      <label>
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={t("Select {id}", { id: selection.labelOf(id) })}
          checked={selection.ids.has(id)}
          onChange={() => selection.toggle(id)}
        />
      </label>
    </td>
  );
}

function Spacer({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden style={{ height }}>
      <td />
    </tr>
  );
}

function GhostRow({
  columns,
  selection,
}: {
  columns: HeadRowProps["columns"];
  selection?: Selection;
}) {
  return (
    <tr className="ghost" aria-hidden>
      {selection && <td className="check" />}
      {columns.map(({ label, id = label, className }) => (
        <td key={id} className={className}>
          <i />
        </td>
      ))}
    </tr>
  );
}
