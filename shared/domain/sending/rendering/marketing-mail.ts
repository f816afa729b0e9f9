// Additions to marketing mail: List-Unsubscribe headers (RFC 2369, RFC 8058), and a footer with the
// sender and an unsubscribe link. The link is a merge field, so that all recipients share the
// footer and batch calls still work.
import { config } from "../../../config.ts";
import { insertBeforeBodyEnd } from "../../../email/html-footer.ts";
import { directionOf, type Language } from "../../../email/languages.ts";
import { emailFooterWording } from "../../../email/wording/by-topic.ts";
import { invalid } from "../../../errors.ts";
import { toAsciiAddress } from "../../../kernel/email-fields.ts";
import { escapeHtml } from "../../../kernel/html.ts";
import type { MergeText } from "../../../providers/provider-adapter.ts";
import { traitsOf } from "../../../providers/traits.ts";
import { createTokenMaker } from "../../audience/contacts/link-tokens.ts";
import * as compliance from "../../identity/compliance.ts";
import { displayNameOf, type Site } from "../../identity/sites.ts";
import type { MailSource } from "../mail-sources.ts";
import { buildBrowserLink, createBrowserLinkBuilder } from "./browser-links.ts";

/** The sender of marketing mail as stored with its content, with the settings at acceptance. */
export interface MarketingSender {
  orgId: number;
  siteId: number;
  companyName: string;
  physicalAddress: string | null;
  /** The organization's own unsubscribe page. */
  unsubscribeUrl: string | null;
  /** The address of the site to which a mail program can send a mail to unsubscribe. */
  unsubscribeAddress?: string;
  /** The topic that one-click unsubscribe leaves. Absent: it leaves all marketing mail. */
  topicId?: number;
  /** The mail goes to contacts who unsubscribed too, so nothing of it offers that. */
  isNotice?: true;
}

/**
 * Throws 400 `physical_address_missing` when the organization requires a physical address and there
 * is none.
 */
export async function requireMarketingSender(orgId: number, site: Site): Promise<MarketingSender> {
  const settings = await compliance.getCompliance(orgId);
  const { unsubscribeUrl, enabled } = settings;
  const postalAddress = postalAddressOf(site, settings);
  if (enabled && !postalAddress) throw physicalAddressMissing();
  return {
    orgId,
    siteId: site.id,
    companyName: displayNameOf(site),
    physicalAddress: postalAddress,
    unsubscribeUrl,
    ...(site.inbound?.address && { unsubscribeAddress: site.inbound.address }),
  };
}

/** The address of the site, else that of the organization. */
const postalAddressOf = (
  site: Site,
  { physicalAddress }: Pick<compliance.Compliance, "physicalAddress">,
): string | null => site.physicalAddress?.trim() || physicalAddress;

/** The value of `{{ postalAddress }}` in marketing mail of the site. */
export async function getAddressLine(orgId: number, site: Site): Promise<string> {
  const settings = await compliance.getCompliance(orgId);
  return toAddressLine({ physicalAddress: postalAddressOf(site, settings) });
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
  /** The language of the mail. */
  locale?: string | undefined;
}

export interface RecipientLinks {
  /** The page that asks the recipient to confirm: the organization's own, if it has one. */
  unsubscribePage: string;
  /** The page with the topics of the site. */
  preferencePage: string;
  /** For mail programs. */
  oneClickUnsubscribe: string;
  /** The same, for programs that send a mail. Undefined: the site receives none. */
  mailtoUnsubscribe?: string | undefined;
  /** The page that shows the mail in a browser. */
  browserPage(): string;
  /** Identifies the contact to the tracking of the site's own pages. */
  contactToken(): string;
}

/** The sender with a synchronous function for links. */
export interface MarketingLinks extends MarketingSender {
  linksOf(recipient: LinkRecipient): RecipientLinks;
}

export async function createMarketingLinks(marketing: MarketingSender): Promise<MarketingLinks> {
  const [tokenOf, contactTokenOf, browserPageOf] = await Promise.all([
    createTokenMaker("unsubscribe"),
    createTokenMaker("visitor"),
    createBrowserLinkBuilder(marketing.orgId),
  ]);
  const linksOf = ({ sendId, to, contactId, locale }: LinkRecipient): RecipientLinks => {
    const { orgId, siteId, topicId } = marketing;
    const person = { orgId, siteId, contactId, email: to };
    return buildLinks(marketing, {
      token: tokenOf({ ...person, sendId, topicId, locale }),
      contactToken: () => contactTokenOf(person),
      browserPage: () => browserPageOf(sendId),
    });
  };
  return { ...marketing, linksOf };
}

/** The links with this text in place of each token. */
export const createLinksWithoutToken = (
  marketing: MarketingSender,
  text: string,
): MarketingLinks => ({
  ...marketing,
  linksOf: () =>
    buildLinks(marketing, {
      token: text,
      contactToken: () => text,
      browserPage: () => buildBrowserLink(text),
    }),
});

function buildLinks(
  marketing: MarketingSender,
  { token, ...links }: { token: string } & Pick<RecipientLinks, "contactToken" | "browserPage">,
): RecipientLinks {
  const base = `${config.publicUrl}/api/v1/unsubscribe`;
  const unsubscribePage = `${base}/${token}`;
  return {
    unsubscribePage: buildCustomPageUrl(marketing, token) ?? unsubscribePage,
    preferencePage: `${unsubscribePage}?view=preferences`,
    oneClickUnsubscribe: `${base}?token=${token}`,
    mailtoUnsubscribe: buildMailto(marketing, token),
    ...links,
  };
}

