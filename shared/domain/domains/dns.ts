// The DNS records that a domain should have: ours, which proves whose it is, and those that the providers of its mail ask for. Where a
// value depends on the account at the provider, only the provider can tell it; then what is there is checked for its form.
import type { RecordType } from "../../doors/dns-records.ts";

export const purposes = ["ownership", "dkim", "spf", "dmarc", "return_path"] as const;
export type Purpose = (typeof purposes)[number];

export interface Wanted {
  purpose: Purpose;
  /** Who asks for it; null: everybody. */
  provider: string | null;
  type: Extract<RecordType, "TXT" | "CNAME" | "MX">;
  /** null: as the account at the provider shows. */
  name: string | null;
  /** null: as the account at the provider shows. */
  value: string | null;
  /** Without it the domain is not verified. */
  required: boolean;
  note: string | null;
  /** Other values that are right, and what those end in that only the account shows. */
  also?: RegExp;
}

export interface Named {
  name: string;
  token: string;
  /** Selectors that the owner told us. */
  dkimSelectors: string[];
}

/** `providers`: those of the organization's sending configs. */
export function wanted(domain: Named, providers: string[]): Wanted[] {
  const told = domain.dkimSelectors.map((selector) => selected(domain.name, selector));
  return [
    ownership(domain),
    ...told,
    ...providers.flatMap((provider) =>
      (asks[provider]?.(domain.name) ?? []).filter(({ purpose, name }) => !(told.length && purpose === "dkim" && !name)),
    ),
    policyOf(domain.name, [...new Set(providers.flatMap((provider) => includes[provider] ?? []))]),
    dmarcOf(domain.name),
  ];
}

const ownership = ({ name, token }: Named): Wanted => ({
  purpose: "ownership",
  provider: null,
  type: "TXT",
  name: `_pennymail.${name}`,
  value: `pennymail-verification=${token}`,
  required: true,
  note: "Proves that the domain is yours: leave it there",
});

const shown = (provider: string, what: string): string => `${what} as your account at ${provider} shows`;

const dkim = (provider: string, domain: string, selector: string | null, more: Partial<Wanted> = {}): Wanted => ({
  purpose: "dkim",
  provider,
  type: "TXT",
  name: selector === null ? null : `${selector}._domainkey.${domain}`,
  value: null,
  required: false,
  note:
    selector === null
      ? `${shown(provider, "Name and value")}; name its selector in dkimSelectors to have it looked after`
      : shown(provider, "Value"),
  ...more,
});

const selected = (domain: string, selector: string): Wanted => ({
  purpose: "dkim",
  provider: null,
  type: "TXT",
  name: `${selector}._domainkey.${domain}`,
  value: null,
  required: false,
  note: "A DKIM key, or a CNAME to one",
});

const returnPath = (provider: string, name: string | null, more: Partial<Wanted>): Wanted => ({
  purpose: "return_path",
  provider,
  type: "CNAME",
  name,
  value: null,
  required: false,
  note:
    name === null
      ? `${shown(provider, "Name and value")}, if you use a return path of your own`
      : "Bounces go there; SPF is aligned with your domain",
  ...more,
});

const cname = { type: "CNAME" } as const;

/** By provider: what its documentation asks for in 2026. */
const asks: Record<string, (domain: string) => Wanted[]> = {
  sendgrid: (domain) => [
    ...["s1", "s2"].map((selector) => dkim("sendgrid", domain, selector, { ...cname, also: /\.sendgrid\.net$/ })),
    returnPath("sendgrid", null, {}),
  ],
  ses: (domain) => [dkim("ses", domain, null, cname), returnPath("ses", null, { type: "MX" })],
  postmark: (domain) => [dkim("postmark", domain, null), returnPath("postmark", `pm-bounces.${domain}`, { value: "pm.mtasv.net" })],
  mailgun: (domain) => [dkim("mailgun", domain, null)],
  sparkpost: (domain) => [
    dkim("sparkpost", domain, null),
    returnPath("sparkpost", `bounces.${domain}`, { value: "sparkpostmail.com", also: /^eu\.sparkpostmail\.com$/ }),
  ],
  brevo: (domain) => ["brevo1", "brevo2"].map((selector) => dkim("brevo", domain, selector, { ...cname, also: /\.brevo\.com$/ })),
  mailjet: (domain) => [dkim("mailjet", domain, "mailjet")],
  mandrill: (domain) => [1, 2].map((n) => dkim("mandrill", domain, `mte${n}`, { ...cname, value: `dkim${n}.mandrillapp.com`, note: null })),
  resend: (domain) => [
    dkim("resend", domain, "resend"),
    returnPath("resend", `send.${domain}`, {
      type: "MX",
      also: /^feedback-smtp\.[a-z0-9-]+\.amazonses\.com$/,
      note: "feedback-smtp of your region, as your account at resend shows",
    }),
  ],
  smtp2go: (domain) => [dkim("smtp2go", domain, null, cname), returnPath("smtp2go", null, { value: "return.smtp2go.net" })],
};

/** Providers whose return path is the domain itself, so that its SPF must name them. */
const includes: Record<string, string> = { mailgun: "mailgun.org", mailjet: "spf.mailjet.com" };

const policyOf = (domain: string, named: string[]): Wanted => ({
  purpose: "spf",
  provider: null,
  type: "TXT",
  name: domain,
  value: ["v=spf1", ...named.map((one) => `include:${one}`), "~all"].join(" "),
  required: false,
  note: "Where there is an SPF record already, add to it what is missing: a domain may have one only",
});

const dmarcOf = (domain: string): Wanted => ({
  purpose: "dmarc",
  provider: null,
  type: "TXT",
  name: `_dmarc.${domain}`,
  value: "v=DMARC1; p=none;",
  required: false,
  note: "To begin with; quarantine or reject once all your mail passes. One at the organizational domain holds too",
});
