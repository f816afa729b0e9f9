// The link in a mail that shows the mail in a browser. Its sealed token names the send, so that no
// mail stores anything for it.
import { config } from "../../../config.ts";
import * as sealedTokens from "../../../kernel/sealed-tokens.ts";

export const buildBrowserLink = (token: string): string => `${config.publicUrl}/view/${token}`;

/** In previews and test emails. The page explains that the link works in sent email only. */
export const inactiveBrowserLink = (): string => buildBrowserLink("preview");

/**
 * Returns a synchronous, deterministic function, so a mail that is rendered again is identical.
 */
export async function createBrowserLinkBuilder(orgId: number): Promise<(sendId: number) => string> {
  const seal = await sealedTokens.createSealer("browser");
  return (sendId) => buildBrowserLink(seal([orgId, sendId]));
}

/** Undefined for a token that is not valid. */
export async function openBrowserToken(
  token: string,
): Promise<{ orgId: number; sendId: number } | undefined> {
  const content = await sealedTokens.openToken("browser", token);
  if (!content) return undefined;
  const [orgId, sendId] = content as [number, number];
  return { orgId, sendId };
}