/** The first word of the subject of a mail that unsubscribes. The token follows. */
export const unsubscribeWord = "unsubscribe";

function buildMailto({ unsubscribeAddress }: MarketingSender, token: string): string | undefined {
  if (unsubscribeAddress === undefined) return undefined;
  const address = toAsciiAddress(unsubscribeAddress);
  const at = address.lastIndexOf("@");
  const to = `${encodeURIComponent(address.slice(0, at))}${address.slice(at)}`;
  return `mailto:${to}?subject=${unsubscribeWord}%20${token}`;
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
  mailtoUnsubscribe,
}: Pick<RecipientLinks, "oneClickUnsubscribe" | "mailtoUnsubscribe">): Record<string, string> => ({
  "List-Unsubscribe": [oneClickUnsubscribe, mailtoUnsubscribe]
    .flatMap((link) => (link === undefined ? [] : `<${link}>`))
    .join(", "),
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
});

/** At the right of Gmail's Feedback-ID: the same in all mail, with 5 to 15 characters. */
const feedbackSenderId = "pennymail";

/**
 * Headers that all recipients of a mail share. Gmail counts complaints by each part of the
 * Feedback-ID on its own, so each part says what its number is.
 */
export function buildMarketingHeaders({
  orgId,
  site,
  source,
  config: { provider },
}: {
  orgId: number;
  site: Pick<Site, "id">;
  source: MailSource;
  config: { provider: string };
}): Record<string, string> {
  const parts = [`${source.kind}-${source.id}`, `site-${site.id}`, `org-${orgId}`];
  return {
    ...(!traitsOf(provider).setsFeedbackId && {
      "Feedback-ID": [...parts, feedbackSenderId].join(":"),
    }),
    Precedence: "bulk",
    "X-Auto-Response-Suppress": "OOF, AutoReply",
  };
}

/** What the links of a footer lead to. The footer has one merge field for each. */
type FooterLink = "unsubscribePage" | "preferencePage";

/** What is added at the end of a body. Both lists are empty if the mail needs nothing. */
export interface MailFooter {
  /** The company and its address. */
  lines: string[];
  links: FooterLink[];
  language: Language;
}

/** Leaves out what the mail shows itself. Only mail on a topic links to the preferences. */
export const buildFooter = (
  { companyName, physicalAddress, topicId, isNotice }: MarketingSender,
  { hasAddress, hasUnsubscribeLink }: { hasAddress: boolean; hasUnsubscribeLink: boolean },
): Omit<MailFooter, "language"> => ({
  lines: hasAddress ? [] : toLines(`${companyName}\n${physicalAddress ?? ""}`),
  links:
    hasUnsubscribeLink || isNotice
      ? []
      : ["unsubscribePage", ...(topicId ? (["preferencePage"] as const) : [])],
});

/** The postal address in one line. Empty if there is none. */
export const toAddressLine = ({
  physicalAddress,
}: Pick<MarketingSender, "physicalAddress">): string => toLines(physicalAddress ?? "").join(", ");

const toLines = (text: string): string[] =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter(Boolean);

interface FooterFields {
  footer: MailFooter;
  /** The number of the first of its merge fields. */
  mergeField: number;
}

/** The text and the merge field of each link. */
function listFooterLinks({ footer, mergeField }: FooterFields): [string, number][] {
  const { unsubscribe, preferences } = emailFooterWording[footer.language];
  const texts = { unsubscribePage: unsubscribe, preferencePage: preferences };
  return footer.links.map((link, i) => [texts[link], mergeField + i]);
}

const isEmpty = ({ lines, links }: MailFooter): boolean => !lines.length && !links.length;

/** `mergeField` is the number of the first merge field of the links. */
export function addHtmlFooter(
  pieces: MergeText,
  mergeField: number,
  footer: MailFooter,
): MergeText {
  if (isEmpty(footer)) return pieces;
  return insertBeforeBodyEnd(pieces, htmlFooter({ footer, mergeField }));
}

const footerStyle =
  "max-width:600px;margin:32px auto 0;padding:16px;text-align:center;" +
  "font:12px/1.6 Arial,sans-serif;color:#595959;background-color:#ffffff";
const footerLinkStyle = "color:#595959;text-decoration:underline";

function htmlFooter(fields: FooterFields): MergeText {
  const lines = fields.footer.lines.map(escapeHtml).join("<br>");
  const links = listFooterLinks(fields).flatMap(([text, mergeField], i) => [
    `${i ? " &nbsp; " : ""}<a href="`,
    mergeField,
    `" style="${footerLinkStyle}">${escapeHtml(text)}</a>`,
  ]);
  const lineBreak = lines && links.length ? "<br>" : "";
  const direction = directionOf(fields.footer.language) === "rtl" ? ' dir="rtl"' : "";
  return [`<div${direction} style="${footerStyle}">${lines}${lineBreak}`, ...links, "</div>"];
}

export function addTextFooter(
  pieces: MergeText,
  mergeField: number,
  footer: MailFooter,
): MergeText {
  if (isEmpty(footer)) return pieces;
  const lines = footer.lines.map((line) => `${line}\n`).join("");
  const links = listFooterLinks({ footer, mergeField });
  return [
    ...pieces,
    `\n\n----------\n${lines}`,
    ...links.flatMap(([text, field]) => [`${text}: `, field, "\n"]),
  ];
}
