// The texts of the invitation pages.
import type { Language } from "./subscriber-pages.ts";

const en = {
  title: (organization: string) => `Join ${organization}`,
  invited: (inviter: string, email: string) => `${inviter} invited ${email}.`,
  hasAccount: "This address has an account. Enter its password to join.",
  password: "Password",
  forgot: "Forgot your password?",
  name: "Your name (optional)",
  newPassword: "Choose a password",
  passwordRule: "At least 8 characters.",
  join: "Join",
  joinWithSso: "Join with single sign-on",
  wrongPassword: "This is not the password of the account. Please try again.",
  tooShort: "The password must have 8 to 200 characters.",
  common: "This is one of the most common passwords. Please choose another one.",
  tooMany: "Too many failed attempts. Please wait 15 minutes and try again.",
  codeTitle: "Enter your code",
  codeFromApp: "Enter the code of your authenticator app, or a recovery code.",
  codeFromMail: "We sent you a code by email. Enter it, or a recovery code.",
  code: "Code",
  wrongCode: "This code is wrong or was already used. Please try again.",
  doneTitle: (organization: string) => `You are now a member of ${organization}`,
  done: "You are logged in.",
  logInWithSso: "Log in with single sign-on",
  alreadyTitle: "You are already a member",
  already: "There is nothing left to do.",
  invalidTitle: "This invitation no longer works",
  invalid:
    "It was accepted or revoked, is more than seven days old, or the link is incomplete. Ask " +
    "the person who invited you for a new one.",
};
export type InvitationWording = typeof en;

const de: InvitationWording = {
  title: (organization) => `${organization} beitreten`,
  invited: (inviter, email) => `${inviter} hat ${email} eingeladen.`,
  hasAccount:
    "Zu dieser Adresse gibt es ein Konto. Geben Sie das Passwort ein, um die Einladung anzunehmen.",
  password: "Passwort",
  forgot: "Passwort vergessen?",
  name: "Ihr Name (freiwillig)",
  newPassword: "Passwort wählen",
  passwordRule: "Mindestens 8 Zeichen.",
  join: "Beitreten",
  joinWithSso: "Mit Single Sign-on beitreten",
  wrongPassword: "Das ist nicht das Passwort des Kontos. Bitte versuchen Sie es noch einmal.",
  tooShort: "Das Passwort muss 8 bis 200 Zeichen lang sein.",
  common: "Das ist eines der häufigsten Passwörter. Bitte wählen Sie ein anderes.",
  tooMany: "Zu viele Fehlversuche. Bitte warten Sie 15 Minuten und versuchen Sie es dann erneut.",
  codeTitle: "Code eingeben",
  codeFromApp: "Geben Sie den Code Ihrer Authenticator-App oder einen Wiederherstellungscode ein.",
  codeFromMail:
    "Wir haben Ihnen einen Code per E-Mail geschickt. Geben Sie ihn oder einen " +
    "Wiederherstellungscode ein.",
  code: "Code",
  wrongCode:
    "Dieser Code ist falsch oder wurde bereits verwendet. Bitte versuchen Sie es noch einmal.",
  doneTitle: (organization) => `Sie sind jetzt Mitglied von ${organization}`,
  done: "Sie sind angemeldet.",
  logInWithSso: "Mit Single Sign-on anmelden",
  alreadyTitle: "Sie sind bereits Mitglied",
  already: "Es ist nichts weiter zu tun.",
  invalidTitle: "Diese Einladung funktioniert nicht mehr",
  invalid:
    "Sie wurde angenommen oder zurückgezogen, ist älter als sieben Tage oder der Link ist " +
    "unvollständig. Bitten Sie die Person, die Sie eingeladen hat, um eine neue.",
};

const fr: InvitationWording = {
  title: (organization) => `Rejoindre ${organization}`,
  invited: (inviter, email) => `${inviter} a invité ${email}.`,
  hasAccount:
    "Il existe un compte pour cette adresse. Saisissez son mot de passe pour accepter " +
    "l’invitation.",
  password: "Mot de passe",
  forgot: "Mot de passe oublié\u00a0?",
  name: "Votre nom (facultatif)",
  newPassword: "Choisissez un mot de passe",
  passwordRule: "Au moins 8 caractères.",
  join: "Rejoindre",
  joinWithSso: "Rejoindre avec l'authentification unique",
  wrongPassword: "Ce n’est pas le mot de passe du compte. Réessayez.",
  tooShort: "Le mot de passe doit comporter de 8 à 200 caractères.",
  common: "C’est l’un des mots de passe les plus courants. Choisissez-en un autre.",
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
  logInWithSso: "Se connecter avec l'authentification unique",
  alreadyTitle: "Vous êtes déjà membre",
  already: "Il n’y a rien d’autre à faire.",
  invalidTitle: "Cette invitation ne fonctionne plus",
  invalid:
    "Elle a été acceptée ou annulée, date de plus de sept jours ou le lien est incomplet. " +
    "Demandez-en une nouvelle à la personne qui vous a invité.",
};

const es: InvitationWording = {
  title: (organization) => `Unirse a ${organization}`,
  invited: (inviter, email) => `${inviter} ha invitado a ${email}.`,
  hasAccount:
    "Existe una cuenta con esta dirección. Escriba su contraseña para aceptar la invitación.",
  password: "Contraseña",
  forgot: "¿Ha olvidado su contraseña?",
  name: "Su nombre (opcional)",
  newPassword: "Elija una contraseña",
  passwordRule: "Al menos 8 caracteres.",
  join: "Unirse",
  joinWithSso: "Unirse con inicio de sesión único",
  wrongPassword: "Esta no es la contraseña de la cuenta. Inténtelo de nuevo.",
  tooShort: "La contraseña debe tener entre 8 y 200 caracteres.",
  common: "Es una de las contraseñas más comunes. Elija otra.",
  tooMany: "Demasiados intentos fallidos. Espere 15 minutos e inténtelo de nuevo.",
  codeTitle: "Escriba su código",
  codeFromApp: "Escriba el código de su aplicación de autenticación o un código de recuperación.",
  codeFromMail:
    "Le hemos enviado un código por correo. Escríbalo, o escriba un código de recuperación.",
  code: "Código",
  wrongCode: "Este código no es correcto o ya se usó. Inténtelo de nuevo.",
  doneTitle: (organization) => `Ya es miembro de ${organization}`,
  done: "Ha iniciado sesión.",
  logInWithSso: "Entrar con inicio de sesión único",
  alreadyTitle: "Ya es miembro",
  already: "No queda nada por hacer.",
  invalidTitle: "Esta invitación ya no funciona",
  invalid:
    "Se aceptó o se anuló, tiene más de siete días o el enlace está incompleto. Pida una nueva a " +
    "la persona que le invitó.",
};

export const invitationWording: Record<Language, InvitationWording> = { en, de, fr, es };
