// What the console says about an error of the API: without paths, names of fields and settings, and
// in the language of the person.
import type { errorMeanings } from "../../error-codes.ts";
import { language, t } from "../language/translate.ts";

/** The last three are of the SDK: the service did not answer as it should. */
type Code = keyof typeof errorMeanings | "connection_failed" | "timeout" | "unexpected_response";

/** A code without its text does not compile. */
export const codeTexts: Record<Code, string> = {
  allowance_moved: t("Too many emails were charged at the same time. Try again in a moment."),
  already_enabled: t("An authenticator app is set up already. Turn it off before you add another."),
  already_member: t("This person is a member already. Change the role in the list of members."),
  already_resent: t("This campaign was sent again to these people already."),
  already_revoked: t("Nobody can read this message any more: it was revoked before."),
  already_verified: t("Your email address is confirmed already."),
  campaign_running: t(
    "This campaign still sends. Cancel it first, and delete it after its last email.",
  ),
  campaign_status: t("The campaign is in another state by now. Reload the page to see it."),
  captcha_failed: t("The CAPTCHA was not solved, or too long ago. Solve it again."),
  captcha_unavailable: t("The CAPTCHA does not answer. Try again in a few minutes."),
  changed_meanwhile: t("Your plan changed meanwhile. Look at the new price and confirm it again."),
  checkout_required: t("There is no subscription yet. Choose a plan and pay for it first."),
  conflict: t("This is not possible in the present state. Reload the page to see what changed."),
  connection_failed: t("The service cannot be reached. Check your connection and try again."),
  contact_merged: t("This contact was merged into another one."),
  contended: t("Too many changes were made at the same time. Try again in a moment."),
  domain_taken: t("Another organization has verified this domain. It must be deleted there first."),
  domain_not_verified: t("Verify this domain under Domains first."),
  external_id_exists: t("Another contact has this external id."),
  draft_changed: t("Somebody else has changed this draft meanwhile. Reload it to see the change."),
  email_exists: t("There is a contact with this address already."),
  email_not_verified: t("Confirm your email address first: open the link that we sent you."),
  email_taken: t("There is an account with this address already. Sign in, or reset the password."),
  forbidden: t("You are not allowed to do this. Ask an owner or admin of your organization."),
  form_inactive: t("This form takes no entries now. Switch it on first."),
  holiday_running: t("This holiday email is being sent. Cancel it first."),
  idempotency_in_progress: t("The same request is still running. Wait a moment."),
  idempotency_mismatch: t(
    "This was tried before with other values. Reload the page and try again.",
  ),
  in_use: t("Something uses it, so it was not deleted."),
  internal: t("Something went wrong here. Try again. If it fails again, report the request below."),
  invalid_csv: t("The file is not valid CSV."),
  invalid_form: t("The file could not be read. Choose exactly one file."),
  invalid_json: t("The text has characters that cannot be stored."),
  invalid_token: t("The link was used before or has expired. Ask for a new one."),
  invitation_exists: t("This person has an invitation already. Send it again from the list."),
  last_owner: t("This is the only owner. Make somebody else an owner first."),
  limit_exceeded: t("That is more than one request may have. Do it in smaller parts."),
  list_exists: t("There is a list with this name already. Use it, or choose another name."),
  merge_in_progress: t("The history of a merged contact is still moving. Try again in a moment."),
  method_not_allowed: t("The console and the service do not fit together. Reload the page."),
  method_unavailable: t(
    "Codes by email are not turned on. Use your authenticator app or a recovery code.",
  ),
  no_organization: t("You are not a member of an organization. Ask somebody to invite you."),
  no_sending_config: t("No sender can send from this address. Add one under Settings, Senders."),
  no_subscription: t("There is no subscription."),
  not_configured: t("This is not set up on this installation. Ask the person who operates it."),
  not_pending: t("This contact does not wait for a confirmation."),
  not_found: t("This does not exist any more. Somebody may have deleted it."),
  origin_forbidden: t("The console was opened at an address that this installation does not know."),
  password_required: t("You signed in more than 10 minutes ago. Enter your password, too."),
  payload_too_large: t("That is too large. Make it smaller, or do it in parts."),
  payment_failed: t("The card was declined. Add another one under Billing."),
  payment_required: t(
    "The emails of this month are used up. Buy credits, or choose a larger plan.",
  ),
  physical_address_missing: t(
    "Marketing email must show your postal address. Enter it under Settings, Compliance.",
  ),
  plan_unchanged: t("You have this plan already."),
  provider_refused: t("The provider refused this."),
  rate_limited: t("Too many attempts in a short time. Wait a minute and try again."),
  scope_missing: t("The API key does not have the right to do this."),
  sequence_archived: t("The sequence is archived. Open it again before you add people."),
  session_required: t("Sign in with your email address and password to do this."),
  second_factor_off: t("Turn on a second step for signing in first."),
  setup_needed: t("Start again: the set-up of the authenticator app has expired."),
  signature_invalid: t("The signature is not valid."),
  signup_closed: t("This installation takes no new organizations. Ask for an invitation."),
  site_deleted: t("This site was deleted."),
  site_forbidden: t("You have no access to this site."),
  site_has_sends: t("Emails were sent from this site, so it cannot be deleted."),
  sso_failed: t("Single sign-on failed."),
  sso_not_verified: t("Sign in once with single sign-on before you require it."),
  sso_required: t("Your organization requires single sign-on."),
  sso_session: t("You signed in with single sign-on. Sign in with your password to do this."),
  snippet_changed: t("Somebody else has changed this snippet meanwhile. Reload it first."),
  snippet_cycle: t("The snippet would contain itself."),
  snippet_exists: t("There is a snippet with this name already. Choose another name."),
  steps_changed: t("Somebody else has changed the steps meanwhile. Reload them first."),
  subscription_exists: t("You have a subscription already. Change its plan."),
  tag_exists: t("There is a tag with this name already. Use it, or choose another name."),
  template_changed: t("Somebody else has changed this template meanwhile. Reload it first."),
  timeout: t("The service did not answer in time. Look whether it was done before you try again."),
  too_many: t("You have 10,000 of these, which is the limit. Delete some that nobody uses."),
  too_many_rules: t("This site has the largest number of scoring rules. Delete one first."),
  too_many_sequences: t("20 active sequences start in this way already. Pause one of them first."),
  too_many_variants: t("The campaign has the largest number of variants. Delete one first."),
  topic_exists: t("There is a topic with this name already. Use it, or choose another name."),
  unauthorized: t("You are signed out. Sign in again."),
  unavailable: t("The service is busy or a part of it is down. Try again in a moment."),
  unexpected_response: t("Something between you and the service answered. Try again later."),
  unsupported_media_type: t("Files of this type are not taken here."),
  upstream: t("The provider does not answer. Try again later."),
  url_taken: t("There is a webhook with this address already."),
  validation_failed: t("Something in the form is missing or not valid."),
  feed_unavailable: t("The feed could not be read."),
  variables_missing: t("Some variables of the email have no value."),
  wrong_code: t("The code is wrong or has expired. Enter the newest one."),
  wrong_passphrase: t("The passphrase is wrong."),
  wrong_password: t("The password is wrong."),
};

