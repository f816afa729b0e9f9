import { Menu } from "@mantine/core";
import { IconClipboard, IconPlus } from "@tabler/icons-react";
import { memo, useState } from "react";
import { t } from "../../language/translate.ts";
import { typeIcons } from "./step-card.tsx";
import { insertStep, newStep, type Place } from "./step-changes.ts";
import { useStepClip } from "./step-clipboard.ts";
import { type DraftSteps, outletsOf, type StepKind, stepOf } from "./step-draft.ts";
import { focusStep, numberIn, useStepEditor } from "./step-editor.ts";
import { pasteClip, type StepClip } from "./step-sections.ts";
import { outletLabel } from "./step-texts.ts";

const kinds: { type: StepKind; label: string; note: string }[] = [
  { type: "email", label: t("Email"), note: t("Sends a template") },
  { type: "delay", label: t("Wait"), note: t("Minutes to months") },
  { type: "wait_until", label: t("Wait until"), note: t("An event, a date, an hour") },
  { type: "condition", label: t("Branch"), note: t("By what a contact did or is") },
  { type: "split", label: t("Split"), note: t("2 to 5 ways by chance") },
  { type: "action", label: t("Action"), note: t("Tags, fields, your team") },
  { type: "exit", label: t("Exit"), note: t("Leaves the sequence") },
];

interface AddStepProps {
  place: Place;
  isWide?: boolean;
}

/** A button on the way between two steps. */
export function AddStep({ place, isWide = false }: AddStepProps) {
  const { history, mayWrite } = useStepEditor();
  if (!mayWrite) return null;
  const label = labelOf(place, history.draft);
  return <AddButton place={JSON.stringify(place)} label={label} isWide={isWide} />;
}

interface ButtonProps {
  place: string;
  label: string;
  isWide: boolean;
}

/** The menu is made at the first click: a hundred menus at once would take long. */
const AddButton = memo(function AddButton({ place, ...look }: ButtonProps) {
  const [isUsed, setUsed] = useState(false);
  if (!isUsed) return <PlusButton {...look} aria-haspopup="menu" onClick={() => setUsed(true)} />;
  return (
    <Menu width={296} position="bottom" defaultOpened returnFocus>
      <Menu.Target>
        <PlusButton {...look} />
      </Menu.Target>
      <Menu.Dropdown>
        <AddItems place={JSON.parse(place)} />
      </Menu.Dropdown>
    </Menu>
  );
});

function PlusButton({
  label,
  isWide,
  ...others
}: Omit<ButtonProps, "place"> & React.ComponentProps<"button">) {
  return (
    <button
      {...others}
      type="button"
      className={isWide ? "add-step wide-add" : "add-step"}
      aria-label={label}
    >
      <IconPlus size={14} stroke={2.2} aria-hidden />
      {isWide && <span>{t("Add step")}</span>}
    </button>
  );
}

function AddItems({ place }: { place: Place }) {
  const { history, sequence, open } = useStepEditor();
  const { draft } = history;
  const clip = useStepClip(sequence.siteId);
  const change = (next: DraftSteps, key: string) => {
    history.change(next);
    open(key);
    focusStep(key);
  };
  const add = (type: StepKind) => {
    const step = newStep(draft, type);
    change(insertStep(draft, place, step), step.key);
  };
  const paste = (copied: StepClip) => {
    const { draft: next, first } = pasteClip(draft, place, copied);
    change(next, first);
  };
  return (
    <>
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
      {clip && (
        <>
          <Menu.Divider />
          <Menu.Item
            leftSection={<IconClipboard size={16} stroke={1.6} aria-hidden />}
            onClick={() => paste(clip)}
          >
            {t("Paste {count, plural, one {# step} other {# steps}}", { count: clip.steps.length })}
          </Menu.Item>
        </>
      )}
    </>
  );
}

function labelOf(place: Place, draft: DraftSteps): string {
  const numberOf = numberIn(draft);
  if ("before" in place)
    return place.before === null
      ? t("Add a step at the start")
      : t("Add a step before step {number}", { number: numberOf(place.before) });
  const { from, outlet } = place;
  const step = stepOf(draft, from)!;
  const number = numberOf(from);
  return outletsOf(step).length > 1
    ? t("Add a step after step {number}, branch {branch}", {
        number,
        branch: outletLabel(step, outlet),
      })
    : t("Add a step after step {number}", { number });
}
