// The texts of the service in German.
import type * as en from "./en.ts";

/** The texts at the end of mails. */
export const emailFooter: typeof en.emailFooter = {
  unsubscribe: "Abmelden",
  preferences: "E-Mail-Einstellungen",
  sentWith: "Gesendet mit Pennymail",
};

/** The mail that asks to confirm an address. */
export const confirmationEmail: typeof en.confirmationEmail = {
  confirm: "Ja, bestätigen",
  subject: (site) => `Bitte bestätigen Sie Ihre E-Mail-Adresse für ${site}`,
  greeting: "Guten Tag,",
  intro: (site) =>
    `diese E-Mail-Adresse wurde bei ${site} eingetragen. Wenn Sie das waren, bestätigen ` +
    "Sie sie bitte:",
  ignoreNote:
    "Wenn Sie das nicht waren, ignorieren Sie diese E-Mail. Ohne Ihre Bestätigung werden " +
    "Sie nicht angemeldet.",
};

/** The page of a link that does not work. */
export const invalidLink: typeof en.invalidLink = {
  invalidTitle: "Dieser Link funktioniert nicht",
  invalid:
    "Möglicherweise ist er unvollständig oder zu alt. Bitte öffnen Sie ihn noch einmal aus " +
    "der ursprünglichen E-Mail.",
};

/** The pages behind the unsubscribe link. */
export const unsubscribePage: typeof en.unsubscribePage = {
  askTitle: "Abmelden?",
  unsubscribeQuestion: (email, site) => `${email} erhält dann keine Neuigkeiten mehr von ${site}.`,
  unsubscribedTitle: "Sie sind abgemeldet",
  unsubscribed: (email, site) =>
    `${email} erhält keine Neuigkeiten mehr von ${site}. Bereits versendete E-Mails können ` +
    "noch eintreffen.",
  outAll: (email) => `${email} erhält von keiner Website dieses Absenders mehr Neuigkeiten.`,
  all: "Von allen E-Mails dieses Absenders abmelden",
  allWhy: "Erhalten Sie auch E-Mails von anderen Websites dieses Absenders?",
  resubscribe: "Wieder anmelden",
  resubscribeHint: "War das ein Versehen?",
  resubscribedTitle: "Schön, dass Sie wieder da sind",
  resubscribed: (email, site) => `${email} erhält wieder Neuigkeiten von ${site}.`,
  preferencesTitle: "Ihre E-Mail-Einstellungen",
  preferences: (email, site) => `Wählen Sie, welche E-Mails ${site} an ${email} senden darf.`,
  leaveTopic: (topic) => `${topic} abbestellen`,
  leaveTopicQuestion: (email, topic, site) =>
    `${email} erhält dann keine E-Mails zu ${topic} mehr von ${site}.`,
  leftTopicTitle: (topic) => `${topic} ist abbestellt`,
  topics: "E-Mails, die Sie wählen können",
  save: "Auswahl speichern",
  savedTitle: "Ihre Auswahl ist gespeichert",
  leaveSite: "Von allem abmelden",
  leaveSiteHint: (site) => `Möchten Sie gar keine E-Mails mehr von ${site} erhalten?`,
  suppressedTitle: "Diese Adresse erhält keine E-Mails",
  suppressed: (email, site) =>
    `${site} sendet keine E-Mails mehr an ${email}. Eine Abmeldung ist nicht nötig.`,
  details: "Ihre Angaben",
  saveDetails: "Angaben speichern",
  detailsSavedTitle: "Ihre Angaben sind gespeichert",
  yes: "Ja",
  no: "Nein",
  snoozeTitle: "Eine Pause machen",
  snoozeHint: (site) =>
    `Sie bleiben angemeldet und erhalten in dieser Zeit keine Neuigkeiten von ${site}.`,
  snoozeFor: "E-Mails pausieren für",
  days: (count) => `${count} Tage`,
  snooze: "E-Mails pausieren",
  snoozedTitle: "Ihre E-Mails sind pausiert",
  snoozed: (email, site, date) => `${email} erhält bis zum ${date} keine Neuigkeiten von ${site}.`,
  endSnooze: "Ab jetzt wieder E-Mails erhalten",
  reasonTitle: "Warum haben Sie sich abgemeldet?",
  reasons: {
    too_many: "Zu viele E-Mails",
    not_relevant: "Die E-Mails sind für mich nicht relevant",
    not_interested: "Ich habe kein Interesse mehr",
    never_subscribed: "Ich habe mich nie angemeldet",
    other: "Ein anderer Grund",
  },
  comment: "In Ihren Worten (optional)",
  sendReason: "Antwort senden",
  thanksForReason: "Vielen Dank für Ihre Antwort.",
};