/** The message of the API says more than the code: what a bank, provider or file said. */
const codesWithReason: ReadonlySet<string> = new Set<Code>([
  "campaign_status",
  "conflict",
  "feed_unavailable",
  "forbidden",
  "invalid_csv",
  "limit_exceeded",
  "payload_too_large",
  "payment_failed",
  "provider_refused",
  "snippet_cycle",
  "sso_failed",
  "unavailable",
  "upstream",
  "validation_failed",
  "variables_missing",
]);

/** Methods, paths, names of fields such as `scheduledAt` and of settings, and words of programs. */
const apiName = new RegExp(
  [
    String.raw`\b(GET|POST|PUT|PATCH|DELETE)\b|/api/`,
    String.raw`\b[a-z]+[A-Z]\w*\b|\b[A-Z]+_[A-Z_]+\b`,
    String.raw`\b(null|true|false|array|object|UUID|IANA)\b`,
  ].join("|"),
);

const asSentence = (text: string): string =>
  text && `${text[0]!.toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

/** One or two sentences for the person about a failed request. */
export function errorText({ code, message }: { code: string; message: string }): string {
  const text = codeTexts[code as Code] ?? codeTexts.internal;
  if (!codesWithReason.has(code) || apiName.test(message)) return text;
  return language === "en"
    ? asSentence(message)
    : t("{text} The reason: {message}", { text, message: asSentence(message) });
}

/** Whether `details` are fields that are wrong. Those of `in_use` are what uses a record. */
export const namesFields = ({ code }: { code: string }): boolean =>
  ["limit_exceeded", "validation_failed", "variables_missing"].includes(code);

const count = String.raw`(-?[\d,.]+)`;
/** Messages of the validation, without the name of the field, and what the console says. */
const fieldTexts: readonly [RegExp, (found: string[]) => string][] = [
  [/^is required$|^must not be empty$|^needs /, () => t("Fill in this field.")],
  [
    /^must be (one|a) valid email address/,
    () => t("Enter an email address, such as ann@example.com."),
  ],
  [/^must be an IANA time zone/, () => t("Choose a time zone, such as Europe/Berlin.")],
  [/^must not be in the past|^must be in the future/, () => t("Choose a time in the future.")],
  [/^must not be in the future/, () => t("Choose a time in the past.")],
  [/^must be at most 30 days ahead/, () => t("Choose a time within the next 30 days.")],
  [/^must begin with https:/, () => t("Enter an address that begins with https://.")],
  [
    /^must be (a URL|an http\(s\) URL|an absolute URL)/,
    () => t("Enter an address, such as https://www.example.com."),
  ],
  [
    /^must name a public (address|host)/,
    () => t("Enter an address that everybody can reach, not one of a private network."),
  ],
  [
    /^The address of the server is not allowed/,
    () => t("The service must not connect to the address of this server."),
  ],
  [
    /^The server could not be reached: (.*)$/,
    ([reason]) => t("The server could not be reached: {reason}", { reason }),
  ],
  [
    /^The server refused the login: (.*)$/,
    ([reason]) => t("The server refused the login: {reason}", { reason }),
  ],
  [
    /^The folder (?:for read email )?could not be (?:opened|used): (.*)$/,
    ([reason]) => t("The folder could not be opened: {reason}", { reason }),
  ],
  [
    /^The server (?:stopped while it was read|did not return an email): (.*)$/,
    ([reason]) => t("The server failed to return an email: {reason}", { reason }),
  ],
  [
    /^is required if host, port, tls or user change$/,
    () => t("Enter the password again, because the server or user has changed."),
  ],
  [
    /^must be the JSON file/,
    () =>
      t(
        "This is not the key of a service account. Enter the whole JSON file that Google gave you.",
      ),
  ],
  [
    /^private_key must be/,
    () => t("The key in this file is damaged. Create a new JSON key at Google, and enter it."),
  ],
  [
    /^Google refused: (invalid_grant.*)$/,
    ([reason]) =>
      t("Google does not know this key any more. Create a new one. Google says: {reason}", {
        reason,
      }),
  ],
  [
    /^Google refused: (unauthorized_client.*)$/,
    ([reason]) =>
      t(
        "The account may not act for this user. Delegate both scopes to it. Google says: {reason}",
        { reason },
      ),
  ],
  [
    /^Google refused: .*(has not been used|is disabled)/,
    () =>
      t(
        "The Gmail Postmaster Tools API is not enabled in the account's project. Enable it, wait " +
          "some minutes, and try again.",
      ),
  ],
  [/^Google refused: (.*)$/, ([reason]) => t("Google refused: {reason}", { reason })],
  [
    /^Google did not respond: (.*)$/,
    ([reason]) => t("Google did not respond: {reason}", { reason }),
  ],
  [/^must be a domain name/, () => t("Enter a domain, such as shop.example.")],
  [/^must be a colour/, () => t("Enter a colour, such as #1f5fbf.")],
  [/^must be a language tag/, () => t("Enter a language, such as de or pt-BR.")],
  [/^must be a (date|time)/, () => t("Enter a date or time that exists.")],
  [/^must be one line/, () => t("Enter one line only.")],
  [
    new RegExp(`^must have at most ${count} characters?`),
    ([limit]) => t("Enter at most {limit} characters.", { limit }),
  ],
  [
    new RegExp(`^must have at least ${count} characters?`),
    ([limit]) => t("Enter at least {limit} characters.", { limit }),
  ],
  [
    new RegExp(`^must have at most ${count} (?:items?|fields?|headers|names|conditions)`),
    ([limit]) => t("At most {limit} are possible.", { limit }),
  ],
  [
    new RegExp(`^must be a(?: whole)? number from ${count} to ${count}$`),
    ([from, to]) => t("Enter a number from {from} to {to}.", { from, to }),
  ],
  [
    new RegExp(`^must be (?:a(?: whole)? number, )?at least ${count}$`),
    ([limit]) => t("Enter a number that is at least {limit}.", { limit }),
  ],
  [
    new RegExp(`^must be (?:a(?: whole)? number, )?at most ${count}$`),
    ([limit]) => t("Enter a number that is at most {limit}.", { limit }),
  ],
  [/^must be a whole number$/, () => t("Enter a whole number.")],
  [/^must be a number/, () => t("Enter a number.")],
  [/^must be one of|^is unknown$/, () => t("Choose one of the values that are offered.")],
  [
    /^contains (characters that are not allowed|one of)/,
    () => t("This has characters that are not allowed here."),
  ],
  [
    /^contains your name/,
    () => t("Choose a password without your name, your address and the name of this service."),
  ],
];

/** What is wrong with one field. `path` starts the message of the API. */
export function fieldText({ path, message }: { path: string; message: string }): string {
  const bare = message.startsWith(path) ? message.slice(path.length).replace(/^:? /, "") : message;
  for (const [pattern, textOf] of fieldTexts) {
    const found = pattern.exec(bare);
    if (found) return textOf(found.slice(1));
  }
  if (apiName.test(bare) || /^must (be a (text|list)$|not be given)/.test(bare))
    return t("This value is not possible here.");
  return language === "en"
    ? asSentence(bare.replace(/^(?=(must|can|cannot|has|contains)\b)/, "This "))
    : t("This value is not possible here. The reason: {message}", { message: asSentence(bare) });
}

/** Why a row of an import is refused. The message of the API starts with the field. */
export function rowErrorText(message: string): string {
  const [, path, problem] = /^([\w.]+): (.+)$/s.exec(message) ?? [];
  if (!path || !problem) return asSentence(message);
  return `${fieldName(path) ?? path}: ${fieldText({ path, message: problem })}`;
}

const fieldNames: Record<string, string> = {
  credentials: t("Access data of the provider"),
  customFields: t("Fields"),
  email: t("Email"),
  firstName: t("First name"),
  fromEmail: t("Sender address"),
  fromName: t("Sender name"),
  lastName: t("Last name"),
  listIds: t("Lists"),
  name: t("Name"),
  password: t("Password"),
  phone: t("Phone"),
  previewText: t("Preview text"),
  rules: t("Rules"),
  scheduledAt: t("Time of sending"),
  segmentId: t("Segment"),
  subject: t("Subject"),
  tags: t("Tags"),
  templateId: t("Template"),
  timezone: t("Time zone"),
  topicId: t("Topic"),
  url: t("Address"),
};

/** The field of a message, in the words of the forms. Undefined: the console has no name for it. */
export function fieldName(path: string): string | undefined {
  const [first = "", ...rest] = path.split(".");
  // Customers name these themselves.
  if (["customFields", "variables"].includes(first) && rest.length > 0) return rest.join(".");
  return fieldNames[first];
}
