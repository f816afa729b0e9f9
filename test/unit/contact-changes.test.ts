// Triggers look at contacts after every change. A file that writes contacts must note the change,
// or be listed here with the reason why no trigger can depend on it.
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Signs that a file writes contacts. */
const writes = [
  /\bbumpVersion\(/,
  /\bstatusWrite\(/,
  /\b(addMembersWrites|removeMembersWrites)\(/,
  /contactWrites\.(changeWrites|insertWrites|removeWrites)\(/,
  /update\(\s*contact,/,
];
/** Functions that note a change. */
const notes = /\b(commitContactChanges|noteChanges|contactChanged|reactToContactChange)\(/;

const unwatched: Record<string, string> = {
  "audience/contacts/contact-writes.ts": "builds writes for others",
  "audience/groups/membership-writes.ts": "builds writes for others",
  "audience/groups/deleted-groups.ts": "a deleted group has no members in rules",
  "automation/change-note-work.ts": "the set of sequences is no field of rules",
  "automation/contact-removal.ts": "the contact is being deleted",
  "automation/enrollment-moves.ts": "the set of sequences is no field of rules",
  "automation/enrollments.ts": "the set of sequences is no field of rules",
  "automation/sequence-task-runner.ts": "the set of sequences is no field of rules",
  "automation/triggers.ts": "the set of sequences is no field of rules",
};

test("every file that writes contacts notes the change for triggers", () => {
  const files = globSync("shared/domain/**/*.ts");
  const writers = files.filter((file) => {
    const text = readFileSync(file, "utf8");
    return writes.some((sign) => sign.test(text)) && !notes.test(text);
  });
  const names = writers.map((file) => file.slice("shared/domain/".length));
  expect(names.filter((name) => !(name in unwatched))).toEqual([]);
});