/** Forms, and the pages that confirm a subscription. */
export const formPage: typeof en.formPage = {
  confirmTitle: "Nur noch ein Klick",
  confirmAsk: (email, site) =>
    `Bitte bestätigen Sie, dass Sie Neuigkeiten von ${site} an ${email} erhalten möchten.`,
  confirmIgnore: "Wenn Sie das nicht waren, schließen Sie diese Seite. Es wird nichts gesendet.",
  expiredTitle: "Dieser Link ist abgelaufen",
  expired: (email, site) =>
    `Er ist älter als 30 Tage, deshalb ist ${email} für ${site} noch nicht ` +
    `bestätigt. Wir können Ihnen einen neuen senden.`,
  sendAgain: "Neue E-Mail senden",
  confirmedTitle: "Vielen Dank für Ihre Bestätigung",
  confirmed: (email, site) => `${site} kann Ihnen jetzt E-Mails an ${email} senden.`,
  thanksTitle: "Vielen Dank",
  thanks: "Wir haben Ihre Angaben erhalten.",
  pendingTitle: "Bitte prüfen Sie Ihr Postfach",
  pending:
    "Wir haben Ihnen eine E-Mail mit einem Link geschickt. Öffnen Sie den Link, um Ihre " +
    "Adresse zu bestätigen.",
  inactiveTitle: "Dieses Formular ist geschlossen",
  inactive: "Zurzeit sind keine Eingaben möglich.",
  failed: "Etwas ist schiefgegangen. Bitte versuchen Sie es noch einmal.",
  busy: "Gerade kommen zu viele Einträge an. Bitte versuchen Sie es in einer Minute noch einmal.",
  captchaFailed: "Bitte bestätigen Sie, dass Sie ein Mensch sind, und senden Sie noch einmal.",
  captchaUnavailable:
    "Die Prüfung gegen Spam ist gerade nicht verfügbar. " +
    "Bitte versuchen Sie es in ein paar Minuten noch einmal.",
  email: "E-Mail",
  submit: "Absenden",
  required: "erforderlich",
  honeypot: "Dieses Feld leer lassen",
  errorSummaryTitle: "Bitte prüfen Sie Ihre Angaben",
  fieldError: (label, fault) => `${label}: ${fault}`,
};

/** Fields that a visitor or a contact fills in. */
export const fieldInput: typeof en.fieldInput = {
  choose: "Bitte wählen",
  firstName: "Vorname",
  lastName: "Nachname",
  phone: "Telefon",
  company: "Firma",
  fieldErrors: {
    required: "bitte ausfüllen",
    tick: "bitte ankreuzen",
    email: "das ist keine E-Mail-Adresse",
    number: "das ist keine Zahl",
    date: "das ist kein Datum",
    url: "das ist keine Webadresse wie https://example.com",
    choice: "bitte wählen Sie eine der Möglichkeiten",
    long: "das ist zu lang",
  },
};

/** The page that shows an email in the browser, when there is no email to show. */
export const browserView: typeof en.browserView = {
  goneTitle: "Diese E-Mail ist nicht mehr gespeichert",
  gone:
    "Wir bewahren E-Mails 60 Tage lang auf, damit Sie sie im Browser lesen können. In Ihrem " +
    "Postfach können Sie diese weiterhin lesen.",
  previewTitle: "Dieser Link funktioniert in versendeten E-Mails",
  preview:
    "Sie haben ihn in einer Vorschau oder einem Test geöffnet. Wer die E-Mail erhält, sieht sie " +
    "hier.",
};

