// Blind copies: the same mail for one more address, which its headers do not name.
import type { Draft, Mailbox } from "./contract.ts";

/** The drafts of one mail, and a copy of the first for each address. `changes`: where the copy's events differ. */
export const withCopies = (drafts: Draft[], bcc: Mailbox[], changes: Partial<Draft> = {}): Draft[] => {
  const [first] = drafts;
  return first ? [...drafts, ...bcc.map((to) => ({ ...first, ...changes, to, copyOf: first.to }))] : drafts;
};
