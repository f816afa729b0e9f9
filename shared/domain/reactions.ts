// Installs the reactions of higher areas to changes in lower ones: a changed contact starts
// sequences, a deleted one leaves them, and an event counts as a conversion of campaigns.
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
import {
  conversionWrites,
  listConvertingNames,
} from "./campaigns/conversions/count-conversions.ts";

installContactReactions({
  startsOf,
  startEnrollments,
  contactChanged: reactToContactChange,
  noteChanges,
  segmentChangeWrites,
  listConvertingNames,
  conversionWrites,
  watchesScores: hasScoreTrigger,
  leaveSequences: cancelForContact,
});
