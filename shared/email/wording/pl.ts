// The texts of the service in Polish.
import type * as en from "./en.ts";

/** The texts at the end of mails. */
export const emailFooter: typeof en.emailFooter = {
  unsubscribe: "Wypisz się",
  preferences: "Ustawienia e-maili",
  sentWith: "Wysłano przez Pennymail",
};

/** The mail that asks to confirm an address. */
export const confirmationEmail: typeof en.confirmationEmail = {
  confirm: "Tak, potwierdzam",
  subject: (site) => `Prosimy o potwierdzenie adresu e-mail w ${site}`,
  greeting: "Dzień dobry,",
  intro: (site) => `ten adres e-mail podano w ${site}. Prosimy potwierdzić, że to Państwa adres:`,
  ignoreNote:
    "Jeśli adres podał ktoś inny, prosimy zignorować tę wiadomość. Bez potwierdzenia nie " +
    "zapiszemy tego adresu.",
};

/** The page of a link that does not work. */
export const invalidLink: typeof en.invalidLink = {
  invalidTitle: "Ten link nie działa",
  invalid: "Może być niepełny lub zbyt stary. Prosimy otworzyć go ponownie z oryginalnego e-maila.",
};

/** The pages behind the unsubscribe link. */
export const unsubscribePage: typeof en.unsubscribePage = {
  askTitle: "Wypisać się?",
  unsubscribeQuestion: (email, site) =>
    `Na adres ${email} nie będą już przychodzić wiadomości od ${site}.`,
  unsubscribedTitle: "Adres został wypisany",
  unsubscribed: (email, site) =>
    `Na adres ${email} nie będą już przychodzić wiadomości od ${site}. E-maile, które już ` +
    "wysłano, mogą jeszcze dotrzeć.",
  outAll: (email) =>
    `Na adres ${email} nie będą już przychodzić wiadomości z żadnej strony tego nadawcy.`,
  all: "Wypisz ze wszystkich e-maili tego nadawcy",
  allWhy: "Czy otrzymują Państwo e-maile także z innych stron tego nadawcy?",
  resubscribe: "Zapisz się ponownie",
  resubscribeHint: "To była pomyłka?",
  resubscribedTitle: "Witamy ponownie",
  resubscribed: (email, site) => `Na adres ${email} znów będą przychodzić wiadomości od ${site}.`,
  preferencesTitle: "Ustawienia e-maili",
  preferences: (email, site) => `Prosimy wybrać, jakie e-maile ${site} może wysyłać na ${email}.`,
  leaveTopic: (topic) => `Wypisz z: ${topic}`,
  leaveTopicQuestion: (email, topic, site) =>
    `Na adres ${email} nie będą już przychodzić od ${site} e-maile na temat: ${topic}.`,
  leftTopicTitle: (topic) => `Adres został wypisany z: ${topic}`,
  topics: "E-maile do wyboru",
  save: "Zapisz wybór",
  savedTitle: "Wybór został zapisany",
  leaveSite: "Wypisz ze wszystkiego",
  leaveSiteHint: (site) => `Nie chcą Państwo otrzymywać żadnych e-maili od ${site}?`,
  suppressedTitle: "Ten adres nie otrzymuje e-maili",
  suppressed: (email, site) =>
    `${site} nie wysyła już e-maili na ${email}, więc nie trzeba się wypisywać.`,
  details: "Twoje dane",
  saveDetails: "Zapisz dane",
  detailsSavedTitle: "Twoje dane zostały zapisane",
  yes: "Tak",
  no: "Nie",
  snoozeTitle: "Zrób przerwę",
  snoozeHint: (site) =>
    `Subskrypcja pozostaje aktywna, a w tym czasie ${site} nie wysyła żadnych wiadomości.`,
  snoozeFor: "Wstrzymaj e-maile na",
  days: (count) => `${count} dni`,
  snooze: "Wstrzymaj e-maile",
  snoozedTitle: "Twoje e-maile są wstrzymane",
  snoozed: (email, site, date) =>
    `Do ${date} na adres ${email} nie będą wysyłane wiadomości od ${site}.`,
  endSnooze: "Znów otrzymuj e-maile",
  reasonTitle: "Dlaczego rezygnujesz z subskrypcji?",
  reasons: {
    too_many: "Za dużo e-maili",
    not_relevant: "E-maile nie są dla mnie istotne",
    not_interested: "To mnie już nie interesuje",
    never_subscribed: "Subskrypcja nie była moją decyzją",
    other: "Inny powód",
  },
  comment: "Twoje uwagi (opcjonalnie)",
  sendReason: "Wyślij odpowiedź",
  thanksForReason: "Dziękujemy za odpowiedź.",
};

