// The texts of the pages that contacts see: unsubscribe, confirmation and forms. Another language
// is one more entry in each file of this folder.
import { confirmationEmailWording } from "./confirmation-email.ts";
import { emailFooterWording, type Language, supportedLanguage } from "./email-footer.ts";

export type { Language };

const en = {
  ...emailFooterWording.en,
  confirm: confirmationEmailWording.en.confirm,
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
  leftTopicTitle: (topic: string) => `You are unsubscribed from ${topic}`,
  topics: "Emails that you can choose",
  save: "Save choices",
  savedTitle: "Your choices are saved",
  leaveSite: "Unsubscribe from everything",
  leaveSiteHint: (site: string) => `Would you like no more emails from ${site} at all?`,
  suppressedTitle: "This address does not receive emails",
  suppressed: (email: string, site: string) =>
    `${site} no longer sends emails to ${email}, so there is nothing to unsubscribe from.`,
  invalidTitle: "This link does not work",
  invalid: "It may be incomplete or too old. Please open it again from the original email.",
  confirmTitle: "Just one more click",
  confirmAsk: (email: string, site: string) =>
    `Please confirm that you would like to receive news from ${site} at ${email}.`,
  confirmIgnore: "If this was not you, close this page. Nothing will be sent.",
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
  email: "Email",
  submit: "Send",
  required: "required",
  choose: "Please choose",
  honeypot: "Leave this field empty",
  firstName: "First name",
  lastName: "Last name",
  phone: "Phone",
  company: "Company",
  errorSummaryTitle: "Please check what you entered",
  fieldError: (label: string, fault: string) => `${label}: ${fault}`,
  fieldErrors: {
    required: "please fill this in",
    tick: "please tick this box",
    email: "this is not an email address",
    number: "this is not a number",
    date: "this is not a date",
    choice: "please choose one of the options",
    long: "this is too long",
  },
};
export type SubscriberPageWording = typeof en;

const de: SubscriberPageWording = {
  ...emailFooterWording.de,
  confirm: confirmationEmailWording.de.confirm,
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
  leftTopicTitle: (topic) => `${topic} ist abbestellt`,
  topics: "E-Mails, die Sie wählen können",
  save: "Auswahl speichern",
  savedTitle: "Ihre Auswahl ist gespeichert",
  leaveSite: "Von allem abmelden",
  leaveSiteHint: (site) => `Möchten Sie gar keine E-Mails mehr von ${site} erhalten?`,
  suppressedTitle: "Diese Adresse erhält keine E-Mails",
  suppressed: (email, site) =>
    `${site} sendet keine E-Mails mehr an ${email}. Eine Abmeldung ist nicht nötig.`,
  invalidTitle: "Dieser Link funktioniert nicht",
  invalid:
    "Möglicherweise ist er unvollständig oder zu alt. Bitte öffnen Sie ihn noch einmal aus " +
    "der ursprünglichen E-Mail.",
  confirmTitle: "Nur noch ein Klick",
  confirmAsk: (email, site) =>
    `Bitte bestätigen Sie, dass Sie Neuigkeiten von ${site} an ${email} erhalten möchten.`,
  confirmIgnore: "Wenn Sie das nicht waren, schließen Sie diese Seite. Es wird nichts gesendet.",
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
  email: "E-Mail",
  submit: "Absenden",
  required: "erforderlich",
  choose: "Bitte wählen",
  honeypot: "Dieses Feld leer lassen",
  firstName: "Vorname",
  lastName: "Nachname",
  phone: "Telefon",
  company: "Firma",
  errorSummaryTitle: "Bitte prüfen Sie Ihre Angaben",
  fieldError: (label, fault) => `${label}: ${fault}`,
  fieldErrors: {
    required: "bitte ausfüllen",
    tick: "bitte ankreuzen",
    email: "das ist keine E-Mail-Adresse",
    number: "das ist keine Zahl",
    date: "das ist kein Datum",
    choice: "bitte wählen Sie eine der Möglichkeiten",
    long: "das ist zu lang",
  },
};

const fr: SubscriberPageWording = {
  ...emailFooterWording.fr,
  confirm: confirmationEmailWording.fr.confirm,
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
  leftTopicTitle: (topic) => `Désabonnement de ${topic} confirmé`,
  topics: "Les e-mails au choix",
  save: "Enregistrer les choix",
  savedTitle: "Vos choix sont enregistrés",
  leaveSite: "Se désabonner de tout",
  leaveSiteHint: (site) => `Vous ne souhaitez plus aucun e-mail de ${site}\u00a0?`,
  suppressedTitle: "Cette adresse ne reçoit pas d’e-mails",
  suppressed: (email, site) =>
    `${site} n’envoie plus d’e-mails à ${email}. Il n’y a donc pas d’abonnement à résilier.`,
  invalidTitle: "Ce lien ne fonctionne pas",
  invalid:
    "Il est peut-être incomplet ou trop ancien. Ouvrez-le de nouveau depuis l’e-mail d’origine.",
  confirmTitle: "Plus qu’un clic",
  confirmAsk: (email, site) =>
    `Confirmez que vous souhaitez recevoir les actualités de ${site} à l’adresse ${email}.`,
  confirmIgnore: "Si ce n’était pas vous, fermez cette page. Rien ne sera envoyé.",
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
  email: "E-mail",
  submit: "Envoyer",
  required: "obligatoire",
  choose: "Veuillez choisir",
  honeypot: "Laissez ce champ vide",
  firstName: "Prénom",
  lastName: "Nom",
  phone: "Téléphone",
  company: "Société",
  errorSummaryTitle: "Vérifiez votre saisie",
  fieldError: (label, fault) => `${label}\u00a0: ${fault}`,
  fieldErrors: {
    required: "veuillez remplir ce champ",
    tick: "veuillez cocher cette case",
    email: "ce n’est pas une adresse e-mail",
    number: "ce n’est pas un nombre",
    date: "ce n’est pas une date",
    choice: "choisissez l’une des options",
    long: "c’est trop long",
  },
};

