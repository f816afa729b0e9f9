// The texts of the service in Italian.
import type * as en from "./en.ts";

/** The texts at the end of mails. */
export const emailFooter: typeof en.emailFooter = {
  unsubscribe: "Annulla l’iscrizione",
  preferences: "Preferenze e-mail",
  sentWith: "Inviato con Pennymail",
};

/** The mail that asks to confirm an address. */
export const confirmationEmail: typeof en.confirmationEmail = {
  confirm: "Sì, confermo",
  subject: (site) => `Confermi il suo indirizzo e-mail per ${site}`,
  greeting: "Buongiorno,",
  intro: (site) =>
    `questo indirizzo e-mail è stato inserito su ${site}. Se è stato lei, lo confermi:`,
  ignoreNote:
    "Se non è stato lei, ignori questa e-mail. Senza la sua conferma non verrà effettuata " +
    "alcuna iscrizione.",
};

/** The page of a link that does not work. */
export const invalidLink: typeof en.invalidLink = {
  invalidTitle: "Questo link non funziona",
  invalid: "Potrebbe essere incompleto o troppo vecchio. Lo apra di nuovo dall’e-mail originale.",
};

/** The pages behind the unsubscribe link. */
export const unsubscribePage: typeof en.unsubscribePage = {
  askTitle: "Annullare l’iscrizione?",
  unsubscribeQuestion: (email, site) => `${email} non riceverà più novità da ${site}.`,
  unsubscribedTitle: "Iscrizione annullata",
  unsubscribed: (email, site) =>
    `${email} non riceverà più novità da ${site}. Le e-mail già inviate potrebbero ancora ` +
    "arrivare.",
  outAll: (email) => `${email} non riceverà più novità da nessun sito di questo mittente.`,
  all: "Annulla l’iscrizione a tutte le e-mail di questo mittente",
  allWhy: "Riceve e-mail anche da altri siti di questo mittente?",
  resubscribe: "Iscriviti di nuovo",
  resubscribeHint: "È stato un errore?",
  resubscribedTitle: "Bentornato",
  resubscribed: (email, site) => `${email} riceverà di nuovo novità da ${site}.`,
  preferencesTitle: "Le sue preferenze e-mail",
  preferences: (email, site) => `Scelga quali e-mail ${site} può inviare a ${email}.`,
  leaveTopic: (topic) => `Annulla l’iscrizione a ${topic}`,
  leaveTopicQuestion: (email, topic, site) =>
    `${email} non riceverà più e-mail su ${topic} da ${site}.`,
  leftTopicTitle: (topic) => `Iscrizione a ${topic} annullata`,
  topics: "E-mail tra cui può scegliere",
  save: "Salva le scelte",
  savedTitle: "Le sue scelte sono state salvate",
  leaveSite: "Annulla tutte le iscrizioni",
  leaveSiteHint: (site) => `Non desidera più ricevere alcuna e-mail da ${site}?`,
  suppressedTitle: "Questo indirizzo non riceve e-mail",
  suppressed: (email, site) =>
    `${site} non invia più e-mail a ${email}, quindi non c’è alcuna iscrizione da annullare.`,
  details: "I Suoi dati",
  saveDetails: "Salva i dati",
  detailsSavedTitle: "I Suoi dati sono stati salvati",
  yes: "Sì",
  no: "No",
  snoozeTitle: "Fare una pausa",
  snoozeHint: (site) =>
    `L’iscrizione resta attiva e in questo periodo non riceverà novità da ${site}.`,
  snoozeFor: "Sospendi le e-mail per",
  days: (count) => `${count} giorni`,
  snooze: "Sospendi le e-mail",
  snoozedTitle: "Le Sue e-mail sono sospese",
  snoozed: (email, site, date) => `${email} non riceverà novità da ${site} fino al ${date}.`,
  endSnooze: "Ricevere di nuovo le e-mail",
  reasonTitle: "Perché ha annullato l’iscrizione?",
  reasons: {
    too_many: "Troppe e-mail",
    not_relevant: "Le e-mail non sono pertinenti per me",
    not_interested: "Non mi interessa più",
    never_subscribed: "Non mi sono mai iscritto",
    other: "Un altro motivo",
  },
  comment: "Le Sue osservazioni (facoltativo)",
  sendReason: "Invia la risposta",
  thanksForReason: "Grazie per la Sua risposta.",
};

