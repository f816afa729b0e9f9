// The choices of the preference page. Pages need only them, not the code that stores a choice.

/** For how many days a contact can pause marketing mail. */
export const snoozeDays = [30, 60, 90] as const;
export type SnoozeDays = (typeof snoozeDays)[number];

/** Why a contact unsubscribed. */
export const leaveReasons = [
  "too_many",
  "not_relevant",
  "not_interested",
  "never_subscribed",
  "other",
] as const;
