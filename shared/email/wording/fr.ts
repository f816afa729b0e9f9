// The texts of the service in French.
import type * as en from "./en.ts";

/** The texts at the end of mails. */
export const emailFooter: typeof en.emailFooter = {
  unsubscribe: "Se désabonner",
  preferences: "Préférences d’e-mail",
  sentWith: "Envoyé avec Pennymail",
};

/** The mail that asks to confirm an address. */
export const confirmationEmail: typeof en.confirmationEmail = {
  confirm: "Oui, confirmer",
  subject: (site) => `Confirmez votre adresse e-mail pour ${site}`,
  greeting: "Bonjour,",
  intro: (site) =>
    `Cette adresse e-mail a été saisie sur ${site}. Si c’était bien vous, confirmez-la\u00a0:`,
  ignoreNote:
    "Si ce n’était pas vous, ignorez cet e-mail. Sans confirmation de votre part, aucune " +
    "inscription ne sera faite.",
};

/** The page of a link that does not work. */
export const invalidLink: typeof en.invalidLink = {
  invalidTitle: "Ce lien ne fonctionne pas",
  invalid:
    "Il est peut-être incomplet ou trop ancien. Ouvrez-le de nouveau depuis l’e-mail d’origine.",
};

/** The pages behind the unsubscribe link. */
export const unsubscribePage: typeof en.unsubscribePage = {
  askTitle: "Se désabonner\u00a0?",
  unsubscribeQuestion: (email, site) => `${email} ne recevra plus les actualités de ${site}.`,
  unsubscribedTitle: "Désabonnement confirmé",
  unsubscribed: (email, site) =>
    `${email} ne recevra plus les actualités de ${site}. Les e-mails déjà envoyés peuvent ` +
    "encore arriver.",
  outAll: (email) => `${email} ne recevra plus les actualités d’aucun site de cet expéditeur.`,
  all: "Se désabonner de tous les e-mails de cet expéditeur",
  allWhy: "Recevez-vous aussi des e-mails d’autres sites de cet expéditeur\u00a0?",
  resubscribe: "Se réabonner",
  resubscribeHint: "C’était une erreur\u00a0?",
  resubscribedTitle: "Bon retour parmi nous",
  resubscribed: (email, site) => `${email} recevra de nouveau les actualités de ${site}.`,
  preferencesTitle: "Vos préférences d’e-mail",
  preferences: (email, site) =>
    `Choisissez les e-mails que ${site} peut envoyer à l’adresse ${email}.`,
  leaveTopic: (topic) => `Se désabonner de ${topic}`,
  leaveTopicQuestion: (email, topic, site) =>
    `${email} ne recevra plus les e-mails sur ${topic} de ${site}.`,
  leftTopicTitle: (topic) => `Désabonnement de ${topic} confirmé`,
  topics: "Les e-mails au choix",
  save: "Enregistrer les choix",
  savedTitle: "Vos choix sont enregistrés",
  leaveSite: "Se désabonner de tout",
  leaveSiteHint: (site) => `Vous ne souhaitez plus aucun e-mail de ${site}\u00a0?`,
  suppressedTitle: "Cette adresse ne reçoit pas d’e-mails",
  suppressed: (email, site) =>
    `${site} n’envoie plus d’e-mails à ${email}. Il n’y a donc pas d’abonnement à résilier.`,
  details: "Vos informations",
  saveDetails: "Enregistrer les informations",
  detailsSavedTitle: "Vos informations sont enregistrées",
  yes: "Oui",
  no: "Non",
  snoozeTitle: "Faire une pause",
  snoozeHint: (site) =>
    `Vous restez abonné et ne recevez aucune actualité de ${site} pendant ce temps.`,
  snoozeFor: "Suspendre les e-mails pendant",
  days: (count) => `${count} jours`,
  snooze: "Suspendre les e-mails",
  snoozedTitle: "Vos e-mails sont suspendus",
  snoozed: (email, site, date) =>
    `${email} ne recevra aucune actualité de ${site} jusqu’au ${date}.`,
  endSnooze: "Recevoir de nouveau les e-mails",
  reasonTitle: "Pourquoi vous êtes-vous désabonné\u00a0?",
  reasons: {
    too_many: "Trop d’e-mails",
    not_relevant: "Les e-mails ne me concernent pas",
    not_interested: "Cela ne m’intéresse plus",
    never_subscribed: "Je ne me suis jamais abonné",
    other: "Une autre raison",
  },
  comment: "Vos précisions (facultatif)",
  sendReason: "Envoyer la réponse",
  thanksForReason: "Merci pour votre réponse.",
};

