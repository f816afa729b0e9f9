// Role addresses, which do not belong to a person: those of RFC 2142 and common ones of companies.
const roles = new Set(
  `abuse accounting accounts admin administrator all billing booking bookings career careers
  compliance contact contacts customerservice customersupport cs devnull dns donotreply
  do-not-reply editor enquiries enquiry everyone feedback finance ftp fundraising general hello
  help helpdesk hi hostmaster hr info information inquiries inquiry invest investorrelations
  invoice invoices ir it jobs legal list list-request mail mailer-daemon mailerdaemon maildaemon
  marketing me media news newsletter no-reply noc noreply notification notifications null office
  operations ops orders order partners payments payroll ping phish phishing post postbox
  postmaster pr press privacy promo purchasing recruiting recruitment registration remove reply
  request reservations returns root sales security service services shop spam staff store studio
  subscribe subscriptions sysadmin support team tech test trouble undisclosed-recipients
  unsubscribe usenet uucp webmaster welcome www`.split(/\s+/),
);

/** `local` is the part before the @. Ignores a suffix after a plus. */
export const isRoleAccount = (local: string): boolean =>
  roles.has(local.toLowerCase().split("+")[0]!);
