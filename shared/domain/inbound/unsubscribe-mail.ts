// Mail that unsubscribes: a mail program sends it to the `mailto` of List-Unsubscribe (RFC 2369),
// whose subject has the sealed token of the link.
import { decodedSubjectOf, type ReceivedMail } from "../../providers/inbound-mail/received-mail.ts";
import { openToken } from "../audience/contacts/link-tokens.ts";
import { unsubscribeWord } from "../sending/rendering/marketing-mail.ts";

const pattern = new RegExp(`\\b${unsubscribeWord}\\s+([\\w-]{40,900})\\s*$`, "i");

/** The token, if it is valid and of this site. The token proves it: anyone may send the mail. */
export async function findUnsubscribeToken(
  mail: ReceivedMail,
  { orgId, siteId }: { orgId: number; siteId: number },
): Promise<string | undefined> {
  const [, token] = pattern.exec(decodedSubjectOf(mail)) ?? [];
  const subject = token === undefined ? undefined : await openToken("unsubscribe", token);
  return subject?.orgId === orgId && subject.siteId === siteId ? token : undefined;
}
