// Checks of a rendered email: what mail programs cut, hide or do not follow. Pure functions.
import { attributeOf, type HtmlTag, scanHtml } from "./html-scanner.ts";
import { htmlToText } from "./plain-text.ts";

export type FindingSeverity = "error" | "warning" | "hint";

export interface MailFinding {
  code: string;
  severity: FindingSeverity;
  message: string;
  /** How often it is in the email. */
  count: number;
  /** Up to five of the links, images, words or variables. */
  examples: string[];
}

export interface CheckedMail {
  subject: string;
  html: string | null;
  text: string;
  /** The text part is made from the HTML. */
  isTextMade: boolean;
  /** Variables that have no value. */
  missingVariables: string[];
  /** The template shows the unsubscribe link itself. */
  hasUnsubscribeLink: boolean;
}

const gmailLimitBytes = 102 * 1024;
const longSubject = 70;
const maxExamples = 5;
const maxExampleLength = 200;

/** Errors first. */
export function checkMail(mail: CheckedMail): MailFinding[] {
  const links = openingTags(mail.html, ["a", "area"]);
  const images = openingTags(mail.html, ["img"]);
  return [
    ...checkSubject(mail.subject),
    ...checkLinks(links),
    ...checkImages(images),
    ...checkParts(mail),
    ...findingIf(!mail.hasUnsubscribeLink, unsubscribeLinkInFooter),
    ...checkWords(`${mail.subject}\n${mail.text}`),
  ].toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity));
}

const openingTags = (html: string | null, names: string[]): HtmlTag[] =>
  scanHtml(html ?? "", names).tags.filter(({ isClosing }) => !isClosing);

/** Whether recipients see one of the links: in the HTML part if there is one, else in the text. */
export function hasLinkTo(
  urls: unknown[],
  { html, text }: Pick<CheckedMail, "html" | "text">,
): boolean {
  const shown = html === null ? text : htmlToText(html);
  return urls.some((url) => typeof url === "string" && shown.includes(url));
}

const severities: FindingSeverity[] = ["error", "warning", "hint"];

type FindingKind = Pick<MailFinding, "code" | "severity" | "message">;

/** No finding without examples. */
const findingOf = (kind: FindingKind, examples: string[]): MailFinding[] =>
  examples.length
    ? [
        {
          ...kind,
          count: examples.length,
          examples: [...new Set(examples)]
            .slice(0, maxExamples)
            .map((one) => one.slice(0, maxExampleLength)),
        },
      ]
    : [];

const findingIf = (isFound: boolean, kind: FindingKind): MailFinding[] =>
  isFound ? [{ ...kind, count: 1, examples: [] }] : [];

function checkSubject(subject: string): MailFinding[] {
  const letters = subject.replace(/[^\p{L}]/gu, "");
  return [
    ...findingIf(subject.trim() === "", {
      code: "subject_empty",
      severity: "error",
      message: "The subject is empty.",
    }),
    ...findingIf(subject.length > longSubject, {
      code: "subject_long",
      severity: "hint",
      message: `The subject has ${subject.length} characters. Phones show about 40.`,
    }),
    ...findingIf(
      letters.length > 10 && letters === letters.toUpperCase() && /\p{Lu}/u.test(letters),
      {
        code: "subject_capitals",
        severity: "hint",
        message: "The subject is in capitals, which spam filters count against an email.",
      },
    ),
  ];
}

interface LinkRule extends FindingKind {
  applies(href: string): boolean;
}