/** Forms, and the pages that confirm a subscription. */
export const formPage: typeof en.formPage = {
  confirmTitle: "Ancora un clic",
  confirmAsk: (email, site) =>
    `Confermi che desidera ricevere novità da ${site} all’indirizzo ${email}.`,
  confirmIgnore: "Se non è stato lei, chiuda questa pagina. Non verrà inviato nulla.",
  expiredTitle: "Questo link è scaduto",
  expired: (email, site) =>
    `Ha più di 30 giorni, quindi ${email} non è ancora confermato per ` +
    `${site}. Possiamo inviarne uno nuovo.`,
  sendAgain: "Invia una nuova e-mail",
  confirmedTitle: "Grazie per la conferma",
  confirmed: (email, site) => `${site} può ora inviare e-mail a ${email}.`,
  thanksTitle: "Grazie",
  thanks: "Abbiamo ricevuto i suoi dati.",
  pendingTitle: "Controlli la sua posta",
  pending:
    "Le abbiamo inviato un’e-mail con un link. Apra il link per confermare il suo indirizzo.",
  inactiveTitle: "Questo modulo è chiuso",
  inactive: "Al momento non accetta invii.",
  failed: "Si è verificato un errore. Riprovi.",
  busy: "In questo momento arrivano troppi invii. Riprovi tra un minuto.",
  captchaFailed: "Confermi di essere una persona, poi invii di nuovo.",
  captchaUnavailable:
    "Il controllo anti-spam non è al momento disponibile. " + "Riprovi tra qualche minuto.",
  email: "E-mail",
  submit: "Invia",
  required: "obbligatorio",
  honeypot: "Lasci vuoto questo campo",
  errorSummaryTitle: "Controlli i dati inseriti",
  fieldError: (label, fault) => `${label}: ${fault}`,
};

/** Fields that a visitor or a contact fills in. */
export const fieldInput: typeof en.fieldInput = {
  choose: "Scelga un’opzione",
  firstName: "Nome",
  lastName: "Cognome",
  phone: "Telefono",
  company: "Azienda",
  fieldErrors: {
    required: "compili questo campo",
    tick: "selezioni questa casella",
    email: "non è un indirizzo e-mail",
    number: "non è un numero",
    date: "non è una data",
    url: "non è un indirizzo web come https://example.com",
    choice: "scelga una delle opzioni",
    long: "è troppo lungo",
  },
};

/** The page that shows an email in the browser, when there is no email to show. */
export const browserView: typeof en.browserView = {
  goneTitle: "Questa e-mail non è più conservata",
  gone:
    "Conserviamo le e-mail per 60 giorni, così che possa leggerle nel browser. Può ancora " +
    "leggere questa nella sua casella di posta.",
  previewTitle: "Questo link funziona nelle e-mail inviate",
  preview: "L’ha aperto da un’anteprima o da una prova. Chi riceve l’e-mail la vede qui.",
};

/** Secure messages: the notice mail, and the page that shows the message. */
export const secureMessage: typeof en.secureMessage = {
  noticeFrom: (sender) =>
    `${sender} le ha inviato un messaggio protetto. Non si trova in questa e-mail. Può ` +
    "leggerlo su una pagina separata:",
  noticeOpen: "Apri il messaggio",
  noticePassphrase: "Le servirà la passphrase che il mittente le ha comunicato.",
  expiryNote: (date) => `Il messaggio può essere aperto fino a questa data: ${date}.`,
  title: "Un messaggio protetto per lei",
  from: (sender) => `${sender} le ha inviato un messaggio che può leggere solo in questa pagina.`,
  show: "Mostra il messaggio",
  passphrase: "Passphrase",
  passphraseHint: "Gliel’ha comunicata il mittente.",
  wrong: "La passphrase non è corretta. Riprovi.",
  tooMany: "Troppi tentativi non riusciti. Riprovi tra un’ora.",
  goneTitle: "Questo messaggio non è più disponibile",
  gone: "È scaduto o è stato ritirato. Se ne ha ancora bisogno, contatti il mittente.",
  invalidTitle: "Questo link non funziona",
  invalid: "Potrebbe essere incompleto. Lo apra di nuovo dall’e-mail originale.",
  frameTitle: "Il messaggio",
  sentBy: (sender) => `Da ${sender}.`,
  files: "File",
  filesHint: "I link funzionano per un’ora. Poi apra di nuovo il messaggio.",
};

/** Error pages. */
export const errorPage: typeof en.errorPage = {
  busyTitle: "Al momento non disponibile",
  busy: "Attenda un momento, poi torni indietro e riprovi.",
  largeTitle: "Il testo inserito è troppo lungo",
  large: "Torni indietro e lo accorci.",
  wrongTitle: "Operazione non riuscita",
  wrong: "Non è stato possibile elaborare la richiesta. Torni indietro e riprovi.",
  goneTitle: "Pagina non trovata",
  gone: "Il link potrebbe essere incompleto o troppo vecchio. Apra di nuovo il link completo.",
  oursTitle: "Si è verificato un errore",
  ours: "Il problema dipende da noi. Riprovi tra qualche minuto.",
  reference: "Riferimento",
};

