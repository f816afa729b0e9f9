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
  /** The topic that one-click unsubscribe leaves. Absent: it leaves all marketing mail. */
  topicId?: number;
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
  /** The page that asks the recipient to confirm: the organization's own, if it has one. */
  unsubscribePage: string;
  /** The page with the topics of the site. */
  preferencePage: string;
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
  const linksOf = ({ sendId, to, contactId }: LinkRecipient): RecipientLinks => {
    const { orgId, siteId, topicId } = marketing;
    const person = { orgId, siteId, contactId, email: to };
    const token = tokenOf({ ...person, sendId, topicId });
    return buildLinks(marketing, token, () => contactTokenOf(person));
  };
  return { ...marketing, linksOf };
}

/** The links with this text in place of each token. */
export const createLinksWithoutToken = (
  marketing: MarketingSender,
  text: string,
): MarketingLinks => ({
  ...marketing,
  linksOf: () => buildLinks(marketing, text, () => text),
});

function buildLinks(
  marketing: MarketingSender,
  token: string,
  contactToken: () => string,
): RecipientLinks {
  const base = `${config.publicUrl}/api/v1/unsubscribe`;
  const preferencePage = `${base}/${token}`;
  return {
    unsubscribePage: buildCustomPageUrl(marketing, token) ?? preferencePage,
    preferencePage,
    oneClickUnsubscribe: `${base}?token=${token}`,
    contactToken,
  };
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

type FooterSender = Pick<
  MarketingSender,
  "companyName" | "physicalAddress" | "unsubscribeUrl" | "topicId"
>;

/** What the links of a footer lead to. The footer has one merge field for each. */
type FooterLink = "unsubscribePage" | "preferencePage";

/** Without an own page of the organization, both links of a footer lead to the same page. */
export const listFooterFields = ({ topicId, unsubscribeUrl }: FooterSender): FooterLink[] =>
  topicId && unsubscribeUrl ? ["unsubscribePage", "preferencePage"] : ["unsubscribePage"];

interface FooterFields {
  sender: FooterSender;
  /** The number of the first of its merge fields. */
  mergeField: number;
  language: Language;
}

/** The text and the merge field of each link. Only mail on a topic links to the preferences. */
function listFooterLinks({ sender, mergeField, language }: FooterFields): [string, number][] {
  const { unsubscribe, preferences } = emailFooterWording[language];
  const unsubscribeLink: [string, number] = [unsubscribe, mergeField];
  const last = mergeField + listFooterFields(sender).length - 1;
  return sender.topicId ? [unsubscribeLink, [preferences, last]] : [unsubscribeLink];
}

const languageOf = (pieces: MergeText | undefined): Language =>
  detectHtmlLanguage(pieces?.find((piece) => typeof piece === "string") ?? "");

/** `mergeField` is the number of the first merge field of the links. */
export const addHtmlFooter = (
  pieces: MergeText,
  mergeField: number,
  sender: FooterSender,
): MergeText =>
  insertBeforeBodyEnd(pieces, htmlFooter({ sender, mergeField, language: languageOf(pieces) }));

const footerStyle =
  "max-width:600px;margin:32px auto 0;padding:16px;text-align:center;" +
  "font:12px/1.6 Arial,sans-serif;color:#595959;background-color:#ffffff";
const footerLinkStyle = "color:#595959;text-decoration:underline";

function htmlFooter(fields: FooterFields): MergeText {
  const lines = toFooterLines(fields.sender).map(escapeHtml).join("<br>");
  const links = listFooterLinks(fields).flatMap(([text, mergeField], i) => [
    `${i ? " &nbsp; " : ""}<a href="`,
    mergeField,
    `" style="${footerLinkStyle}">${escapeHtml(text)}</a>`,
  ]);
  return [`<div style="${footerStyle}">${lines}<br>`, ...links, "</div>"];
}

export function addTextFooter(
  pieces: MergeText,
  mergeField: number,
  { sender, html }: { sender: FooterSender; html: MergeText | undefined },
): MergeText {
  const lines = toFooterLines(sender).join("\n");
  const links = listFooterLinks({ sender, mergeField, language: languageOf(html) });
  return [
    ...pieces,
    `\n\n----------\n${lines}\n`,
    ...links.flatMap(([text, field]) => [`${text}: `, field, "\n"]),
  ];
}

const toFooterLines = ({ companyName, physicalAddress }: FooterSender): string[] =>
  [companyName, ...(physicalAddress ?? "").split(/[\r\n]+/)]
    .map((line) => line.trim())
    .filter(Boolean);
