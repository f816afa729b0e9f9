// The texts of secure messages: the notice mail, and the page that shows the message.
import type { Language } from "./subscriber-pages.ts";

const en = {
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
};
export type SecureMessageWording = typeof en;

const de: SecureMessageWording = {
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
};

const fr: SecureMessageWording = {
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
};

const es: SecureMessageWording = {
  noticeFrom: (sender) =>
    `${sender} le ha enviado un mensaje protegido. No está en este correo. Puede leerlo en ` +
    "una página aparte:",
  noticeOpen: "Abrir el mensaje",
  noticePassphrase: "Necesitará la contraseña que le ha dado el remitente.",
  expiryNote: (date) => `El mensaje se puede abrir hasta el ${date}.`,
  title: "Un mensaje protegido para usted",
  from: (sender) => `${sender} le ha enviado un mensaje que solo puede leer en esta página.`,
  show: "Mostrar el mensaje",
  passphrase: "Contraseña",
  passphraseHint: "Se la ha dado el remitente.",
  wrong: "La contraseña no es correcta. Inténtelo de nuevo.",
  tooMany: "Demasiados intentos fallidos. Inténtelo de nuevo dentro de una hora.",
  goneTitle: "Este mensaje ya no está disponible",
  gone:
    "Ha caducado o se ha retirado. Si todavía lo necesita, póngase en contacto con el " +
    "remitente.",
  invalidTitle: "Este enlace no funciona",
  invalid: "Puede que esté incompleto. Ábralo de nuevo desde el correo original.",
  frameTitle: "El mensaje",
  sentBy: (sender) => `De ${sender}.`,
};

export const secureMessageWording: Record<Language, SecureMessageWording> = { en, de, fr, es };
