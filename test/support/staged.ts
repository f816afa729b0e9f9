// Stages marketing mail of one source, without a campaign or sequence.
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { countSiteSendsWrite } from "../../shared/domain/identity/site-send-counts.ts";
import {
  type MarketingMessage,
  type StagedChunks,
  stageChunks,
} from "../../shared/domain/sending/intake/stage-chunks.ts";
import type { SourceCounts } from "../../shared/domain/sending/mail-sources.ts";

/** `tallies` are additional counts of the source. */
export async function stageMail(
  mailshot: MarketingMessage,
  contacts: ContactItem[],
  {
    held: isSuspended = false,
    tallies: counts = {},
  }: { held?: boolean; tallies?: SourceCounts } = {},
): Promise<StagedChunks> {
  const { sendIds, writes } = await stageChunks(
    [{ message: mailshot, contacts, isSuspended }],
    [{ source: mailshot.source, counts }],
  );
  return {
    sendIds,
    writes: [
      ...writes,
      countSiteSendsWrite(mailshot.orgId, { siteId: mailshot.site.id, n: contacts.length }),
    ],
  };
}
