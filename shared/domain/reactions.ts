// Installs the reactions of higher areas to changes in lower ones: a changed contact starts
// sequences, a deleted one leaves them.
import { installContactReactions } from "./audience/contacts/reactions.ts";
import { cancelForContact } from "./automation/contact-removal.ts";
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
  watchesScores: hasScoreTrigger,
  leaveSequences: cancelForContact,
});
