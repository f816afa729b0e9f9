// Additions to marketing mail: List-Unsubscribe headers (RFC 2369, RFC 8058), and a footer with the
// sender and an unsubscribe link. The link is a merge field, so that all recipients share the
// footer and batch calls still work.
import { config } from "../../../config.ts";
import { insertBeforeBodyEnd } from "../../../email/body-end.ts";
import {
  detectHtmlLanguage,
  emailFooterWording,
  type Language,
} from "../../../email/wording/email-footer.ts";
import { invalid } from "../../../errors.ts";
import { escapeHtml } from "../../../kernel/html.ts";
import type { MergeText } from "../../../providers/provider-adapter.ts";
import { createTokenMaker } from "../../audience/contacts/link-tokens.ts";
import * as compliance from "../../identity/compliance.ts";
import { displayNameOf, type Site } from "../../identity/sites.ts";

/** The sender of marketing mail as stored with its content, with the settings at acceptance. */
export interface MarketingSender {
  orgId: number;
  siteId: number;
  companyName: string;
  physicalAddress: string | null;
  /** The organization's own unsubscribe page. */
  unsubscribeUrl: string | null;
}

/**
 * Throws 400 `physical_address_missing` when the organization requires a physical address and there
 * is none.
 */
export async function requireMarketingSender(orgId: number, site: Site): Promise<MarketingSender> {
  const { physicalAddress, unsubscribeUrl, enabled } = await compliance.getCompliance(orgId);
  const postalAddress = site.physicalAddress?.trim() || physicalAddress;
  if (enabled && !postalAddress) throw physicalAddressMissing();
  return {
    orgId,
    siteId: site.id,
    companyName: displayNameOf(site),
    physicalAddress: postalAddress,
    unsubscribeUrl,
  };
}

const physicalAddressMissing = () =>
  invalid(
    "Marketing mail requires a physical address: set physicalAddress on the site or with PUT " +
      "/compliance",
    {
      code: "physical_address_missing",
      details: [
        { path: "physicalAddress", message: "physicalAddress is required for marketing mail" },
      ],
    },
  );

interface LinkRecipient {
  sendId: number;
  to: string;
  contactId?: number | undefined;
}

export interface RecipientLinks {
  /** The page that asks the recipient to confirm. */
  unsubscribePage: string;
  /** For mail programs. */
  oneClickUnsubscribe: string;
  /** Identifies the contact to the tracking of the site's own pages. */
  contactToken(): string;
}

/** The sender with a synchronous function for links. */
export interface MarketingLinks extends MarketingSender {
  linksOf(recipient: LinkRecipient): RecipientLinks;
}

export async function createMarketingLinks(marketing: MarketingSender): Promise<MarketingLinks> {
  const [tokenOf, contactTokenOf] = await Promise.all([
    createTokenMaker("unsubscribe"),
    createTokenMaker("visitor"),
  ]);
  const base = `${config.publicUrl}/api/v1/unsubscribe`;
  const linksOf = ({ sendId, to, contactId }: LinkRecipient): RecipientLinks => {
    const person = { orgId: marketing.orgId, siteId: marketing.siteId, contactId, email: to };
    const token = tokenOf({ ...person, sendId });
    const unsubscribePage = buildCustomPageUrl(marketing, token) ?? `${base}/${token}`;
    return {
      unsubscribePage,
      oneClickUnsubscribe: `${base}?token=${token}`,
      contactToken: () => contactTokenOf(person),
    };
  };
  return { ...marketing, linksOf };
}

function buildCustomPageUrl(
  { unsubscribeUrl }: MarketingSender,
  token: string,
): string | undefined {
  if (!unsubscribeUrl) return undefined;
  const url = new URL(unsubscribeUrl);
  url.searchParams.set("token", token);
  return url.href;
}

export const buildUnsubscribeHeaders = ({
  oneClickUnsubscribe,
}: RecipientLinks): Record<string, string> => ({
  "List-Unsubscribe": `<${oneClickUnsubscribe}>`,
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
});

type FooterSender = Pick<MarketingSender, "companyName" | "physicalAddress">;

/** `mergeField` is the number of the link's merge field. */
export const addHtmlFooter = (
  pieces: MergeText,
  mergeField: number,
  sender: FooterSender,
): MergeText =>
  insertBeforeBodyEnd(
    pieces,
    htmlFooter(
      sender,
      mergeField,
      detectHtmlLanguage(pieces.find((piece) => typeof piece === "string") ?? ""),
    ),
  );

const footerStyle =
  "max-width:600px;margin:32px auto 0;padding:16px;text-align:center;" +
  "font:12px/1.6 Arial,sans-serif;color:#595959;background-color:#ffffff";
const footerLinkStyle = "color:#595959;text-decoration:underline";

function htmlFooter(sender: FooterSender, mergeField: number, language: Language): MergeText {
  const lines = toFooterLines(sender).map(escapeHtml).join("<br>");
  const linkText = escapeHtml(emailFooterWording[language].unsubscribe);
  return [
    `<div style="${footerStyle}">${lines}<br><a href="`,
    mergeField,
    `" style="${footerLinkStyle}">${linkText}</a></div>`,
  ];
}

export function addTextFooter(
  pieces: MergeText,
  mergeField: number,
  { sender, html }: { sender: FooterSender; html: MergeText | undefined },
): MergeText {
  const language = detectHtmlLanguage(html?.find((piece) => typeof piece === "string") ?? "");
  const lines = toFooterLines(sender).join("\n");
  const linkText = emailFooterWording[language].unsubscribe;
  return [...pieces, `\n\n----------\n${lines}\n${linkText}: `, mergeField, "\n"];
}

const toFooterLines = ({ companyName, physicalAddress }: FooterSender): string[] =>
  [companyName, ...(physicalAddress ?? "").split(/[\r\n]+/)]
    .map((line) => line.trim())
    .filter(Boolean);