/** Forms, and the pages that confirm a subscription. */
export const formPage: typeof en.formPage = {
  confirmTitle: "Jeszcze jedno kliknięcie",
  confirmAsk: (email, site) =>
    `Prosimy potwierdzić chęć otrzymywania wiadomości od ${site} na adres ${email}.`,
  confirmIgnore: "Jeśli to pomyłka, prosimy zamknąć tę stronę. Nic nie zostanie wysłane.",
  expiredTitle: "Ten link wygasł",
  expired: (email, site) =>
    `Ma ponad 30 dni, dlatego adres ${email} nie jest jeszcze potwierdzony ` +
    `w ${site}. Możemy wysłać nowy.`,
  sendAgain: "Wyślij nową wiadomość",
  confirmedTitle: "Dziękujemy za potwierdzenie",
  confirmed: (email, site) => `${site} może teraz wysyłać e-maile na adres ${email}.`,
  thanksTitle: "Dziękujemy",
  thanks: "Otrzymaliśmy podane dane.",
  pendingTitle: "Prosimy sprawdzić skrzynkę odbiorczą",
  pending: "Wysłaliśmy e-mail z linkiem. Prosimy otworzyć link, aby potwierdzić adres.",
  inactiveTitle: "Ten formularz jest zamknięty",
  inactive: "Obecnie nie przyjmuje zgłoszeń.",
  failed: "Coś poszło nie tak. Prosimy spróbować ponownie.",
  busy: "W tej chwili napływa zbyt wiele zgłoszeń. Prosimy spróbować ponownie za minutę.",
  captchaFailed: "Potwierdź, że nie jesteś robotem, i wyślij ponownie.",
  captchaUnavailable:
    "Kontrola antyspamowa jest teraz niedostępna. " + "Spróbuj ponownie za kilka minut.",
  email: "Adres e-mail",
  submit: "Wyślij",
  required: "wymagane",
  honeypot: "To pole należy pozostawić puste",
  errorSummaryTitle: "Prosimy sprawdzić podane dane",
  fieldError: (label, fault) => `${label}: ${fault}`,
};

/** Fields that a visitor or a contact fills in. */
export const fieldInput: typeof en.fieldInput = {
  choose: "Prosimy wybrać",
  firstName: "Imię",
  lastName: "Nazwisko",
  phone: "Telefon",
  company: "Firma",
  fieldErrors: {
    required: "prosimy wypełnić to pole",
    tick: "prosimy zaznaczyć to pole",
    email: "to nie jest adres e-mail",
    number: "to nie jest liczba",
    date: "to nie jest data",
    url: "to nie jest adres strony, taki jak https://example.com",
    choice: "prosimy wybrać jedną z opcji",
    long: "tekst jest za długi",
  },
};

/** The page that shows an email in the browser, when there is no email to show. */
export const browserView: typeof en.browserView = {
  goneTitle: "Ten e-mail nie jest już przechowywany",
  gone:
    "Przechowujemy e-maile przez 60 dni, aby można było czytać je w przeglądarce. Tę wiadomość " +
    "nadal można przeczytać w skrzynce pocztowej.",
  previewTitle: "Ten link działa w wysłanych e-mailach",
  preview: "Link otwarto z podglądu lub z testu. Odbiorcy e-maila zobaczą go w tym miejscu.",
};