const es: SubscriberPageWording = {
  ...emailFooterWording.es,
  confirm: confirmationEmailWording.es.confirm,
  askTitle: "¿Darse de baja?",
  unsubscribeQuestion: (email, site) => `${email} no recibirá más noticias de ${site}.`,
  unsubscribedTitle: "Baja confirmada",
  unsubscribed: (email, site) =>
    `${email} ya no recibirá noticias de ${site}. Los correos ya enviados aún pueden llegar.`,
  outAll: (email) => `${email} ya no recibirá noticias de ningún sitio de este remitente.`,
  all: "Darse de baja de todos los correos de este remitente",
  allWhy: "¿Recibe también correos de otros sitios de este remitente?",
  resubscribe: "Volver a suscribirse",
  resubscribeHint: "¿Ha sido un error?",
  resubscribedTitle: "Nos alegra verle de nuevo",
  resubscribed: (email, site) => `${email} volverá a recibir noticias de ${site}.`,
  preferencesTitle: "Sus preferencias de correo",
  preferences: (email, site) => `Elija qué correos puede enviar ${site} a ${email}.`,
  leaveTopic: (topic) => `Darse de baja de ${topic}`,
  leftTopicTitle: (topic) => `Se ha dado de baja de ${topic}`,
  topics: "Correos que puede elegir",
  save: "Guardar la selección",
  savedTitle: "Su selección se ha guardado",
  leaveSite: "Darse de baja de todo",
  leaveSiteHint: (site) => `¿No quiere recibir más correos de ${site}?`,
  suppressedTitle: "Esta dirección no recibe correos",
  suppressed: (email, site) =>
    `${site} ya no envía correos a ${email}, por lo que no es necesario darse de baja.`,
  invalidTitle: "Este enlace no funciona",
  invalid:
    "Puede que esté incompleto o que sea demasiado antiguo. Ábralo de nuevo desde el correo " +
    "original.",
  confirmTitle: "Solo un clic más",
  confirmAsk: (email, site) => `Confirme que desea recibir noticias de ${site} en ${email}.`,
  confirmIgnore: "Si no ha sido usted, cierre esta página. No se enviará nada.",
  confirmedTitle: "Gracias por su confirmación",
  confirmed: (email, site) => `${site} ya puede enviarle correos a ${email}.`,
  thanksTitle: "Gracias",
  thanks: "Hemos recibido sus datos.",
  pendingTitle: "Revise su bandeja de entrada",
  pending: "Le hemos enviado un correo con un enlace. Abra el enlace para confirmar su dirección.",
  inactiveTitle: "Este formulario está cerrado",
  inactive: "Por ahora no admite más respuestas.",
  failed: "Se ha producido un error. Inténtelo de nuevo.",
  busy: "Están llegando demasiados envíos. Inténtelo de nuevo en un minuto.",
  email: "Correo electrónico",
  submit: "Enviar",
  required: "obligatorio",
  choose: "Elija una opción",
  honeypot: "Deje este campo vacío",
  firstName: "Nombre",
  lastName: "Apellidos",
  phone: "Teléfono",
  company: "Empresa",
  errorSummaryTitle: "Revise los datos",
  fieldError: (label, fault) => `${label}: ${fault}`,
  fieldErrors: {
    required: "complete este campo",
    tick: "marque esta casilla",
    email: "no es una dirección de correo válida",
    number: "no es un número",
    date: "no es una fecha",
    choice: "elija una de las opciones",
    long: "es demasiado largo",
  },
};

export const subscriberPageWording = { en, de, fr, es };

/**
 * The supported language that the browser prefers (RFC 9110, section 12.5.4), English by default.
 */
export function preferredLanguage(acceptLanguage: string | undefined): Language {
  const preferences = (acceptLanguage ?? "")
    .slice(0, 500)
    .split(",")
    .map((preference) => {
      const [tag = "", weight = ""] = preference.split(";");
      const [, q = "1"] = /^\s*q=([\d.]+)/.exec(weight) ?? [];
      return { language: supportedLanguage(tag), q: Number(q) };
    });
  const accepted = preferences
    .filter(({ language, q }) => language && q > 0)
    .sort((a, b) => b.q - a.q);
  return accepted[0]?.language ?? "en";
}
