// The words on the pages of our own users, in every language we speak.
import type { Language } from "./words.ts";

const en = {
  resetTitle: "Set a new password",
  newPassword: "New password",
  rule: "At least 8 characters. Afterwards every session ends, and you log in again.",
  save: "Save the new password",
  tooShort: "The password needs 8 to 200 characters.",
  common: "This is one of the most common passwords. Please choose another.",
  doneTitle: "Your new password is set",
  done: "Every session has been ended. You can log in with the new password now.",
  invalidTitle: "This link does not work any more",
  invalid: "It has been used, is older than an hour, or was cut off in the mail. We can send you a new one.",
  askTitle: "Forgot your password?",
  ask: "Enter your address, and we mail you a link to set a new one.",
  email: "Email",
  send: "Send me a link",
  badEmail: "That is no email address.",
  sentTitle: "Please look into your inbox",
  sent: "If there is an account for this address, a mail is on its way. Its link works for an hour.",
};
export type AccountWords = typeof en;

const de: AccountWords = {
  resetTitle: "Neues Passwort festlegen",
  newPassword: "Neues Passwort",
  rule: "Mindestens 8 Zeichen. Danach enden alle Sitzungen, und Sie melden sich neu an.",
  save: "Neues Passwort speichern",
  tooShort: "Das Passwort braucht 8 bis 200 Zeichen.",
  common: "Das ist eines der häufigsten Passwörter. Bitte wählen Sie ein anderes.",
  doneTitle: "Ihr neues Passwort gilt",
  done: "Alle Sitzungen sind beendet. Sie können sich jetzt mit dem neuen Passwort anmelden.",
  invalidTitle: "Dieser Link funktioniert nicht mehr",
  invalid: "Er wurde schon benutzt, ist älter als eine Stunde oder wurde in der Mail abgeschnitten. Wir senden Ihnen gern einen neuen.",
  askTitle: "Passwort vergessen?",
  ask: "Geben Sie Ihre Adresse ein, dann senden wir Ihnen einen Link für ein neues.",
  email: "E-Mail",
  send: "Link anfordern",
  badEmail: "Das ist keine E-Mail-Adresse.",
  sentTitle: "Bitte sehen Sie in Ihr Postfach",
  sent: "Wenn es zu dieser Adresse ein Konto gibt, ist eine Mail unterwegs. Ihr Link gilt eine Stunde.",
};

const fr: AccountWords = {
  resetTitle: "Choisir un nouveau mot de passe",
  newPassword: "Nouveau mot de passe",
  rule: "Au moins 8 caractères. Toutes les sessions prendront fin, et vous vous reconnecterez.",
  save: "Enregistrer le nouveau mot de passe",
  tooShort: "Le mot de passe doit avoir de 8 à 200 caractères.",
  common: "C’est l’un des mots de passe les plus courants. Choisissez-en un autre.",
  doneTitle: "Votre nouveau mot de passe est enregistré",
  done: "Toutes les sessions ont pris fin. Vous pouvez vous connecter avec le nouveau mot de passe.",
  invalidTitle: "Ce lien ne fonctionne plus",
  invalid: "Il a déjà servi, a plus d’une heure ou a été coupé dans le message. Nous pouvons vous en envoyer un nouveau.",
  askTitle: "Mot de passe oublié ?",
  ask: "Saisissez votre adresse : nous vous enverrons un lien pour en choisir un nouveau.",
  email: "E-mail",
  send: "Recevoir un lien",
  badEmail: "Ce n’est pas une adresse e-mail.",
  sentTitle: "Consultez votre boîte de réception",
  sent: "S’il existe un compte pour cette adresse, un message est en route. Son lien est valable une heure.",
};

const es: AccountWords = {
  resetTitle: "Elegir una contraseña nueva",
  newPassword: "Contraseña nueva",
  rule: "Al menos 8 caracteres. Después se cierran todas las sesiones y podrá entrar de nuevo.",
  save: "Guardar la contraseña nueva",
  tooShort: "La contraseña debe tener entre 8 y 200 caracteres.",
  common: "Es una de las contraseñas más comunes. Elija otra.",
  doneTitle: "Su contraseña nueva está guardada",
  done: "Se han cerrado todas las sesiones. Ya puede entrar con la contraseña nueva.",
  invalidTitle: "Este enlace ya no funciona",
  invalid: "Ya se usó, tiene más de una hora o se cortó en el mensaje. Podemos enviarle uno nuevo.",
  askTitle: "¿Ha olvidado su contraseña?",
  ask: "Escriba su dirección y le enviaremos un enlace para elegir una nueva.",
  email: "Correo electrónico",
  send: "Enviarme un enlace",
  badEmail: "No es una dirección de correo.",
  sentTitle: "Mire su bandeja de entrada",
  sent: "Si hay una cuenta con esta dirección, un mensaje va en camino. Su enlace vale una hora.",
};

export const accountWords: Record<Language, AccountWords> = { en, de, fr, es };
