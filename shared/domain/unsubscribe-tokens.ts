// The token in an unsubscribe link says who unsubscribes from which site. The same person always has the same token, and it never expires.
import * as sealed from "./sealed-tokens.ts";

export interface Subscriber {
  orgId: number;
  siteId: number;
  /** Present when the mail went to a contact: it may have changed its address since. */
  contactId?: number | undefined;
  email: string;
}

/** Makes tokens without further waiting, for whoever needs many. */
export async function tokens(): Promise<(subscriber: Subscriber) => string> {
  const seal = await sealed.sealer("unsubscribe");
  return ({ orgId, siteId, contactId = 0, email }) => seal([orgId, siteId, contactId, email]);
}

/** undefined for anything that is no token of ours. */
export async function opened(token: string): Promise<Subscriber | undefined> {
  const content = await sealed.opened("unsubscribe", token);
  if (!content) return undefined;
  const [orgId, siteId, contactId, email] = content as [number, number, number, string];
  return { orgId, siteId, email, ...(contactId && { contactId }) };
}
