// The words around secure messages: of the notice, and of the page that shows the message.
import type { Language } from "./words.ts";

const en = {
  noticeFrom: (sender: string) => `${sender} has sent you a protected message. It is not in this mail: open it on its own page.`,
  noticeOpen: "Open the message",
  noticePassphrase: "You will be asked for the passphrase that the sender has told you.",
  until: (date: string) => `It can be opened until ${date}.`,
  title: "A protected message for you",
  from: (sender: string) => `${sender} has sent you a message that only this page shows.`,
  show: "Show the message",
  passphrase: "Passphrase",
  passphraseHint: "The sender has told it to you.",
  wrong: "This is not the passphrase.",
  tooMany: "Too many wrong passphrases. Please try again in an hour.",
  goneTitle: "This message is not there any more",
  gone: "It has expired, or its sender has withdrawn it. Please ask the sender if you still need it.",
  invalidTitle: "This link does not work",
  invalid: "It may have been cut off in the mail. Please open it again from the mail it came with.",
  frame: "The message",
  sentBy: (sender: string) => `From ${sender}.`,
};
export type SecureWords = typeof en;

const de: SecureWords = {
  noticeFrom: (sender) =>
    `${sender} hat Ihnen eine geschützte Nachricht geschickt. Sie steht nicht in dieser Mail, sondern auf einer eigenen Seite.`,
  noticeOpen: "Nachricht öffnen",
  noticePassphrase: "Sie werden nach dem Kennwort gefragt, das Ihnen der Absender genannt hat.",
  until: (date) => `Sie lässt sich bis zum ${date} öffnen.`,
  title: "Eine geschützte Nachricht für Sie",
  from: (sender) => `${sender} hat Ihnen eine Nachricht geschickt, die nur diese Seite zeigt.`,
  show: "Nachricht zeigen",
  passphrase: "Kennwort",
  passphraseHint: "Der Absender hat es Ihnen genannt.",
  wrong: "Das ist nicht das Kennwort.",
  tooMany: "Zu viele falsche Kennwörter. Bitte versuchen Sie es in einer Stunde wieder.",
  goneTitle: "Diese Nachricht gibt es nicht mehr",
  gone: "Sie ist abgelaufen oder wurde vom Absender zurückgezogen. Fragen Sie ihn, falls Sie sie noch brauchen.",
  invalidTitle: "Dieser Link funktioniert nicht",
  invalid: "Vielleicht wurde er in der Mail abgeschnitten. Bitte öffnen Sie ihn noch einmal aus der Mail.",
  frame: "Die Nachricht",
  sentBy: (sender) => `Von ${sender}.`,
};

const fr: SecureWords = {
  noticeFrom: (sender) => `${sender} vous a envoyé un message protégé. Il n’est pas dans cet e-mail : ouvrez-le sur sa propre page.`,
  noticeOpen: "Ouvrir le message",
  noticePassphrase: "La phrase secrète que l’expéditeur vous a indiquée vous sera demandée.",
  until: (date) => `Il peut être ouvert jusqu’au ${date}.`,
  title: "Un message protégé pour vous",
  from: (sender) => `${sender} vous a envoyé un message que seule cette page affiche.`,
  show: "Afficher le message",
  passphrase: "Phrase secrète",
  passphraseHint: "L’expéditeur vous l’a indiquée.",
  wrong: "Ce n’est pas la phrase secrète.",
  tooMany: "Trop d’essais erronés. Réessayez dans une heure.",
  goneTitle: "Ce message n’existe plus",
  gone: "Il a expiré ou son expéditeur l’a retiré. Adressez-vous à lui si vous en avez encore besoin.",
  invalidTitle: "Ce lien ne fonctionne pas",
  invalid: "Il a peut-être été coupé dans l’e-mail. Ouvrez-le de nouveau depuis l’e-mail d’origine.",
  frame: "Le message",
  sentBy: (sender) => `De ${sender}.`,
};

const es: SecureWords = {
  noticeFrom: (sender) => `${sender} le ha enviado un mensaje protegido. No está en este correo: ábralo en su propia página.`,
  noticeOpen: "Abrir el mensaje",
  noticePassphrase: "Se le pedirá la contraseña que el remitente le ha indicado.",
  until: (date) => `Se puede abrir hasta el ${date}.`,
  title: "Un mensaje protegido para usted",
  from: (sender) => `${sender} le ha enviado un mensaje que solo esta página muestra.`,
  show: "Mostrar el mensaje",
  passphrase: "Contraseña",
  passphraseHint: "El remitente se la ha indicado.",
  wrong: "Esa no es la contraseña.",
  tooMany: "Demasiadas contraseñas erróneas. Inténtelo de nuevo en una hora.",
  goneTitle: "Este mensaje ya no existe",
  gone: "Ha caducado o su remitente lo ha retirado. Pregúntele si todavía lo necesita.",
  invalidTitle: "Este enlace no funciona",
  invalid: "Puede que se haya cortado en el correo. Ábralo de nuevo desde el correo original.",
  frame: "El mensaje",
  sentBy: (sender) => `De ${sender}.`,
};

export const secureWords: Record<Language, SecureWords> = { en, de, fr, es };
