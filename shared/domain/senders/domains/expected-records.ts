// The DNS records that a domain should have: our ownership record, and those that its providers
// need.
// Some values depend on the account at the provider; then only the format of the record is checked.
import type { DnsRecordType } from "../../../adapters/dns/records.ts";
import { domainOf } from "../../../kernel/email-fields.ts";
import type { ProviderRecord } from "../../../providers/connect/connector.ts";
import { agreementRecordName, toReportUri } from "./report-address.ts";

export const recordPurposes = [
  "ownership",
  "dkim",
  "spf",
  "dmarc",
  "dmarc_reports",
  "return_path",
  "verification",
  "tracking",
] as const;
export type RecordPurpose = (typeof recordPurposes)[number];

export interface ExpectedRecord {
  purpose: RecordPurpose;
  /** The provider that needs the record; null: needed for every provider. */
  provider: string | null;
  type: Extract<DnsRecordType, "TXT" | "CNAME" | "MX">;
  /** Null: only the account at the provider shows it. */
  name: string | null;
  /** Null: only the account at the provider shows it. */
  value: string | null;
  /** Whether the domain cannot be verified without the record. */
  required: boolean;
  note: string | null;
  /** Page of the provider that shows name and value. */
  link?: string | undefined;
  /** Other correct values, such as the end of a value that only the account shows. */
  alsoAccepted?: RegExp;
}

export interface DomainIdentity {
  name: string;
  token: string;
  /** Selectors that the customer has entered. */
  dkimSelectors: string[];
  /** Records that the API of a provider has named, by its key. They replace the documented ones. */
  providerRecords?: Record<string, ProviderRecord[]>;
}

/**
 * `providers` are those that send from the domain. `reportAddress` receives DMARC reports.
 */
export function expectedRecords(
  domain: DomainIdentity,
  providers: string[],
  reportAddress?: string,
): ExpectedRecord[] {
  const selectorRecords = domain.dkimSelectors.map((selector) =>
    selectorRecord(domain.name, selector),
  );
  return [
    ownershipRecord(domain),
    ...selectorRecords,
    ...providers.flatMap((provider) => {
      const named = domain.providerRecords?.[provider];
      if (named) return namedRecords(provider, domain.name, named);
      return (providerRecords[provider]?.(domain.name) ?? []).filter(
        ({ purpose, name }) => !(selectorRecords.length && purpose === "dkim" && !name),
      );
    }),
    spfRecord(domain.name, [
      ...new Set(providers.flatMap((provider) => spfIncludesOf(provider, domain))),
    ]),
    dmarcRecord(domain.name, reportAddress),
    ...agreementRecords(domain.name, reportAddress),
  ];
}

/** The SPF record of the domain itself is shared by all providers: see `spfRecord`. */
const namedRecords = (
  provider: string,
  domain: string,
  named: ProviderRecord[],
): ExpectedRecord[] =>
  named
    .filter(({ purpose, name }) => !(purpose === "spf" && name === domain))
    .map((record) => ({
      ...record,
      provider,
      required: false,
      note: notesByPurpose[record.purpose] ?? null,
    }));

const notesByPurpose: Partial<Record<RecordPurpose, string>> = {
  verification: "Proves to the provider that the domain is yours: keep this record",
  tracking: "Lets tracked links and opens use your domain",
};

function spfIncludesOf(provider: string, { name, providerRecords: named }: DomainIdentity) {
  const include = spfIncludes[provider];
  const isForOtherName =
    named?.[provider] !== undefined &&
    !named[provider].some((record) => record.purpose === "spf" && record.name === name);
  return include && !isForOtherName ? [include] : [];
}

const ownershipRecord = ({ name, token }: DomainIdentity): ExpectedRecord => ({
  purpose: "ownership",
  provider: null,
  type: "TXT",
  name: `_pennymail.${name}`,
  value: `pennymail-verification=${token}`,
  required: true,
  note: "Proves that the domain belongs to your organization: keep this record",
});