/** Secure messages: the notice mail, and the page that shows the message. */
export const secureMessage: typeof en.secureMessage = {
  noticeFrom: (sender) =>
    `${sender} hat Ihnen eine geschützte Nachricht geschickt. Sie steht nicht in dieser ` +
    "E-Mail. Sie können sie auf einer eigenen Seite lesen:",
  noticeOpen: "Nachricht öffnen",
  noticePassphrase: "Sie benötigen das Kennwort, das Ihnen der Absender mitgeteilt hat.",
  expiryNote: (date) => `Die Nachricht kann bis zum ${date} geöffnet werden.`,
  title: "Eine geschützte Nachricht für Sie",
  from: (sender) =>
    `${sender} hat Ihnen eine Nachricht geschickt, die Sie nur auf dieser Seite lesen können.`,
  show: "Nachricht anzeigen",
  passphrase: "Kennwort",
  passphraseHint: "Der Absender hat es Ihnen mitgeteilt.",
  wrong: "Das Kennwort ist falsch. Bitte versuchen Sie es noch einmal.",
  tooMany: "Zu viele Fehlversuche. Bitte versuchen Sie es in einer Stunde noch einmal.",
  goneTitle: "Diese Nachricht ist nicht mehr verfügbar",
  gone:
    "Sie ist abgelaufen oder wurde zurückgezogen. Wenn Sie sie noch benötigen, wenden Sie sich " +
    "bitte an den Absender.",
  invalidTitle: "Dieser Link funktioniert nicht",
  invalid:
    "Möglicherweise ist er unvollständig. Bitte öffnen Sie ihn noch einmal aus der " +
    "ursprünglichen E-Mail.",
  frameTitle: "Die Nachricht",
  sentBy: (sender) => `Von ${sender}.`,
  files: "Dateien",
  filesHint: "Die Links gelten eine Stunde. Öffnen Sie danach die Nachricht noch einmal.",
};

/** Error pages. */
export const errorPage: typeof en.errorPage = {
  busyTitle: "Gerade nicht verfügbar",
  busy: "Bitte warten Sie einen Moment, gehen Sie dann zurück und versuchen Sie es noch einmal.",
  largeTitle: "Ihre Eingabe ist zu lang",
  large: "Bitte gehen Sie zurück und kürzen Sie sie.",
  wrongTitle: "Das hat nicht geklappt",
  wrong:
    "Ihre Anfrage konnte nicht verarbeitet werden. Bitte gehen Sie zurück und versuchen Sie " +
    "es noch einmal.",
  goneTitle: "Seite nicht gefunden",
  gone:
    "Möglicherweise ist der Link unvollständig oder zu alt. Bitte öffnen Sie noch einmal den " +
    "vollständigen Link.",
  oursTitle: "Etwas ist schiefgegangen",
  ours: "Das Problem liegt bei uns. Bitte versuchen Sie es in einigen Minuten noch einmal.",
  reference: "Referenz",
};

/** The pages that verify an email address. */
export const emailVerification: typeof en.emailVerification = {
  title: "E-Mail-Adresse bestätigen",
  question: (email) => `Haben Sie sich mit ${email} registriert? Dann bestätigen Sie die Adresse.`,
  verify: "Bestätigen",
  doneTitle: "Ihre E-Mail-Adresse ist bestätigt",
  done: "Sie können jetzt E-Mails versenden.",
  invalidTitle: "Dieser Link funktioniert nicht mehr",
  invalid:
    "Er wurde bereits verwendet, ist älter als 24 Stunden oder unvollständig. Wenn Sie noch " +
    "nicht versenden können, melden Sie sich an und fordern Sie einen neuen Link an.",
};

