// The texts of the service in English. Each language has such a file, with the same exports: a text
// that one of them lacks does not compile. wording.ts has them by topic.

/** The texts at the end of mails. */
export const emailFooter = {
  unsubscribe: "Unsubscribe",
  preferences: "Email preferences",
  sentWith: "Sent with Pennymail",
};

/** The mail that asks to confirm an address. */
export const confirmationEmail = {
  confirm: "Yes, confirm",
  subject: (site: string) => `Please confirm your email address for ${site}`,
  greeting: "Hello,",
  intro: (site: string) =>
    `This email address was entered at ${site}. If it was you, please confirm it:`,
  ignoreNote:
    "If it was not you, ignore this email. Without your confirmation you will not be subscribed.",
};

/** The page of a link that does not work. */
export const invalidLink = {
  invalidTitle: "This link does not work",
  invalid: "It may be incomplete or too old. Please open it again from the original email.",
};

/** The pages behind the unsubscribe link. */
export const unsubscribePage = {
  askTitle: "Unsubscribe?",
  unsubscribeQuestion: (email: string, site: string) =>
    `${email} will no longer receive news from ${site}.`,
  unsubscribedTitle: "You are unsubscribed",
  unsubscribed: (email: string, site: string) =>
    `${email} will no longer receive news from ${site}. Emails that are already on their ` +
    "way may still arrive.",
  outAll: (email: string) => `${email} will no longer receive news from any site of this sender.`,
  all: "Unsubscribe from all emails of this sender",
  allWhy: "Do other sites of this sender send you emails too?",
  resubscribe: "Subscribe again",
  resubscribeHint: "Unsubscribed by mistake?",
  resubscribedTitle: "Welcome back",
  resubscribed: (email: string, site: string) => `${email} will receive news from ${site} again.`,
  preferencesTitle: "Your email preferences",
  preferences: (email: string, site: string) => `Choose which emails ${site} may send to ${email}.`,
  leaveTopic: (topic: string) => `Unsubscribe from ${topic}`,
  leaveTopicQuestion: (email: string, topic: string, site: string) =>
    `${email} will no longer receive emails about ${topic} from ${site}.`,
  leftTopicTitle: (topic: string) => `You are unsubscribed from ${topic}`,
  topics: "Emails that you can choose",
  save: "Save choices",
  savedTitle: "Your choices are saved",
  leaveSite: "Unsubscribe from everything",
  leaveSiteHint: (site: string) => `Would you like no more emails from ${site} at all?`,
  suppressedTitle: "This address does not receive emails",
  suppressed: (email: string, site: string) =>
    `${site} no longer sends emails to ${email}, so there is nothing to unsubscribe from.`,
  details: "Your details",
  saveDetails: "Save details",
  detailsSavedTitle: "Your details are saved",
  yes: "Yes",
  no: "No",
  snoozeTitle: "Take a break",
  snoozeHint: (site: string) => `You stay subscribed, and get no news from ${site} for that time.`,
  snoozeFor: "Pause emails for",
  days: (count: number) => `${count} days`,
  snooze: "Pause emails",
  snoozedTitle: "Your emails are paused",
  snoozed: (email: string, site: string, date: string) =>
    `${email} gets no news from ${site} until ${date}.`,
  endSnooze: "Get emails again now",
  reasonTitle: "Why did you unsubscribe?",
  reasons: {
    too_many: "Too many emails",
    not_relevant: "The emails are not relevant to me",
    not_interested: "I am no longer interested",
    never_subscribed: "I never subscribed",
    other: "Another reason",
  },
  comment: "Your words (optional)",
  sendReason: "Send answer",
  thanksForReason: "Thank you for your answer.",
};

/** Forms, and the pages that confirm a subscription. */
export const formPage = {
  confirmTitle: "Just one more click",
  confirmAsk: (email: string, site: string) =>
    `Please confirm that you would like to receive news from ${site} at ${email}.`,
  confirmIgnore: "If this was not you, close this page. Nothing will be sent.",
  expiredTitle: "This link has expired",
  expired: (email: string, site: string) =>
    `It is older than 30 days, so ${email} is not confirmed for ${site} ` +
    `yet. We can send you a new one.`,
  sendAgain: "Send a new email",
  confirmedTitle: "Thank you for confirming",
  confirmed: (email: string, site: string) => `${site} can now send emails to ${email}.`,
  thanksTitle: "Thank you",
  thanks: "Your details have been received.",
  pendingTitle: "Please check your inbox",
  pending: "We have sent you an email with a link. Open the link to confirm your address.",
  inactiveTitle: "This form is closed",
  inactive: "It is not accepting entries at the moment.",
  failed: "Something went wrong. Please try again.",
  busy: "Too many entries are coming in right now. Please try again in a minute.",
  captchaFailed: "Please confirm that you are human, then send again.",
  captchaUnavailable:
    "The check against spam is not available right now. Please try again in a few minutes.",
  email: "Email",
  submit: "Send",
  required: "required",
  honeypot: "Leave this field empty",
  errorSummaryTitle: "Please check what you entered",
  fieldError: (label: string, fault: string) => `${label}: ${fault}`,
};

/** Fields that a visitor or a contact fills in. */
export const fieldInput = {
  choose: "Please choose",
  firstName: "First name",
  lastName: "Last name",
  phone: "Phone",
  company: "Company",
  fieldErrors: {
    required: "please fill this in",
    tick: "please tick this box",
    email: "this is not an email address",
    number: "this is not a number",
    date: "this is not a date",
    url: "this is not a web address such as https://example.com",
    choice: "please choose one of the options",
    long: "this is too long",
  },
};