/**
 * The page on which each provider shows the records of an account, and the format of its DKIM
 * records if the selector differs by account.
 */
const accounts: Record<string, { link: string; dkim?: (domain: string) => string }> = {
  sendgrid: { link: "https://app.sendgrid.com/settings/sender_auth" },
  ses: {
    link: "https://docs.aws.amazon.com/ses/latest/dg/send-email-authentication-dkim-easy.html",
    dkim: (domain) =>
      `three, each <token>._domainkey.${domain} with the value <token>.dkim.amazonses.com`,
  },
  postmark: {
    link: "https://account.postmarkapp.com/signature_domains",
    dkim: (domain) => `<date>pm._domainkey.${domain} with a value k=rsa;p=<key>`,
  },
  mailgun: {
    link: "https://app.mailgun.com/mg/sending/domains",
    dkim: (domain) => `<selector>._domainkey.${domain} with a value k=rsa; p=<key>`,
  },
  sparkpost: {
    link: "https://app.sparkpost.com/domains/list/sending",
    dkim: (domain) =>
      `scph<date>._domainkey.${domain} with a value v=DKIM1; k=rsa; h=sha256; p=<key>`,
  },
  brevo: { link: "https://app.brevo.com/senders/domain/list" },
  mailjet: { link: "https://app.mailjet.com/account/sender" },
  mandrill: { link: "https://mandrillapp.com/settings/sending-domains" },
  resend: { link: "https://resend.com/domains" },
  smtp2go: {
    link: "https://app.smtp2go.com/sending/verified_senders/",
    dkim: (domain) => `s<number>._domainkey.${domain} with the value dkim.smtp2go.net`,
  },
};

const asAccountShows = (provider: string, what: string): string =>
  `${what}: see your account at ${provider}`;

function dkimNote(provider: string, domain: string, selector: string | null): string {
  if (selector !== null) return asAccountShows(provider, "Value");
  const form = accounts[provider]?.dkim?.(domain);
  return (
    `${asAccountShows(provider, "Name and value")}${form ? `: ${form}` : ""}. Name its ` +
    "selector in dkimSelectors to have it checked"
  );
}

const dkimRecord = (
  provider: string,
  { domain, selector }: { domain: string; selector: string | null },
  overrides: Partial<ExpectedRecord> = {},
): ExpectedRecord => ({
  purpose: "dkim",
  provider,
  type: "TXT",
  name: selector === null ? null : `${selector}._domainkey.${domain}`,
  value: null,
  required: false,
  note: dkimNote(provider, domain, selector),
  link: accounts[provider]?.link,
  ...overrides,
});

const selectorRecord = (domain: string, selector: string): ExpectedRecord => ({
  purpose: "dkim",
  provider: null,
  type: "TXT",
  name: `${selector}._domainkey.${domain}`,
  value: null,
  required: false,
  note: "A DKIM key, or a CNAME to one",
});

const returnPathRecord = (
  provider: string,
  name: string | null,
  overrides: Partial<ExpectedRecord>,
): ExpectedRecord => ({
  purpose: "return_path",
  provider,
  type: "CNAME",
  name,
  value: null,
  required: false,
  note:
    name === null
      ? `${asAccountShows(provider, "Name and value")}, if you use a return path of your own`
      : "Receives bounces, and aligns SPF with your domain",
  link: accounts[provider]?.link,
  ...overrides,
});

const cname = { type: "CNAME" } as const;

