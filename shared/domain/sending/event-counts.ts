import type { ReasonCounter } from "./bounce-reasons.ts";

/**
 * Counters that the events of a send move. Those with `unique` count a send at most once, and
 * only events caused by people.
 */
export type EventCounter =
  | "delivered"
  | "bouncedHard"
  | "bouncedSoft"
  | "dropped"
  | "complained"
  | "unsubscribed"
  | "deferred"
  | "opened"
  | "openedByMachine"
  | "uniqueOpened"
  | "clicked"
  | "clickedByMachine"
  | "uniqueClicked"
  | ReasonCounter;
export type EventCounts = Partial<Record<EventCounter, number>>;