/** The password reset pages. */
export const passwordReset: typeof en.passwordReset = {
  resetTitle: "Neues Passwort festlegen",
  newPassword: "Neues Passwort",
  passwordRule:
    "Mindestens 10 Zeichen. Danach werden Sie überall abgemeldet und müssen sich neu anmelden.",
  apiKeys: (count) => `Von Ihnen erstellte API-Schlüssel gelten weiter (${count}):`,
  revokeApiKeys: "Alle widerrufen. Wählen Sie das, wenn jemand anderes sie kennen könnte.",
  save: "Neues Passwort speichern",
  tooShort: "Das Passwort muss 10 bis 200 Zeichen lang sein.",
  weak: "Dieses Passwort ist leicht zu erraten. Bitte wählen Sie ein anderes, etwa einige Wörter.",
  doneTitle: "Ihr neues Passwort ist gespeichert",
  passwordSet: "Sie wurden überall abgemeldet. Melden Sie sich mit Ihrem neuen Passwort an.",
  invalidTitle: "Dieser Link funktioniert nicht mehr",
  invalid:
    "Er wurde bereits verwendet, ist älter als eine Stunde oder unvollständig. Geben Sie " +
    "Ihre E-Mail-Adresse ein, um einen neuen Link zu erhalten.",
  askTitle: "Passwort vergessen?",
  ask:
    "Geben Sie Ihre E-Mail-Adresse ein. Wir senden Ihnen einen Link, mit dem Sie ein neues " +
    "Passwort festlegen können.",
  email: "E-Mail",
  send: "Link anfordern",
  invalidEmail: "Bitte geben Sie eine gültige E-Mail-Adresse ein.",
  sentTitle: "Bitte prüfen Sie Ihr Postfach",
  linkSent:
    "Wenn es zu dieser Adresse ein Konto gibt, ist eine E-Mail unterwegs. Der Link darin " +
    "gilt eine Stunde.",
};

/** The invitation pages. */
export const invitation: typeof en.invitation = {
  title: (organization) => `${organization} beitreten`,
  invited: (inviter, email) => `${inviter} hat ${email} eingeladen.`,
  hasAccount:
    "Zu dieser Adresse gibt es ein Konto. Geben Sie das Passwort ein, um die Einladung anzunehmen.",
  password: "Passwort",
  forgot: "Passwort vergessen?",
  name: "Ihr Name (freiwillig)",
  newPassword: "Passwort wählen",
  passwordRule: "Mindestens 10 Zeichen.",
  join: "Beitreten",
  joinWithSso: "Mit Single Sign-on beitreten",
  wrongPassword: "Das ist nicht das Passwort des Kontos. Bitte versuchen Sie es noch einmal.",
  tooShort: "Das Passwort muss 10 bis 200 Zeichen lang sein.",
  weak: "Dieses Passwort ist leicht zu erraten. Bitte wählen Sie ein anderes, etwa einige Wörter.",
  tooMany: "Zu viele Fehlversuche. Bitte warten Sie 15 Minuten und versuchen Sie es dann erneut.",
  codeTitle: "Code eingeben",
  codeFromApp: "Geben Sie den Code Ihrer Authenticator-App oder einen Wiederherstellungscode ein.",
  codeFromMail:
    "Wir haben Ihnen einen Code per E-Mail geschickt. Geben Sie ihn oder einen " +
    "Wiederherstellungscode ein.",
  code: "Code",
  wrongCode:
    "Dieser Code ist falsch oder wurde bereits verwendet. Bitte versuchen Sie es noch einmal.",
  doneTitle: (organization) => `Sie sind jetzt Mitglied von ${organization}`,
  done: "Sie sind angemeldet.",
  logInWithSso: "Mit Single Sign-on anmelden",
  alreadyTitle: "Sie sind bereits Mitglied",
  already: "Es ist nichts weiter zu tun.",
  invalidTitle: "Diese Einladung funktioniert nicht mehr",
  invalid:
    "Sie wurde angenommen oder zurückgezogen, ist älter als sieben Tage oder der Link ist " +
    "unvollständig. Bitten Sie die Person, die Sie eingeladen hat, um eine neue.",
};

/** The pages of single sign-on. */
export const sso: typeof en.sso = {
  startTitle: (organization) => `Bei ${organization} anmelden`,
  start: "Weiter zur Anmeldung",
  failedTitle: "Die Anmeldung hat nicht geklappt",
  reason: "Grund",
  again: "Noch einmal versuchen",
};

/** The links at the end of account pages. */
export const wayOn: typeof en.wayOn = {
  logIn: "Anmelden",
  openConsole: "Konsole öffnen",
};

/** The list of the public archive. */
export const archivePage: typeof en.archivePage = {
  title: (name: string) => `${name}: Newsletter-Archiv`,
  older: "Ältere E-Mails",
  newest: "Neueste E-Mails",
  feed: "RSS-Feed",
  none: "Es wurde noch keine E-Mail veröffentlicht.",
  noSubject: "Kein Betreff",
};