/** Forms, and the pages that confirm a subscription. */
export const formPage: typeof en.formPage = {
  confirmTitle: "Plus qu’un clic",
  confirmAsk: (email, site) =>
    `Confirmez que vous souhaitez recevoir les actualités de ${site} à l’adresse ${email}.`,
  confirmIgnore: "Si ce n’était pas vous, fermez cette page. Rien ne sera envoyé.",
  expiredTitle: "Ce lien a expiré",
  expired: (email, site) =>
    `Il date de plus de 30 jours\u00a0: ${email} n’est donc pas encore ` +
    `confirmée pour ${site}. Nous pouvons vous en envoyer un nouveau.`,
  sendAgain: "Envoyer un nouvel e-mail",
  confirmedTitle: "Merci pour votre confirmation",
  confirmed: (email, site) => `${site} peut désormais vous écrire à l’adresse ${email}.`,
  thanksTitle: "Merci",
  thanks: "Vos informations ont bien été reçues.",
  pendingTitle: "Consultez votre boîte de réception",
  pending:
    "Nous vous avons envoyé un e-mail avec un lien. Ouvrez ce lien pour confirmer votre adresse.",
  inactiveTitle: "Ce formulaire est fermé",
  inactive: "Il n’accepte pas de réponses pour le moment.",
  failed: "Une erreur s’est produite. Veuillez réessayer.",
  busy: "Trop d’envois arrivent en ce moment. Veuillez réessayer dans une minute.",
  captchaFailed: "Veuillez confirmer que vous êtes humain, puis renvoyez le formulaire.",
  captchaUnavailable:
    "La vérification anti-spam n’est pas disponible pour le moment. " +
    "Veuillez réessayer dans quelques minutes.",
  email: "E-mail",
  submit: "Envoyer",
  required: "obligatoire",
  honeypot: "Laissez ce champ vide",
  errorSummaryTitle: "Vérifiez votre saisie",
  fieldError: (label, fault) => `${label}\u00a0: ${fault}`,
};

/** Fields that a visitor or a contact fills in. */
export const fieldInput: typeof en.fieldInput = {
  choose: "Veuillez choisir",
  firstName: "Prénom",
  lastName: "Nom",
  phone: "Téléphone",
  company: "Société",
  fieldErrors: {
    required: "veuillez remplir ce champ",
    tick: "veuillez cocher cette case",
    email: "ce n’est pas une adresse e-mail",
    number: "ce n’est pas un nombre",
    date: "ce n’est pas une date",
    url: "ce n’est pas une adresse web comme https://example.com",
    choice: "choisissez l’une des options",
    long: "c’est trop long",
  },
};

/** The page that shows an email in the browser, when there is no email to show. */
export const browserView: typeof en.browserView = {
  goneTitle: "Cet e-mail n’est plus conservé",
  gone:
    "Nous conservons les e-mails pendant 60 jours pour que vous puissiez les lire dans le " +
    "navigateur. Vous pouvez toujours lire celui-ci dans votre boîte de réception.",
  previewTitle: "Ce lien fonctionne dans les e-mails envoyés",
  preview:
    "Vous l’avez ouvert depuis un aperçu ou un test. Les destinataires de l’e-mail le voient ici.",
};

