import { Skeleton } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconCheck, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Contact, SegmentCondition, SegmentExplanation, SegmentRules } from "pennymail";
import { useState } from "react";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { capitalize, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ContactSelect } from "../../parts/contact-select.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import type { RuleField } from "../../parts/rules/rule-catalog.ts";
import { findRuleField, isFlagKind } from "../../parts/rules/rule-draft.ts";
import { describeCondition, type NameOf, useNamesIn } from "../../parts/rules/rule-sentence.ts";

interface SegmentWhyProps {
  siteId: number;
  /** As they are edited. */
  rules: SegmentRules;
}

/** Answers why a contact matches the rules or not, condition by condition. */
export function SegmentWhy({ siteId, rules }: SegmentWhyProps) {
  const [contact, setContact] = useState<Contact>();
  // Objects would differ at each render.
  const [settled] = useDebouncedValue(JSON.stringify(rules), 400);
  const why = useQuery({
    ...queries.whyRules(contact?.id ?? 0, JSON.parse(settled)),
    enabled: contact !== undefined,
  });
  const nameOf = useNamesIn(siteId, [rules]);
  return (
    <Card title={t("Why is somebody in it, or not?")}>
      <ContactSelect
        siteId={siteId}
        label={t("Contact to explain")}
        isLabelHidden
        isClearable
        value={contact}
        onChange={setContact}
      />
      <ErrorNote error={why.error} />
      {contact && why.isPending && <Skeleton h={60} />}
      {contact && why.data && (
        <div role="status">
          <p>
            <b>{why.data.matched ? t("Is in the segment") : t("Is not in the segment")}</b>
          </p>
          <Reasons explanation={why.data} nameOf={nameOf} />
        </div>
      )}
    </Card>
  );
}

interface ReasonsProps {
  explanation: SegmentExplanation;
  nameOf: NameOf;
}

function Reasons({ explanation: { conditions = [] }, nameOf }: ReasonsProps) {
  return (
    <ul className="reasons">
      {conditions.map((one, index) => (
        <li key={index}>
          <Reason explanation={one} nameOf={nameOf} />
        </li>
      ))}
    </ul>
  );
}

function Reason({ explanation, nameOf }: ReasonsProps) {
  const { matched, match, field } = explanation;
  const { timezone } = useMe().organization;
  const Icon = matched ? IconCheck : IconX;
  return (
    <>
      <span className={matched ? "reason good" : "reason tone-bad"}>
        <Icon size={16} aria-hidden />
        <span className="visually-hidden">{matched ? t("Holds:") : t("Does not hold:")}</span>
      </span>
      {field === undefined ? (
        <div>
          <p>{match === "all" ? t("All of these") : t("Any of these")}</p>
          <Reasons explanation={explanation} nameOf={nameOf} />
        </div>
      ) : (
        <div>
          <p>{capitalize(describeCondition(explanation as SegmentCondition, nameOf))}</p>
          <small>{describeActual(explanation, timezone)}</small>
        </div>
      )}
    </>
  );
}

/** What the contact has in the field. */
function describeActual(
  { field = "", actual, actualNames }: SegmentExplanation,
  timezone: string,
): string {
  const { kind } = findRuleField(field);
  if (isFlagKind(kind)) return "";
  if (actualNames?.length) return t("Has {actualNames}", { actualNames: actualNames.join(", ") });
  if (kind === "group") return t("Has none");
  const isEmpty = actual === null || actual === undefined || actual === "";
  if (isEmpty || (kind === "event" && actual === 0)) return absences[kind] ?? t("Unknown");
  if (kind === "event")
    return actual === 1
      ? t("Happened once")
      : t("Happened {count} times", { count: String(actual) });
  return kind === "time"
    ? t("Was {time}", { time: formatTime(String(actual), timezone) })
    : t("Is {value}", { value: String(actual) });
}

const absences: Partial<Record<RuleField["kind"], string>> = {
  number: t("Is 0"),
  event: t("Did not happen"),
  time: t("Never"),
};
