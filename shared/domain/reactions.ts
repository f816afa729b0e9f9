// Installs the reactions of higher areas to changes in lower ones: a changed contact starts
// sequences, a deleted one leaves them.
import { installContactReactions } from "./audience/contacts/reactions.ts";
import { noteChanges } from "./automation/change-notes.ts";
import { cancelForContact } from "./automation/contact-removal.ts";
import { segmentChangeWrites } from "./automation/trigger-registrations.ts";
import {
  hasScoreTrigger,
  reactToContactChange,
  startEnrollments,
  startsOf,
} from "./automation/triggers.ts";

installContactReactions({
  startsOf,
  startEnrollments,
  contactChanged: reactToContactChange,
  noteChanges,
  segmentChangeWrites,
  watchesScores: hasScoreTrigger,
  leaveSequences: cancelForContact,
});