/** Records that each provider's documentation requires (2026). */
const providerRecords: Record<string, (domain: string) => ExpectedRecord[]> = {
  sendgrid: (domain) => [
    ...["s1", "s2"].map((selector) =>
      dkimRecord("sendgrid", { domain, selector }, { ...cname, alsoAccepted: /\.sendgrid\.net$/ }),
    ),
    returnPathRecord("sendgrid", null, {}),
  ],
  ses: (domain) => [
    dkimRecord("ses", { domain, selector: null }, cname),
    returnPathRecord("ses", null, { type: "MX" }),
  ],
  postmark: (domain) => [
    dkimRecord("postmark", { domain, selector: null }),
    returnPathRecord("postmark", `pm-bounces.${domain}`, { value: "pm.mtasv.net" }),
  ],
  mailgun: (domain) => [dkimRecord("mailgun", { domain, selector: null })],
  sparkpost: (domain) => [
    dkimRecord("sparkpost", { domain, selector: null }),
    returnPathRecord("sparkpost", `bounces.${domain}`, {
      value: "sparkpostmail.com",
      alsoAccepted: /^eu\.sparkpostmail\.com$/,
    }),
  ],
  brevo: (domain) =>
    ["brevo1", "brevo2"].map((selector) =>
      dkimRecord("brevo", { domain, selector }, { ...cname, alsoAccepted: /\.brevo\.com$/ }),
    ),
  mailjet: (domain) => [dkimRecord("mailjet", { domain, selector: "mailjet" })],
  mandrill: (domain) =>
    [1, 2].map((n) =>
      dkimRecord(
        "mandrill",
        { domain, selector: `mte${n}` },
        {
          ...cname,
          value: `dkim${n}.mandrillapp.com`,
          note: null,
        },
      ),
    ),
  resend: (domain) => [
    dkimRecord("resend", { domain, selector: "resend" }),
    returnPathRecord("resend", `send.${domain}`, {
      type: "MX",
      alsoAccepted: /^feedback-smtp\.[a-z0-9-]+\.amazonses\.com$/,
      note: "feedback-smtp of your region: see your account at resend",
    }),
  ],
  smtp2go: (domain) => [
    dkimRecord("smtp2go", { domain, selector: null }, cname),
    returnPathRecord("smtp2go", null, { value: "return.smtp2go.net" }),
  ],
};

/**
 * Providers that use the domain itself as return path, so that its SPF record must include them.
 */
const spfIncludes: Record<string, string> = { mailgun: "mailgun.org", mailjet: "spf.mailjet.com" };

/**
 * Without such a provider no SPF record is proposed: a new one could make receivers reject other
 * mail of the domain.
 */
const spfRecord = (domain: string, includeHosts: string[]): ExpectedRecord => ({
  purpose: "spf",
  provider: null,
  type: "TXT",
  name: domain,
  value: includeHosts.length ? withIncludes("v=spf1 ~all", includeHosts) : null,
  required: false,
  note: includeHosts.length
    ? "A domain may have one SPF record only: change the one that is there, and name whoever " +
      "else sends for the domain"
    : "Your providers need nothing here",
});

/** Inserts includes before the final `all` or `redirect`. */
export function withIncludes(record: string, missing: string[]): string {
  const terms = record.trim().split(/ +/);
  const endIndex = terms.findIndex((term) => /^([+~?-]?all|redirect=.*)$/i.test(term));
  return terms
    .toSpliced(
      endIndex < 0 ? terms.length : endIndex,
      0,
      ...missing.map((host) => `include:${host}`),
    )
    .join(" ");
}

const dmarcRecord = (domain: string, reportAddress: string | undefined): ExpectedRecord => ({
  purpose: "dmarc",
  provider: null,
  type: "TXT",
  name: `_dmarc.${domain}`,
  value: `v=DMARC1; p=none;${reportAddress ? ` rua=${toReportUri(reportAddress)}` : ""}`,
  required: false,
  note:
    "A starting point: change it to quarantine or reject when all your mail passes. A record " +
    "at the organizational domain also counts",
});

/** The domain of the report address agrees to receive reports about another domain. */
function agreementRecords(domain: string, reportAddress: string | undefined): ExpectedRecord[] {
  const name = reportAddress && agreementRecordName(domain, reportAddress);
  if (!name) return [];
  const receiver = domainOf(reportAddress);
  return [
    {
      purpose: "dmarc_reports",
      provider: null,
      type: "TXT",
      name,
      value: "v=DMARC1",
      required: false,
      note: `Lets ${receiver} receive the DMARC reports: add it to the DNS of ${receiver}`,
    },
  ];
}
