// Link tokens: sealed text in the links of an email that says which contact of which site it was
// sent to. They never expire. An unsubscribe token unsubscribes; a visitor token identifies a
// visitor to website tracking. Neither works in place of the other.
import * as sealedTokens from "../../../kernel/sealed-tokens.ts";

export type LinkTokenKind = "unsubscribe" | "visitor";

export interface LinkSubject {
  orgId: number;
  siteId: number;
  /** Set when the mail went to a contact, whose email address may have changed since. */
  contactId?: number | undefined;
  email: string;
  /** The send that the link was in. Only unsubscribe tokens contain it. */
  sendId?: number | undefined;
  /** The topic of that send. */
  topicId?: number | undefined;
  /** The language of that send. */
  locale?: string | undefined;
}

/** Returns a synchronous, deterministic function, for code that needs many tokens. */
export async function createTokenMaker(
  kind: LinkTokenKind,
): Promise<(subject: LinkSubject) => string> {
  const seal = await sealedTokens.createSealer(kind);
  return ({ orgId, siteId, contactId = 0, email, sendId = 0, topicId, locale }) => {
    const content = [orgId, siteId, contactId, email];
    if (kind === "unsubscribe") {
      content.push(sendId);
      if (topicId || locale) content.push(topicId ?? 0);
      if (locale) content.push(locale);
    }
    return seal(content);
  };
}

/** Undefined for a token that is not valid. */
export async function openToken(
  kind: LinkTokenKind,
  token: string,
): Promise<LinkSubject | undefined> {
  const content = await sealedTokens.openToken(kind, token);
  if (!content) return undefined;
  const [orgId, siteId, contactId, email, sendId, topicId, locale] = content as [
    number,
    number,
    number,
    string,
    number?,
    number?,
    string?,
  ];
  return {
    orgId,
    siteId,
    email,
    ...(contactId && { contactId }),
    ...(sendId && { sendId }),
    ...(topicId && { topicId }),
    ...(locale && { locale }),
  };
}