/** The first rule that applies to a link names it. */
const linkRules: LinkRule[] = [
  {
    code: "link_empty",
    severity: "error",
    message: "Links have no address.",
    applies: (href) => href === "" || href === "#",
  },
  {
    code: "link_unresolved",
    severity: "error",
    message: "Links contain a placeholder that is not filled in.",
    applies: (href) => /\{\{|\}\}|\{%|%%\w+%%|\*\||\|\*|\[\[/.test(href),
  },
  {
    code: "link_unsafe",
    severity: "error",
    message: "Mail programs do not follow links with this scheme.",
    applies: (href) => /^(javascript|data|file|vbscript):/i.test(href),
  },
  {
    code: "link_without_scheme",
    severity: "error",
    message: "Links do not begin with https://, so they lead nowhere.",
    applies: (href) => !href.startsWith("#") && !/^[a-z][a-z\d+.-]*:/i.test(href),
  },
  {
    code: "link_without_host",
    severity: "error",
    message: "Links have no host.",
    applies: (href) => /^https?:/i.test(href) && !/^https?:\/\/[^/?#\s]+/i.test(href),
  },
  {
    code: "link_insecure",
    severity: "hint",
    message: "Links begin with http:// and are not encrypted.",
    applies: (href) => /^http:/i.test(href),
  },
];

// An anchor without `href` is a target, not a link.
function checkLinks(tags: HtmlTag[]): MailFinding[] {
  const links = tags.flatMap((tag) => attributeOf(tag, "href")?.trim() ?? []);
  const ruleOf = (href: string) => linkRules.find(({ applies }) => applies(href));
  return linkRules.flatMap((rule) => {
    const { applies: _, ...kind } = rule;
    return findingOf(
      kind,
      links.filter((href) => ruleOf(href) === rule),
    );
  });
}

function checkImages(images: HtmlTag[]): MailFinding[] {
  const sources = images.map((image) => attributeOf(image, "src")?.trim() ?? "");
  const named = (source: string) => source || "(no source)";
  return [
    ...findingOf(
      {
        code: "image_source_missing",
        severity: "error",
        message: "Images have no address that mail programs can load.",
      },
      sources.filter((source) => !/^(https?:\/\/[^/]|cid:|data:)/i.test(source)).map(named),
    ),
    ...findingOf(
      {
        code: "image_embedded",
        severity: "warning",
        message: "Images are inside the HTML. Gmail and Outlook do not show them.",
      },
      sources.filter((source) => /^data:/i.test(source)).map((source) => source.slice(0, 40)),
    ),
    ...findingOf(
      {
        code: "image_without_alt",
        severity: "warning",
        message:
          'Images have no alt text. Give each one, or alt="" if it only decorates the email.',
      },
      images
        .filter((image) => attributeOf(image, "alt") === undefined)
        .map((image) => named(attributeOf(image, "src")?.trim() ?? "")),
    ),
  ];
}

function checkParts(mail: CheckedMail): MailFinding[] {
  const { html, text, isTextMade, missingVariables } = mail;
  const bytes = Buffer.byteLength(html ?? "");
  const isTextEmpty = text.trim() === "";
  return [
    ...findingIf(bytes > gmailLimitBytes, {
      code: "html_too_large",
      severity: "warning",
      message:
        `The HTML has ${Math.ceil(bytes / 1024)} kB. Gmail shows the first 102 kB and hides the ` +
        "rest, with the unsubscribe link.",
    }),
    ...findingIf(html !== null && isTextEmpty, {
      code: "text_empty",
      severity: "warning",
      message: "The email has no text. Readers who do not load images see nothing.",
    }),
    ...findingIf(html !== null && isTextMade && !isTextEmpty, {
      code: "text_made_from_html",
      severity: "hint",
      message: "The plain text part is made from the HTML. Read it, or write one.",
    }),
    ...findingIf(html === null, {
      code: "html_missing",
      severity: "hint",
      message: "The email has no HTML part, so opens are not counted.",
    }),
    ...findingOf(
      {
        code: "variables_missing",
        severity: "hint",
        message: "Variables have no value in this check and no default, so they are empty.",
      },
      missingVariables,
    ),
  ];
}

const unsubscribeLinkInFooter: FindingKind = {
  code: "unsubscribe_link_in_footer",
  severity: "hint",
  message:
    "The template has no link to {{ unsubscribeUrl }}. Campaigns and sequences add the link in " +
    "the footer; single emails have none.",
};

const spamWords = new RegExp(
  `\\b(${[
    "100% free",
    "act now",
    "cash bonus",
    "click here",
    "double your",
    "earn extra cash",
    "free money",
    "guaranteed",
    "incredible deal",
    "limited time",
    "lowest price",
    "no obligation",
    "once in a lifetime",
    "risk-free",
    "special promotion",
    "urgent",
    "winner",
    "you have been selected",
  ].join("|")})\\b`,
  "gi",
);

const checkWords = (text: string): MailFinding[] =>
  findingOf(
    {
      code: "spam_words",
      severity: "hint",
      message:
        "Some spam filters count these words against an email. Links and senders weigh more.",
    },
    [...text.matchAll(spamWords)].map(([word]) => word.toLowerCase()),
  );
