import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";

interface TabsProps {
  /** Names the tabs for a screen reader. */
  label: string;
  /** By the words on the tab. Only the open one is drawn. */
  tabs: Record<string, ReactNode>;
}

const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };

/** Parts of a page of which one is shown. The arrow keys go from tab to tab. */
export function Tabs({ label, tabs }: TabsProps) {
  const names = Object.keys(tabs);
  const [open, setOpen] = useState(names[0]!);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const onKeyDown = ({ key }: KeyboardEvent) => {
    const step = steps[key];
    if (step === undefined) return;
    const index = (names.indexOf(open) + step + names.length) % names.length;
    setOpen(names[index]!);
    list.current?.querySelectorAll("button")[index]?.focus();
  };
  return (
    <>
      <div
        ref={list}
        className="tabs"
        role="tablist"
        aria-label={label}
        tabIndex={-1}
        onKeyDown={onKeyDown}
      >
        {names.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-tab-${names.indexOf(name)}`}
            aria-controls={`${id}-panel`}
            aria-selected={name === open}
            tabIndex={name === open ? 0 : -1}
            onClick={() => setOpen(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div
        key={open}
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-tab-${names.indexOf(open)}`}
      >
        {tabs[open]}
      </div>
    </>
  );
}
