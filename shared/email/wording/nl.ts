// The texts of the service in Dutch.
import type * as en from "./en.ts";

/** The texts at the end of mails. */
export const emailFooter: typeof en.emailFooter = {
  unsubscribe: "Afmelden",
  preferences: "E-mailvoorkeuren",
  sentWith: "Verzonden met Pennymail",
};

/** The mail that asks to confirm an address. */
export const confirmationEmail: typeof en.confirmationEmail = {
  confirm: "Ja, bevestigen",
  subject: (site) => `Bevestig uw e-mailadres voor ${site}`,
  greeting: "Goedendag,",
  intro: (site) =>
    `Dit e-mailadres is ingevuld bij ${site}. Als u dat was, bevestig het dan alstublieft:`,
  ignoreNote:
    "Als u dat niet was, kunt u deze e-mail negeren. Zonder uw bevestiging wordt u niet aangemeld.",
};

/** The page of a link that does not work. */
export const invalidLink: typeof en.invalidLink = {
  invalidTitle: "Deze link werkt niet",
  invalid: "De link is mogelijk onvolledig of te oud. Open hem opnieuw vanuit de e-mail.",
};

/** The pages behind the unsubscribe link. */
export const unsubscribePage: typeof en.unsubscribePage = {
  askTitle: "Afmelden?",
  unsubscribeQuestion: (email, site) => `${email} ontvangt dan geen nieuws meer van ${site}.`,
  unsubscribedTitle: "U bent afgemeld",
  unsubscribed: (email, site) =>
    `${email} ontvangt geen nieuws meer van ${site}. E-mails die al verzonden zijn, kunnen nog ` +
    "aankomen.",
  outAll: (email) => `${email} ontvangt van geen enkele site van deze afzender nog nieuws.`,
  all: "Afmelden voor alle e-mails van deze afzender",
  allWhy: "Ontvangt u ook e-mails van andere sites van deze afzender?",
  resubscribe: "Opnieuw aanmelden",
  resubscribeHint: "Was dit een vergissing?",
  resubscribedTitle: "Welkom terug",
  resubscribed: (email, site) => `${email} ontvangt weer nieuws van ${site}.`,
  preferencesTitle: "Uw e-mailvoorkeuren",
  preferences: (email, site) => `Kies welke e-mails ${site} naar ${email} mag sturen.`,
  leaveTopic: (topic) => `Afmelden voor ${topic}`,
  leaveTopicQuestion: (email, topic, site) =>
    `${email} ontvangt dan geen e-mails over ${topic} meer van ${site}.`,
  leftTopicTitle: (topic) => `U bent afgemeld voor ${topic}`,
  topics: "E-mails waaruit u kunt kiezen",
  save: "Keuzes opslaan",
  savedTitle: "Uw keuzes zijn opgeslagen",
  leaveSite: "Voor alles afmelden",
  leaveSiteHint: (site) => `Wilt u helemaal geen e-mails meer van ${site} ontvangen?`,
  suppressedTitle: "Dit adres ontvangt geen e-mails",
  suppressed: (email, site) =>
    `${site} stuurt geen e-mails meer naar ${email}. Afmelden is dus niet nodig.`,
  details: "Uw gegevens",
  saveDetails: "Gegevens opslaan",
  detailsSavedTitle: "Uw gegevens zijn opgeslagen",
  yes: "Ja",
  no: "Nee",
  snoozeTitle: "Even pauze",
  snoozeHint: (site) => `U blijft aangemeld en ontvangt in die tijd geen nieuws van ${site}.`,
  snoozeFor: "E-mails pauzeren voor",
  days: (count) => `${count} dagen`,
  snooze: "E-mails pauzeren",
  snoozedTitle: "Uw e-mails zijn gepauzeerd",
  snoozed: (email, site, date) => `${email} ontvangt tot ${date} geen nieuws van ${site}.`,
  endSnooze: "Weer e-mails ontvangen",
  reasonTitle: "Waarom hebt u zich afgemeld?",
  reasons: {
    too_many: "Te veel e-mails",
    not_relevant: "De e-mails zijn niet relevant voor mij",
    not_interested: "Ik heb geen interesse meer",
    never_subscribed: "Ik heb me nooit aangemeld",
    other: "Een andere reden",
  },
  comment: "Uw toelichting (optioneel)",
  sendReason: "Antwoord versturen",
  thanksForReason: "Bedankt voor uw antwoord.",
};

