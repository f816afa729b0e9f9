// Marketing mail of one source put on its way by hand.
import type { ContactItem } from "../../shared/domain/contacts/contact.ts";
import * as feed from "../../shared/domain/sending/feed.ts";
import type { Tallies } from "../../shared/domain/sending/sources.ts";
import { type Mailshot, type Staged, stagedTogether } from "../../shared/domain/sending/staging.ts";

/** `tallies`: what else is to be counted with it. */
export async function staged(
  shot: Mailshot,
  contacts: ContactItem[],
  { held = false, tallies = {} }: { held?: boolean; tallies?: Tallies } = {},
): Promise<Staged> {
  const { sendIds, writes } = await stagedTogether([{ shot, contacts, held }], [{ source: shot.source, tallies }]);
  return { sendIds, writes: [...writes, feed.counting(shot.orgId, { siteId: shot.site.id, n: contacts.length })] };
}
