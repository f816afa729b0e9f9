// The texts of the password reset pages.
import type { Language } from "./subscriber-pages.ts";

const en = {
  resetTitle: "Set a new password",
  newPassword: "New password",
  passwordRule: "At least 8 characters. You will be logged out everywhere and must log in again.",
  apiKeys: (count: number) => `API keys that you created still work (${count}):`,
  revokeApiKeys: "Revoke all of them. Choose this if somebody else may know them.",
  save: "Save the new password",
  tooShort: "The password must have 8 to 200 characters.",
  common: "This is one of the most common passwords. Please choose another one.",
  doneTitle: "Your new password is set",
  passwordSet: "You have been logged out everywhere. Log in with your new password.",
  invalidTitle: "This link no longer works",
  invalid:
    "It was already used, is more than an hour old or is incomplete. Enter your email " +
    "address to get a new link.",
  askTitle: "Forgot your password?",
  ask: "Enter your email address, and we will send you a link to set a new password.",
  email: "Email",
  send: "Send me a link",
  invalidEmail: "Please enter a valid email address.",
  sentTitle: "Please check your inbox",
  linkSent:
    "If an account exists for this address, an email is on its way. The link in it works for " +
    "one hour.",
};
export type PasswordResetWording = typeof en;

const de: PasswordResetWording = {
  resetTitle: "Neues Passwort festlegen",
  newPassword: "Neues Passwort",
  passwordRule:
    "Mindestens 8 Zeichen. Danach werden Sie überall abgemeldet und müssen sich neu anmelden.",
  apiKeys: (count) => `Von Ihnen erstellte API-Schlüssel gelten weiter (${count}):`,
  revokeApiKeys: "Alle widerrufen. Wählen Sie das, wenn jemand anderes sie kennen könnte.",
  save: "Neues Passwort speichern",
  tooShort: "Das Passwort muss 8 bis 200 Zeichen lang sein.",
  common: "Das ist eines der häufigsten Passwörter. Bitte wählen Sie ein anderes.",
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

const fr: PasswordResetWording = {
  resetTitle: "Choisir un nouveau mot de passe",
  newPassword: "Nouveau mot de passe",
  passwordRule:
    "Au moins 8 caractères. Toutes vos sessions seront fermées et vous devrez vous reconnecter.",
  apiKeys: (count) => `Les clés d’API que vous avez créées restent valables (${count})\u00a0:`,
  revokeApiKeys:
    "Les révoquer toutes. Choisissez cette option si quelqu’un d’autre peut les connaître.",
  save: "Enregistrer le nouveau mot de passe",
  tooShort: "Le mot de passe doit comporter de 8 à 200 caractères.",
  common: "C’est l’un des mots de passe les plus courants. Choisissez-en un autre.",
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

const es: PasswordResetWording = {
  resetTitle: "Elegir una contraseña nueva",
  newPassword: "Contraseña nueva",
  passwordRule:
    "Al menos 8 caracteres. Se cerrarán todas las sesiones y tendrá que iniciar sesión de nuevo.",
  apiKeys: (count) => `Las claves de API que usted creó siguen siendo válidas (${count}):`,
  revokeApiKeys: "Revocarlas todas. Elija esta opción si otra persona puede conocerlas.",
  save: "Guardar la contraseña nueva",
  tooShort: "La contraseña debe tener entre 8 y 200 caracteres.",
  common: "Es una de las contraseñas más comunes. Elija otra.",
  doneTitle: "Se ha guardado su nueva contraseña",
  passwordSet: "Se han cerrado todas las sesiones. Inicie sesión con su nueva contraseña.",
  invalidTitle: "Este enlace ya no funciona",
  invalid:
    "Ya se usó, tiene más de una hora o está incompleto. Escriba su dirección de correo para " +
    "recibir un enlace nuevo.",
  askTitle: "¿Ha olvidado su contraseña?",
  ask: "Escriba su dirección de correo y le enviaremos un enlace para elegir una contraseña nueva.",
  email: "Correo electrónico",
  send: "Enviarme un enlace",
  invalidEmail: "Escriba una dirección de correo válida.",
  sentTitle: "Revise su bandeja de entrada",
  linkSent:
    "Si existe una cuenta con esta dirección, le hemos enviado un correo. El enlace que " +
    "contiene caduca al cabo de una hora.",
};

export const passwordResetWording: Record<Language, PasswordResetWording> = { en, de, fr, es };
