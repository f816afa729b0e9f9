import { Menu } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { typeIcons } from "./step-card.tsx";
import { insertStep, newStep, type Place, type StepKind } from "./step-draft.ts";
import { numberIn, useStepEditor } from "./step-editor.ts";

const kinds: { type: StepKind; label: string; note: string }[] = [
  { type: "email", label: "Email", note: "Sends a template" },
  { type: "delay", label: "Wait", note: "Minutes to months" },
  { type: "condition", label: "Branch", note: "By what a contact did or is" },
];

/** A button on the way between two steps. */
export function AddStep({ place, isWide = false }: { place: Place; isWide?: boolean }) {
  const { history, mayWrite, open } = useStepEditor();
  if (!mayWrite) return null;
  const { draft } = history;
  const add = (type: StepKind) => {
    const step = newStep(draft, type);
    history.change(insertStep(draft, place, step));
    open(step.key);
  };
  const label = `Add a step ${placeText(place, numberIn(draft))}`;
  return (
    <Menu width={220} position="bottom">
      <Menu.Target>
        <button
          type="button"
          className={isWide ? "add-step wide-add" : "add-step"}
          aria-label={label}
        >
          <IconPlus size={14} stroke={2.2} aria-hidden />
          {isWide && <span>Add step</span>}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {kinds.map(({ type, label: name, note }) => {
          const Icon = typeIcons[type];
          return (
            <Menu.Item
              key={type}
              leftSection={<Icon size={16} stroke={1.6} aria-hidden />}
              onClick={() => add(type)}
            >
              {name} <small className="menu-note">{note}</small>
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}

function placeText(place: Place, numberOf: (key: string) => number | undefined): string {
  if ("before" in place)
    return place.before === null ? "at the start" : `before step ${numberOf(place.before)}`;
  const branch = place.outlet === "next" ? "" : `, branch ${outletLabels[place.outlet]}`;
  return `after step ${numberOf(place.from)}${branch}`;
}

export const outletLabels = { next: "Then", yes: "Yes", no: "No" } as const;