/** The page that shows an email in the browser, when there is no email to show. */
export const browserView = {
  goneTitle: "This email is no longer stored",
  gone:
    "We keep emails for 60 days, so that you can read them in the browser. You can still read " +
    "this one in your mailbox.",
  previewTitle: "This link works in sent emails",
  preview: "You opened it from a preview or a test. The people who get the email see it here.",
};

/** Secure messages: the notice mail, and the page that shows the message. */
export const secureMessage = {
  noticeFrom: (sender: string) =>
    `${sender} has sent you a protected message. It is not in this email. You can read it ` +
    "on a separate page:",
  noticeOpen: "Open the message",
  noticePassphrase: "You will need the passphrase that the sender gave you.",
  expiryNote: (date: string) => `The message can be opened until ${date}.`,
  title: "A protected message for you",
  from: (sender: string) => `${sender} has sent you a message that you can read only on this page.`,
  show: "Show the message",
  passphrase: "Passphrase",
  passphraseHint: "The sender gave it to you.",
  wrong: "The passphrase is wrong. Please try again.",
  tooMany: "Too many failed attempts. Please try again in an hour.",
  goneTitle: "This message is no longer available",
  gone: "It has expired or was withdrawn. If you still need it, please contact the sender.",
  invalidTitle: "This link does not work",
  invalid: "It may be incomplete. Please open it again from the original email.",
  frameTitle: "The message",
  sentBy: (sender: string) => `From ${sender}.`,
  files: "Files",
  filesHint: "The links work for one hour. Then open the message again.",
};

/** Error pages. */
export const errorPage = {
  busyTitle: "Not available right now",
  busy: "Please wait a moment, then go back and try again.",
  largeTitle: "Your entry is too long",
  large: "Please go back and shorten it.",
  wrongTitle: "That did not work",
  wrong: "Your request could not be processed. Please go back and try again.",
  goneTitle: "Page not found",
  gone: "The link may be incomplete or too old. Please open the complete link again.",
  oursTitle: "Something went wrong",
  ours: "The problem is on our side. Please try again in a few minutes.",
  reference: "Reference",
};

/** The pages that verify an email address. */
export const emailVerification = {
  title: "Verify your email address",
  question: (email: string) => `Did you sign up with ${email}? Then verify the address.`,
  verify: "Verify",
  doneTitle: "Your email address is verified",
  done: "You can now send email.",
  invalidTitle: "This link no longer works",
  invalid:
    "It was already used, is more than 24 hours old or is incomplete. If you still cannot send, " +
    "log in and request a new link.",
};

/** The password reset pages. */
export const passwordReset = {
  resetTitle: "Set a new password",
  newPassword: "New password",
  passwordRule: "At least 10 characters. You will be logged out everywhere and must log in again.",
  apiKeys: (count: number) => `API keys that you created still work (${count}):`,
  revokeApiKeys: "Revoke all of them. Choose this if somebody else may know them.",
  save: "Save the new password",
  tooShort: "The password must have 10 to 200 characters.",
  weak: "This password is too easy to guess. Please choose another one, such as a few words.",
  doneTitle: "Your new password is set",
  passwordSet: "You have been logged out everywhere. Log in with your new password.",
  invalidTitle: "This link no longer works",
  invalid:
    "It was already used, is more than an hour old or is incomplete. Enter your email " +
    "address to get a new link.",
  askTitle: "Forgot your password?",
  ask: "Enter your email address, and we will send you a link to set a new password.",
  email: "Email",
  send: "Send me a link",
  invalidEmail: "Please enter a valid email address.",
  sentTitle: "Please check your inbox",
  linkSent:
    "If an account exists for this address, an email is on its way. The link in it works for " +
    "one hour.",
};

/** The invitation pages. */
export const invitation = {
  title: (organization: string) => `Join ${organization}`,
  invited: (inviter: string, email: string) => `${inviter} invited ${email}.`,
  hasAccount: "This address has an account. Enter its password to join.",
  password: "Password",
  forgot: "Forgot your password?",
  name: "Your name (optional)",
  newPassword: "Choose a password",
  passwordRule: "At least 10 characters.",
  join: "Join",
  joinWithSso: "Join with single sign-on",
  wrongPassword: "This is not the password of the account. Please try again.",
  tooShort: "The password must have 10 to 200 characters.",
  weak: "This password is too easy to guess. Please choose another one, such as a few words.",
  tooMany: "Too many failed attempts. Please wait 15 minutes and try again.",
  codeTitle: "Enter your code",
  codeFromApp: "Enter the code of your authenticator app, or a recovery code.",
  codeFromMail: "We sent you a code by email. Enter it, or a recovery code.",
  code: "Code",
  wrongCode: "This code is wrong or was already used. Please try again.",
  doneTitle: (organization: string) => `You are now a member of ${organization}`,
  done: "You are logged in.",
  logInWithSso: "Log in with single sign-on",
  alreadyTitle: "You are already a member",
  already: "There is nothing left to do.",
  invalidTitle: "This invitation no longer works",
  invalid:
    "It was accepted or revoked, is more than seven days old, or the link is incomplete. Ask " +
    "the person who invited you for a new one.",
};

/** The pages of single sign-on. */
export const sso = {
  startTitle: (organization: string) => `Log in to ${organization}`,
  start: "Continue to the login",
  failedTitle: "The login did not work",
  reason: "Reason",
  again: "Try again",
};

/** The links at the end of account pages. */
export const wayOn = {
  logIn: "Log in",
  openConsole: "Open the console",
};

/** The list of the public archive. */
export const archivePage = {
  title: (name: string) => `${name}: newsletter archive`,
  older: "Older emails",
  newest: "Newest emails",
  feed: "RSS feed",
  none: "No email has been published yet.",
  noSubject: "No subject",
};