/** Secure messages: the notice mail, and the page that shows the message. */
export const secureMessage: typeof en.secureMessage = {
  noticeFrom: (sender) =>
    `${sender} przesyła chronioną wiadomość. Nie ma jej w tym e-mailu. Można ją przeczytać na ` +
    "osobnej stronie:",
  noticeOpen: "Otwórz wiadomość",
  noticePassphrase: "Potrzebne będzie hasło otrzymane od nadawcy.",
  expiryNote: (date) => `Wiadomość można otworzyć do ${date}.`,
  title: "Chroniona wiadomość dla Państwa",
  from: (sender) => `${sender} przesyła wiadomość, którą można przeczytać tylko na tej stronie.`,
  show: "Pokaż wiadomość",
  passphrase: "Hasło",
  passphraseHint: "Hasło podał nadawca.",
  wrong: "Hasło jest nieprawidłowe. Prosimy spróbować ponownie.",
  tooMany: "Zbyt wiele nieudanych prób. Prosimy spróbować ponownie za godzinę.",
  goneTitle: "Ta wiadomość nie jest już dostępna",
  gone: "Wygasła lub została wycofana. W razie potrzeby prosimy o kontakt z nadawcą.",
  invalidTitle: "Ten link nie działa",
  invalid: "Może być niepełny. Prosimy otworzyć go ponownie z oryginalnego e-maila.",
  frameTitle: "Wiadomość",
  sentBy: (sender) => `Od: ${sender}.`,
  files: "Pliki",
  filesHint: "Linki działają przez godzinę. Potem należy otworzyć wiadomość ponownie.",
};

/** Error pages. */
export const errorPage: typeof en.errorPage = {
  busyTitle: "Chwilowo niedostępne",
  busy: "Prosimy chwilę poczekać, a potem wrócić i spróbować ponownie.",
  largeTitle: "Wpisany tekst jest za długi",
  large: "Prosimy wrócić i go skrócić.",
  wrongTitle: "Nie udało się",
  wrong: "Nie można było przetworzyć żądania. Prosimy wrócić i spróbować ponownie.",
  goneTitle: "Nie znaleziono strony",
  gone: "Link może być niepełny lub zbyt stary. Prosimy ponownie otworzyć cały link.",
  oursTitle: "Coś poszło nie tak",
  ours: "Problem leży po naszej stronie. Prosimy spróbować ponownie za kilka minut.",
  reference: "Numer referencyjny",
};

/** The pages that verify an email address. */
export const emailVerification: typeof en.emailVerification = {
  title: "Potwierdzenie adresu e-mail",
  question: (email) =>
    `Czy konto zostało założone przez Państwa na adres ${email}? Prosimy go potwierdzić.`,
  verify: "Potwierdź",
  doneTitle: "Adres e-mail został potwierdzony",
  done: "Można już wysyłać e-maile.",
  invalidTitle: "Ten link już nie działa",
  invalid:
    "Został już użyty, ma ponad 24 godziny lub jest niepełny. Jeśli wysyłanie nadal nie jest " +
    "możliwe, prosimy zalogować się i poprosić o nowy link.",
};

