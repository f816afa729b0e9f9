// What marketing mail carries beside what it says: a way out that mail programs know (RFC 2369, RFC 8058), and a footer that names the
// sender. Both are said once for all recipients, with the link as a hole, so that providers' batches still work.
import { config } from "../../config.ts";
import { invalid } from "../../errors.ts";
import { type Language, languageOfHtml, mailWords } from "../../pages/mail-words.ts";
import type { Pieces } from "../../providers/provider.ts";
import * as compliance from "../compliance.ts";
import { nameOf, type Site } from "../sites.ts";
import * as visitorTokens from "../tracking/visitor-tokens.ts";
import * as unsubscribeTokens from "../unsubscribe-tokens.ts";
import { escaped } from "./simple-mailing.ts";

/** Part of the content of a mail, as it was when the mail was accepted. */
export interface Marketing {
  orgId: number;
  siteId: number;
  companyName: string;
  physicalAddress: string | null;
  /** A page of the organization's own. */
  unsubscribeUrl: string | null;
}

/** Throws 400 `physical_address_missing` where the organization does not want mail to go without. */
export async function marketingOf(orgId: number, site: Site): Promise<Marketing> {
  const { physicalAddress, unsubscribeUrl, enabled } = await compliance.find(orgId);
  const address = site.physicalAddress?.trim() || physicalAddress;
  if (enabled && !address) throw addressMissing();
  return { orgId, siteId: site.id, companyName: nameOf(site), physicalAddress: address, unsubscribeUrl };
}

const addressMissing = () =>
  invalid("Marketing mail needs a physical address: set physicalAddress of the site, or by PUT /compliance", {
    code: "physical_address_missing",
    details: [{ path: "physicalAddress", message: "physicalAddress is required for marketing mail" }],
  });

interface Reader {
  sendId: number;
  to: string;
  contactId?: number | undefined;
}

export interface Links {
  /** For people: a page that asks. */
  page: string;
  /** For mail programs. */
  oneClick: string;
  /** For links to the site's own pages, which tell its tracking who comes. */
  contactToken: string;
}

/** Marketing with all that is needed to make mails of it at once. */
export interface Prepared extends Marketing {
  linksOf(reader: Reader): Links;
}

export async function prepared(marketing: Marketing): Promise<Prepared> {
  const [tokenOf, contactTokenOf] = await Promise.all([unsubscribeTokens.tokens(), visitorTokens.tokens()]);
  const base = `${config.publicUrl}/api/v1/unsubscribe`;
  const linksOf = ({ sendId, to, contactId }: Reader): Links => {
    const person = { orgId: marketing.orgId, siteId: marketing.siteId, contactId, email: to };
    const token = tokenOf({ ...person, sendId });
    const page = pageOf(marketing, token) ?? `${base}/${token}`;
    return { page, oneClick: `${base}?token=${token}`, contactToken: contactTokenOf(person) };
  };
  return { ...marketing, linksOf };
}

function pageOf({ unsubscribeUrl }: Marketing, token: string): string | undefined {
  if (!unsubscribeUrl) return undefined;
  const url = new URL(unsubscribeUrl);
  url.searchParams.set("token", token);
  return url.href;
}

export const headersOf = ({ oneClick }: Links): Record<string, string> => ({
  "List-Unsubscribe": `<${oneClick}>`,
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
});

type Sender = Pick<Marketing, "companyName" | "physicalAddress">;

/** `link` is the hole of the address of the page. */
export const htmlWithFooter = (pieces: Pieces, link: number, sender: Sender): Pieces =>
  beforeBodyEnd(pieces, htmlFooter(sender, link, languageOfHtml(pieces.find((piece) => typeof piece === "string") ?? "")));

/** Before the end of the body, where there is one. */
export function beforeBodyEnd(pieces: Pieces, footer: Pieces): Pieces {
  const at = pieces.findLastIndex((piece) => typeof piece === "string" && bodyEnd.test(piece));
  if (at < 0) return [...pieces, ...footer];
  const piece = pieces[at] as string;
  const place = piece.toLowerCase().lastIndexOf("</body");
  return [...pieces.slice(0, at), piece.slice(0, place), ...footer, piece.slice(place), ...pieces.slice(at + 1)];
}

const bodyEnd = /<\/body\s*>/i;

function htmlFooter(sender: Sender, link: number, language: Language): Pieces {
  const lines = linesOf(sender).map(escaped).join("<br>");
  return [
    `<div style="max-width:600px;margin:32px auto 0;padding:16px;text-align:center;font:12px/1.6 Arial,sans-serif;color:#595959;background-color:#ffffff">${lines}<br><a href="`,
    link,
    `" style="color:#595959;text-decoration:underline">${escaped(mailWords[language].unsubscribe)}</a></div>`,
  ];
}

export function textWithFooter(pieces: Pieces, link: number, sender: Sender, html: Pieces | undefined): Pieces {
  const language = languageOfHtml(html?.find((piece) => typeof piece === "string") ?? "");
  return [...pieces, `\n\n----------\n${linesOf(sender).join("\n")}\n${mailWords[language].unsubscribe}: `, link, "\n"];
}

const linesOf = ({ companyName, physicalAddress }: Sender): string[] =>
  [companyName, ...(physicalAddress ?? "").split(/[\r\n]+/)].map((line) => line.trim()).filter(Boolean);
