// Stages marketing mail of one source, without a campaign or sequence.
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { countSiteSendsWrite } from "../../shared/domain/identity/site-send-counts.ts";
import {
  type MarketingMessage,
  type StagedChunks,
  stageChunks,
} from "../../shared/domain/sending/accept/stage-chunks.ts";
import type { SourceCounts } from "../../shared/domain/sending/mail-sources.ts";

/** `tallies` are additional counts of the source. */
export async function stageMail(
  message: MarketingMessage,
  contacts: ContactItem[],
  {
    held: isSuspended = false,
    tallies: counts = {},
  }: { held?: boolean; tallies?: SourceCounts } = {},
): Promise<StagedChunks> {
  const { sendIds, writes } = await stageChunks(
    [{ message, contacts, isSuspended }],
    [{ source: message.source, counts }],
  );
  return {
    sendIds,
    writes: [
      ...writes,
      countSiteSendsWrite(message.orgId, { siteId: message.site.id, n: contacts.length }),
    ],
  };
}
