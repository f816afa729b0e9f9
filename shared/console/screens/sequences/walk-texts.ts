// A walk in words: what each step did, when it went on, and how the walk ended.

import type { Walk, WalkedStep } from "pennymail";
import { t } from "../../language/translate.ts";
import type { DraftStep, Outlet } from "./step-draft.ts";
import { outletsOf } from "./step-draft.ts";
import { wayName } from "./step-texts.ts";

type FormatTime = (iso: string, timezone?: string) => string;

/** What happened at the step. */
export function resultText(walked: WalkedStep, format: FormatTime): string {
  const { result, way, until, mail, actionProblem } = walked;
  const time = until === null ? "" : format(until);
  const texts: Record<WalkedStep["result"], string> = {
    sent: mail?.problem
      ? t("Cannot be sent: {problem}", { problem: mail.problem })
      : t("Sends “{subject}”", { subject: mail?.subject ?? "" }),
    snoozed: t("Sends nothing: the contact has paused marketing email"),
    capped: t("Sends nothing: the contact got an email too recently"),
    not_in_topic: t("Sends nothing: the contact is not subscribed to the topic"),
    met: t("Yes"),
    not_met: t("No"),
    acted: actionProblem ? t("Cannot be done: {actionProblem}", { actionProblem }) : t("Done"),
    drawn: t("Goes way {way}", { way: wayName(way ?? 0) }),
    waited: time ? t("Waits until {time}", { time }) : t("Goes on at once"),
    passed: t("Goes on at once: {time} has passed", { time }),
    no_date: t("Goes on at once: the contact has no such date"),
    event: t("It happens"),
    timeout: t("It does not happen until {time}", { time }),
    ended: t("Leaves the sequence"),
    left: t("Leaves the sequence while it waits here"),
  };
  return texts[result];
}

const endTexts: Record<NonNullable<Walk["end"]["reason"]>, string> = {
  exit_step: t("Completed, at an exit"),
  goal: t("Completed: the goal is reached"),
  exit: t("Completed: an exit of the sequence is met"),
  unsubscribed: t("Cannot be in the sequence: the contact is unsubscribed"),
  pending: t("Cannot be in the sequence: the contact is not confirmed"),
  suppressed: t("Cannot be in the sequence: the address is suppressed"),
};

const endTextOf = (reason: Walk["end"]["reason"]): string =>
  reason === null ? t("Completed, at the end") : endTexts[reason];

export const endText = ({ reason, value }: Walk["end"]): string =>
  value
    ? t("{end}, with a value of {value}", { end: endTextOf(reason), value })
    : endTextOf(reason);

const outletByResult: Partial<Record<WalkedStep["result"], Outlet>> = {
  met: "yes",
  not_met: "no",
  timeout: "timeout",
  no_date: "timeout",
};

/** The way out that the contact took. */
export function outletOf({ result, way }: WalkedStep, step: DraftStep): Outlet {
  const taken = way === null ? (outletByResult[result] ?? "next") : (`way${way}` as const);
  return outletsOf(step).includes(taken) ? taken : "next";
}