/** The password reset pages. */
export const passwordReset: typeof en.passwordReset = {
  resetTitle: "Ustaw nowe hasło",
  newPassword: "Nowe hasło",
  passwordRule: "Co najmniej 10 znaków. Nastąpi wylogowanie ze wszystkich urządzeń.",
  apiKeys: (count) => `Utworzone klucze API nadal działają (${count}):`,
  revokeApiKeys: "Unieważnij wszystkie, na przykład jeśli ktoś inny może je znać.",
  save: "Zapisz nowe hasło",
  tooShort: "Hasło musi mieć od 10 do 200 znaków.",
  weak: "To hasło łatwo odgadnąć. Prosimy wybrać inne, na przykład kilka słów.",
  doneTitle: "Nowe hasło zostało ustawione",
  passwordSet: "Nastąpiło wylogowanie ze wszystkich urządzeń. Prosimy zalogować się nowym hasłem.",
  invalidTitle: "Ten link już nie działa",
  invalid:
    "Został już użyty, ma ponad godzinę lub jest niepełny. Prosimy podać adres e-mail, aby " +
    "otrzymać nowy link.",
  askTitle: "Nie pamiętasz hasła?",
  ask: "Prosimy podać adres e-mail. Wyślemy link do ustawienia nowego hasła.",
  email: "Adres e-mail",
  send: "Wyślij link",
  invalidEmail: "Prosimy podać prawidłowy adres e-mail.",
  sentTitle: "Prosimy sprawdzić skrzynkę odbiorczą",
  linkSent:
    "Jeśli istnieje konto z tym adresem, e-mail jest już w drodze. Link w nim działa przez " +
    "godzinę.",
};

/** The invitation pages. */
export const invitation: typeof en.invitation = {
  title: (organization) => `Dołącz do ${organization}`,
  invited: (inviter, email) => `${inviter} zaprasza ${email}.`,
  hasAccount: "Istnieje konto z tym adresem. Prosimy podać jego hasło, aby dołączyć.",
  password: "Hasło",
  forgot: "Nie pamiętasz hasła?",
  name: "Imię i nazwisko (opcjonalnie)",
  newPassword: "Nowe hasło",
  passwordRule: "Co najmniej 10 znaków.",
  join: "Dołącz",
  joinWithSso: "Dołącz przez logowanie jednokrotne",
  wrongPassword: "To nie jest hasło tego konta. Prosimy spróbować ponownie.",
  tooShort: "Hasło musi mieć od 10 do 200 znaków.",
  weak: "To hasło łatwo odgadnąć. Prosimy wybrać inne, na przykład kilka słów.",
  tooMany: "Zbyt wiele nieudanych prób. Prosimy poczekać 15 minut i spróbować ponownie.",
  codeTitle: "Podaj kod",
  codeFromApp: "Prosimy podać kod z aplikacji uwierzytelniającej lub kod odzyskiwania.",
  codeFromMail: "Wysłaliśmy kod e-mailem. Prosimy go podać albo użyć kodu odzyskiwania.",
  code: "Kod",
  wrongCode: "Ten kod jest nieprawidłowy lub został już użyty. Prosimy spróbować ponownie.",
  doneTitle: (organization) => `Zaproszenie przyjęte: ${organization}`,
  done: "Logowanie powiodło się.",
  logInWithSso: "Zaloguj się przez logowanie jednokrotne",
  alreadyTitle: "To zaproszenie jest już przyjęte",
  already: "Nie trzeba nic więcej robić.",
  invalidTitle: "To zaproszenie już nie działa",
  invalid:
    "Zostało przyjęte lub wycofane, ma ponad siedem dni albo link jest niepełny. O nowe prosimy " +
    "zwrócić się do osoby zapraszającej.",
};

/** The pages of single sign-on. */
export const sso: typeof en.sso = {
  startTitle: (organization) => `Logowanie do ${organization}`,
  start: "Przejdź do logowania",
  failedTitle: "Logowanie nie powiodło się",
  reason: "Powód",
  again: "Spróbuj ponownie",
};

/** The links at the end of account pages. */
export const wayOn: typeof en.wayOn = {
  logIn: "Zaloguj się",
  openConsole: "Otwórz konsolę",
};

/** The list of the public archive. */
export const archivePage: typeof en.archivePage = {
  title: (name: string) => `${name}: archiwum newslettera`,
  older: "Starsze wiadomości",
  newest: "Najnowsze wiadomości",
  feed: "Kanał RSS",
  none: "Nie opublikowano jeszcze żadnej wiadomości.",
  noSubject: "Bez tematu",
};
