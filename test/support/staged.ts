// Marketing mail of one source put on its way by hand.
import type { ContactItem } from "../../shared/domain/contacts/contact.ts";
import type { Tallies } from "../../shared/domain/sending/sources.ts";
import { type Mailshot, stagedTogether } from "../../shared/domain/sending/staging.ts";

/** `tallies`: what else is to be counted with it. */
export const staged = (
  shot: Mailshot,
  contacts: ContactItem[],
  { held = false, tallies = {} }: { held?: boolean; tallies?: Tallies } = {},
) => stagedTogether([{ shot, contacts, held }], [{ source: shot.source, tallies }]);
