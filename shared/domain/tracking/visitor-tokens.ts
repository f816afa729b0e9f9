// The token with which a link in a mail tells the pages of a site who comes. It opens nothing else: an unsubscribe link that gets
// into other hands says nothing to tracking, and this one unsubscribes nobody.
import * as sealed from "../sealed-tokens.ts";

export interface Known {
  orgId: number;
  siteId: number;
  /** Present when the mail went to a contact: it may have changed its address since. */
  contactId?: number | undefined;
  email: string;
}

/** Makes tokens without further waiting, for whoever needs many. The same of the same. */
export async function tokens(): Promise<(known: Known) => string> {
  const seal = await sealed.sealer("visitor");
  return ({ orgId, siteId, contactId = 0, email }) => seal([orgId, siteId, contactId, email]);
}

/** undefined for anything that is no token of ours. */
export async function opened(token: string): Promise<Known | undefined> {
  const content = await sealed.opened("visitor", token);
  if (!content) return undefined;
  const [orgId, siteId, contactId, email] = content as [number, number, number, string];
  return { orgId, siteId, email, ...(contactId && { contactId }) };
}