/** The pages that verify an email address. */
export const emailVerification: typeof en.emailVerification = {
  title: "Confermi il suo indirizzo e-mail",
  question: (email) => `Si è registrato con ${email}? Allora confermi l’indirizzo.`,
  verify: "Conferma",
  doneTitle: "Il suo indirizzo e-mail è confermato",
  done: "Ora può inviare e-mail.",
  invalidTitle: "Questo link non funziona più",
  invalid:
    "È già stato usato, ha più di 24 ore o è incompleto. Se non riesce ancora a inviare, acceda " +
    "e richieda un nuovo link.",
};

/** The password reset pages. */
export const passwordReset: typeof en.passwordReset = {
  resetTitle: "Imposti una nuova password",
  newPassword: "Nuova password",
  passwordRule: "Almeno 10 caratteri. Tutte le sessioni verranno chiuse e dovrà accedere di nuovo.",
  apiKeys: (count) => `Le chiavi API che ha creato restano valide (${count}):`,
  revokeApiKeys: "Revocarle tutte. Scelga questa opzione se qualcun altro potrebbe conoscerle.",
  save: "Salva la nuova password",
  tooShort: "La password deve avere da 10 a 200 caratteri.",
  weak: "Questa password è facile da indovinare. Ne scelga un’altra, per esempio più parole.",
  doneTitle: "La nuova password è impostata",
  passwordSet: "Tutte le sessioni sono state chiuse. Acceda con la nuova password.",
  invalidTitle: "Questo link non funziona più",
  invalid:
    "È già stato usato, ha più di un’ora o è incompleto. Inserisca il suo indirizzo e-mail per " +
    "ricevere un nuovo link.",
  askTitle: "Password dimenticata?",
  ask: "Inserisca il suo indirizzo e-mail: le invieremo un link per impostare una nuova password.",
  email: "E-mail",
  send: "Invia il link",
  invalidEmail: "Inserisca un indirizzo e-mail valido.",
  sentTitle: "Controlli la sua posta",
  linkSent:
    "Se esiste un account con questo indirizzo, le è stata inviata un’e-mail. Il link che " +
    "contiene funziona per un’ora.",
};

/** The invitation pages. */
export const invitation: typeof en.invitation = {
  title: (organization) => `Unirsi a ${organization}`,
  invited: (inviter, email) => `${inviter} ha invitato ${email}.`,
  hasAccount: "Esiste un account con questo indirizzo. Inserisca la password per accettare.",
  password: "Password",
  forgot: "Password dimenticata?",
  name: "Il suo nome (facoltativo)",
  newPassword: "Scelga una password",
  passwordRule: "Almeno 10 caratteri.",
  join: "Unisciti",
  joinWithSso: "Unisciti con il Single Sign-On",
  wrongPassword: "Non è la password dell’account. Riprovi.",
  tooShort: "La password deve avere da 10 a 200 caratteri.",
  weak: "Questa password è facile da indovinare. Ne scelga un’altra, per esempio più parole.",
  tooMany: "Troppi tentativi non riusciti. Attenda 15 minuti e riprovi.",
  codeTitle: "Inserisca il codice",
  codeFromApp: "Inserisca il codice della sua app di autenticazione o un codice di recupero.",
  codeFromMail:
    "Le abbiamo inviato un codice per e-mail. Inserisca quello oppure un codice di recupero.",
  code: "Codice",
  wrongCode: "Questo codice è errato o è già stato usato. Riprovi.",
  doneTitle: (organization) => `Ora fa parte di ${organization}`,
  done: "Ha effettuato l’accesso.",
  logInWithSso: "Accedi con il Single Sign-On",
  alreadyTitle: "Ne fa già parte",
  already: "Non c’è altro da fare.",
  invalidTitle: "Questo invito non funziona più",
  invalid:
    "È stato accettato o revocato, ha più di sette giorni oppure il link è incompleto. Ne chieda " +
    "uno nuovo alla persona che l’ha invitata.",
};

/** The pages of single sign-on. */
export const sso: typeof en.sso = {
  startTitle: (organization) => `Accedi a ${organization}`,
  start: "Continua con l’accesso",
  failedTitle: "L’accesso non è riuscito",
  reason: "Motivo",
  again: "Riprova",
};

/** The links at the end of account pages. */
export const wayOn: typeof en.wayOn = {
  logIn: "Accedi",
  openConsole: "Apri la console",
};

/** The list of the public archive. */
export const archivePage: typeof en.archivePage = {
  title: (name: string) => `${name}: archivio della newsletter`,
  older: "Email precedenti",
  newest: "Email più recenti",
  feed: "Canale RSS",
  none: "Non è ancora stata pubblicata nessuna email.",
  noSubject: "Senza oggetto",
};