/** Forms, and the pages that confirm a subscription. */
export const formPage: typeof en.formPage = {
  confirmTitle: "Nog één klik",
  confirmAsk: (email, site) => `Bevestig dat u nieuws van ${site} wilt ontvangen op ${email}.`,
  confirmIgnore: "Als u dit niet was, sluit u deze pagina. Er wordt niets verzonden.",
  expiredTitle: "Deze link is verlopen",
  expired: (email, site) =>
    `Hij is ouder dan 30 dagen, dus ${email} is nog niet bevestigd voor ` +
    `${site}. We kunnen u een nieuwe sturen.`,
  sendAgain: "Nieuwe e-mail sturen",
  confirmedTitle: "Bedankt voor uw bevestiging",
  confirmed: (email, site) => `${site} kan nu e-mails sturen naar ${email}.`,
  thanksTitle: "Bedankt",
  thanks: "Wij hebben uw gegevens ontvangen.",
  pendingTitle: "Controleer uw inbox",
  pending: "Wij hebben u een e-mail met een link gestuurd. Open de link om uw adres te bevestigen.",
  inactiveTitle: "Dit formulier is gesloten",
  inactive: "Op dit moment kunt u niets insturen.",
  failed: "Er is iets misgegaan. Probeer het opnieuw.",
  busy: "Er komen nu te veel inzendingen binnen. Probeer het over een minuut opnieuw.",
  captchaFailed: "Bevestig dat u een mens bent en verstuur opnieuw.",
  captchaUnavailable:
    "De controle op spam is op dit moment niet beschikbaar. " +
    "Probeer het over een paar minuten opnieuw.",
  email: "E-mailadres",
  submit: "Versturen",
  required: "verplicht",
  honeypot: "Laat dit veld leeg",
  errorSummaryTitle: "Controleer uw gegevens",
  fieldError: (label, fault) => `${label}: ${fault}`,
};

/** Fields that a visitor or a contact fills in. */
export const fieldInput: typeof en.fieldInput = {
  choose: "Maak een keuze",
  firstName: "Voornaam",
  lastName: "Achternaam",
  phone: "Telefoon",
  company: "Bedrijf",
  fieldErrors: {
    required: "vul dit in",
    tick: "vink dit vakje aan",
    email: "dit is geen e-mailadres",
    number: "dit is geen getal",
    date: "dit is geen datum",
    url: "dit is geen webadres zoals https://example.com",
    choice: "kies een van de opties",
    long: "dit is te lang",
  },
};

/** The page that shows an email in the browser, when there is no email to show. */
export const browserView: typeof en.browserView = {
  goneTitle: "Deze e-mail is niet meer opgeslagen",
  gone:
    "Wij bewaren e-mails 60 dagen, zodat u ze in de browser kunt lezen. In uw mailbox kunt u " +
    "deze nog steeds lezen.",
  previewTitle: "Deze link werkt in verzonden e-mails",
  preview:
    "U hebt hem geopend vanuit een voorbeeld of een test. Wie de e-mail ontvangt, ziet hem hier.",
};

/** Secure messages: the notice mail, and the page that shows the message. */
export const secureMessage: typeof en.secureMessage = {
  noticeFrom: (sender) =>
    `${sender} heeft u een beveiligd bericht gestuurd. Het staat niet in deze e-mail. U kunt ` +
    "het op een aparte pagina lezen:",
  noticeOpen: "Bericht openen",
  noticePassphrase: "U hebt het wachtwoord nodig dat u van de afzender hebt gekregen.",
  expiryNote: (date) => `Het bericht kan worden geopend tot ${date}.`,
  title: "Een beveiligd bericht voor u",
  from: (sender) =>
    `${sender} heeft u een bericht gestuurd dat u alleen op deze pagina kunt lezen.`,
  show: "Bericht tonen",
  passphrase: "Wachtwoord",
  passphraseHint: "U hebt het van de afzender gekregen.",
  wrong: "Het wachtwoord is onjuist. Probeer het opnieuw.",
  tooMany: "Te veel mislukte pogingen. Probeer het over een uur opnieuw.",
  goneTitle: "Dit bericht is niet meer beschikbaar",
  gone:
    "Het is verlopen of ingetrokken. Hebt u het nog nodig, neem dan contact op met de " +
    "afzender.",
  invalidTitle: "Deze link werkt niet",
  invalid: "De link is mogelijk onvolledig. Open hem opnieuw vanuit de e-mail.",
  frameTitle: "Het bericht",
  sentBy: (sender) => `Van ${sender}.`,
  files: "Bestanden",
  filesHint: "De links werken een uur. Open daarna het bericht opnieuw.",
};

/** Error pages. */
export const errorPage: typeof en.errorPage = {
  busyTitle: "Nu niet beschikbaar",
  busy: "Wacht even, ga dan terug en probeer het opnieuw.",
  largeTitle: "Uw invoer is te lang",
  large: "Ga terug en maak de tekst korter.",
  wrongTitle: "Dat is niet gelukt",
  wrong: "Uw verzoek kon niet worden verwerkt. Ga terug en probeer het opnieuw.",
  goneTitle: "Pagina niet gevonden",
  gone: "De link is mogelijk onvolledig of te oud. Open de volledige link opnieuw.",
  oursTitle: "Er is iets misgegaan",
  ours: "Het probleem ligt bij ons. Probeer het over een paar minuten opnieuw.",
  reference: "Referentie",
};

