// The token in an unsubscribe link says who unsubscribes from which site, and by which mail. It never expires.
import * as sealed from "./sealed-tokens.ts";

export interface Subscriber {
  orgId: number;
  siteId: number;
  /** Present when the mail went to a contact: it may have changed its address since. */
  contactId?: number | undefined;
  email: string;
  /** The mail that the link came with. */
  sendId?: number | undefined;
}

/** Makes tokens without further waiting, for whoever needs many. The same of the same. */
export async function tokens(): Promise<(subscriber: Subscriber) => string> {
  const seal = await sealed.sealer("unsubscribe");
  return ({ orgId, siteId, contactId = 0, email, sendId = 0 }) => seal([orgId, siteId, contactId, email, sendId]);
}

/** undefined for anything that is no token of ours. */
export async function opened(token: string): Promise<Subscriber | undefined> {
  const content = await sealed.opened("unsubscribe", token);
  if (!content) return undefined;
  const [orgId, siteId, contactId, email, sendId] = content as [number, number, number, string, number];
  return { orgId, siteId, email, ...(contactId && { contactId }), ...(sendId && { sendId }) };
}
