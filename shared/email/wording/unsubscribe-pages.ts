// The texts of the page behind the unsubscribe link. Another language is one more entry in each
// file of this folder.
import { emailFooterWording } from "./email-footer.ts";
import { invalidLinkWording } from "./subscriber-pages.ts";

const en = {
  ...emailFooterWording.en,
  ...invalidLinkWording.en,
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
};
type UnsubscribePageWording = typeof en;

const de: UnsubscribePageWording = {
  ...emailFooterWording.de,
  ...invalidLinkWording.de,
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
};

const fr: UnsubscribePageWording = {
  ...emailFooterWording.fr,
  ...invalidLinkWording.fr,
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
};

const es: UnsubscribePageWording = {
  ...emailFooterWording.es,
  ...invalidLinkWording.es,
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
};

export const unsubscribePageWording = { en, de, fr, es };