/** The pages that verify an email address. */
export const emailVerification: typeof en.emailVerification = {
  title: "Bevestig uw e-mailadres",
  question: (email) => `Hebt u zich geregistreerd met ${email}? Bevestig dan het adres.`,
  verify: "Bevestigen",
  doneTitle: "Uw e-mailadres is bevestigd",
  done: "U kunt nu e-mails versturen.",
  invalidTitle: "Deze link werkt niet meer",
  invalid:
    "De link is al gebruikt, is ouder dan 24 uur of is onvolledig. Als u nog steeds niet kunt " +
    "versturen, log dan in en vraag een nieuwe link aan.",
};

/** The password reset pages. */
export const passwordReset: typeof en.passwordReset = {
  resetTitle: "Nieuw wachtwoord instellen",
  newPassword: "Nieuw wachtwoord",
  passwordRule: "Minimaal 10 tekens. U wordt overal uitgelogd en moet opnieuw inloggen.",
  apiKeys: (count) => `API-sleutels die u hebt gemaakt, blijven werken (${count}):`,
  revokeApiKeys: "Alle intrekken. Kies dit als iemand anders ze zou kunnen kennen.",
  save: "Nieuw wachtwoord opslaan",
  tooShort: "Het wachtwoord moet 10 tot 200 tekens lang zijn.",
  weak: "Dit wachtwoord is gemakkelijk te raden. Kies een ander, bijvoorbeeld een paar woorden.",
  doneTitle: "Uw nieuwe wachtwoord is ingesteld",
  passwordSet: "U bent overal uitgelogd. Log in met uw nieuwe wachtwoord.",
  invalidTitle: "Deze link werkt niet meer",
  invalid:
    "De link is al gebruikt, is ouder dan een uur of is onvolledig. Vul uw e-mailadres in om een " +
    "nieuwe link te ontvangen.",
  askTitle: "Wachtwoord vergeten?",
  ask: "Vul uw e-mailadres in. Wij sturen u een link om een nieuw wachtwoord in te stellen.",
  email: "E-mailadres",
  send: "Stuur mij een link",
  invalidEmail: "Vul een geldig e-mailadres in.",
  sentTitle: "Controleer uw inbox",
  linkSent:
    "Als er een account met dit adres bestaat, is er een e-mail onderweg. De link daarin werkt " +
    "een uur.",
};

/** The invitation pages. */
export const invitation: typeof en.invitation = {
  title: (organization) => `Deelnemen aan ${organization}`,
  invited: (inviter, email) => `${inviter} heeft ${email} uitgenodigd.`,
  hasAccount: "Er is een account met dit adres. Vul het wachtwoord in om deel te nemen.",
  password: "Wachtwoord",
  forgot: "Wachtwoord vergeten?",
  name: "Uw naam (optioneel)",
  newPassword: "Kies een wachtwoord",
  passwordRule: "Minimaal 10 tekens.",
  join: "Deelnemen",
  joinWithSso: "Deelnemen met single sign-on",
  wrongPassword: "Dit is niet het wachtwoord van het account. Probeer het opnieuw.",
  tooShort: "Het wachtwoord moet 10 tot 200 tekens lang zijn.",
  weak: "Dit wachtwoord is gemakkelijk te raden. Kies een ander, bijvoorbeeld een paar woorden.",
  tooMany: "Te veel mislukte pogingen. Wacht 15 minuten en probeer het opnieuw.",
  codeTitle: "Vul uw code in",
  codeFromApp: "Vul de code van uw authenticator-app in, of een herstelcode.",
  codeFromMail: "Wij hebben u een code gemaild. Vul die in, of een herstelcode.",
  code: "Code",
  wrongCode: "Deze code is onjuist of al gebruikt. Probeer het opnieuw.",
  doneTitle: (organization) => `U bent nu lid van ${organization}`,
  done: "U bent ingelogd.",
  logInWithSso: "Inloggen met single sign-on",
  alreadyTitle: "U bent al lid",
  already: "U hoeft niets meer te doen.",
  invalidTitle: "Deze uitnodiging werkt niet meer",
  invalid:
    "Ze is geaccepteerd of ingetrokken, is ouder dan zeven dagen, of de link is onvolledig. " +
    "Vraag een nieuwe aan degene die u heeft uitgenodigd.",
};

/** The pages of single sign-on. */
export const sso: typeof en.sso = {
  startTitle: (organization) => `Inloggen bij ${organization}`,
  start: "Verder naar de login",
  failedTitle: "Het inloggen is niet gelukt",
  reason: "Reden",
  again: "Opnieuw proberen",
};

/** The links at the end of account pages. */
export const wayOn: typeof en.wayOn = {
  logIn: "Inloggen",
  openConsole: "Console openen",
};

/** The list of the public archive. */
export const archivePage: typeof en.archivePage = {
  title: (name: string) => `${name}: nieuwsbriefarchief`,
  older: "Oudere e-mails",
  newest: "Nieuwste e-mails",
  feed: "RSS-kanaal",
  none: "Er is nog geen e-mail gepubliceerd.",
  noSubject: "Geen onderwerp",
};