/** Secure messages: the notice mail, and the page that shows the message. */
export const secureMessage: typeof en.secureMessage = {
  noticeFrom: (sender) =>
    `${sender} vous a envoyé un message protégé. Il n’est pas dans cet e-mail. Vous pouvez ` +
    "le lire sur une page séparée\u00a0:",
  noticeOpen: "Ouvrir le message",
  noticePassphrase: "Vous aurez besoin de la phrase secrète que l’expéditeur vous a communiquée.",
  expiryNote: (date) => `Le message peut être ouvert jusqu’au ${date}.`,
  title: "Un message protégé pour vous",
  from: (sender) =>
    `${sender} vous a envoyé un message que vous pouvez lire uniquement sur cette page.`,
  show: "Afficher le message",
  passphrase: "Phrase secrète",
  passphraseHint: "L’expéditeur vous l’a communiquée.",
  wrong: "La phrase secrète est incorrecte. Réessayez.",
  tooMany: "Trop de tentatives infructueuses. Réessayez dans une heure.",
  goneTitle: "Ce message n’est plus disponible",
  gone: "Il a expiré ou a été retiré. Si vous en avez encore besoin, contactez l’expéditeur.",
  invalidTitle: "Ce lien ne fonctionne pas",
  invalid: "Il est peut-être incomplet. Ouvrez-le de nouveau depuis l’e-mail d’origine.",
  frameTitle: "Le message",
  sentBy: (sender) => `De ${sender}.`,
  files: "Fichiers",
  filesHint: "Les liens sont valables une heure. Ensuite, ouvrez de nouveau le message.",
};

/** Error pages. */
export const errorPage: typeof en.errorPage = {
  busyTitle: "Indisponible pour le moment",
  busy: "Patientez un instant, puis revenez en arrière et réessayez.",
  largeTitle: "Votre saisie est trop longue",
  large: "Revenez en arrière et raccourcissez-la.",
  wrongTitle: "Cela n’a pas fonctionné",
  wrong: "Votre demande n’a pas pu être traitée. Revenez en arrière et réessayez.",
  goneTitle: "Page introuvable",
  gone: "Le lien est peut-être incomplet ou trop ancien. Ouvrez de nouveau le lien complet.",
  oursTitle: "Une erreur s’est produite",
  ours: "Le problème vient de notre côté. Réessayez dans quelques minutes.",
  reference: "Référence",
};

/** The pages that verify an email address. */
export const emailVerification: typeof en.emailVerification = {
  title: "Confirmer votre adresse e-mail",
  question: (email) => `Vous êtes-vous inscrit avec ${email}\u00a0? Confirmez alors l’adresse.`,
  verify: "Confirmer",
  doneTitle: "Votre adresse e-mail est confirmée",
  done: "Vous pouvez maintenant envoyer des e-mails.",
  invalidTitle: "Ce lien ne fonctionne plus",
  invalid:
    "Il a déjà servi, date de plus de 24 heures ou est incomplet. Si vous ne pouvez toujours pas " +
    "envoyer, connectez-vous et demandez un nouveau lien.",
};

/** The password reset pages. */
export const passwordReset: typeof en.passwordReset = {
  resetTitle: "Choisir un nouveau mot de passe",
  newPassword: "Nouveau mot de passe",
  passwordRule:
    "Au moins 10 caractères. Toutes vos sessions seront fermées et vous devrez vous reconnecter.",
  apiKeys: (count) => `Les clés d’API que vous avez créées restent valables (${count})\u00a0:`,
  revokeApiKeys:
    "Les révoquer toutes. Choisissez cette option si quelqu’un d’autre peut les connaître.",
  save: "Enregistrer le nouveau mot de passe",
  tooShort: "Le mot de passe doit comporter de 10 à 200 caractères.",
  weak: "Ce mot de passe est facile à deviner. Choisissez-en un autre, par exemple quelques mots.",
  doneTitle: "Votre nouveau mot de passe est enregistré",
  passwordSet:
    "Toutes vos sessions ont été fermées. Connectez-vous avec votre nouveau mot de passe.",
  invalidTitle: "Ce lien ne fonctionne plus",
  invalid:
    "Il a déjà servi, date de plus d’une heure ou est incomplet. Saisissez votre adresse " +
    "e-mail pour recevoir un nouveau lien.",
  askTitle: "Mot de passe oublié\u00a0?",
  ask:
    "Saisissez votre adresse e-mail. Nous vous enverrons un lien pour choisir un nouveau mot " +
    "de passe.",
  email: "E-mail",
  send: "Recevoir un lien",
  invalidEmail: "Saisissez une adresse e-mail valide.",
  sentTitle: "Consultez votre boîte de réception",
  linkSent:
    "S’il existe un compte pour cette adresse, un e-mail vient d’y être envoyé. Le lien " +
    "qu’il contient est valable une heure.",
};

/** The invitation pages. */
export const invitation: typeof en.invitation = {
  title: (organization) => `Rejoindre ${organization}`,
  invited: (inviter, email) => `${inviter} a invité ${email}.`,
  hasAccount:
    "Il existe un compte pour cette adresse. Saisissez son mot de passe pour accepter " +
    "l’invitation.",
  password: "Mot de passe",
  forgot: "Mot de passe oublié\u00a0?",
  name: "Votre nom (facultatif)",
  newPassword: "Choisissez un mot de passe",
  passwordRule: "Au moins 10 caractères.",
  join: "Rejoindre",
  joinWithSso: "Rejoindre avec l’authentification unique",
  wrongPassword: "Ce n’est pas le mot de passe du compte. Réessayez.",
  tooShort: "Le mot de passe doit comporter de 10 à 200 caractères.",
  weak: "Ce mot de passe est facile à deviner. Choisissez-en un autre, par exemple quelques mots.",
  tooMany: "Trop de tentatives ont échoué. Attendez 15 minutes, puis réessayez.",
  codeTitle: "Saisissez votre code",
  codeFromApp:
    "Saisissez le code de votre application d’authentification ou un code de récupération.",
  codeFromMail:
    "Nous vous avons envoyé un code par e-mail. Saisissez-le, ou saisissez un code de " +
    "récupération.",
  code: "Code",
  wrongCode: "Ce code est incorrect ou a déjà servi. Réessayez.",
  doneTitle: (organization) => `Vous êtes désormais membre de ${organization}`,
  done: "Vous êtes connecté.",
  logInWithSso: "Se connecter avec l’authentification unique",
  alreadyTitle: "Vous êtes déjà membre",
  already: "Il n’y a rien d’autre à faire.",
  invalidTitle: "Cette invitation ne fonctionne plus",
  invalid:
    "Elle a été acceptée ou annulée, date de plus de sept jours ou le lien est incomplet. " +
    "Demandez-en une nouvelle à la personne qui vous a invité.",
};

/** The pages of single sign-on. */
export const sso: typeof en.sso = {
  startTitle: (organization) => `Se connecter à ${organization}`,
  start: "Continuer vers la connexion",
  failedTitle: "La connexion a échoué",
  reason: "Raison",
  again: "Réessayer",
};

/** The links at the end of account pages. */
export const wayOn: typeof en.wayOn = {
  logIn: "Se connecter",
  openConsole: "Ouvrir la console",
};

/** The list of the public archive. */
export const archivePage: typeof en.archivePage = {
  title: (name: string) => `${name} : archives de la newsletter`,
  older: "E-mails plus anciens",
  newest: "E-mails les plus récents",
  feed: "Flux RSS",
  none: "Aucun e-mail n’a encore été publié.",
  noSubject: "Sans objet",
};
