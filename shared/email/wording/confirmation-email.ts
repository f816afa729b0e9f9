// The texts of the mail that asks to confirm an address. They stand apart from those of pages, so
// that workers load less.
import type { Language } from "./email-footer.ts";

interface ConfirmationEmailWording {
  confirm: string;
  subject(site: string): string;
  greeting: string;
  intro(site: string): string;
  ignoreNote: string;
}

export const confirmationEmailWording: Record<Language, ConfirmationEmailWording> = {
  en: {
    confirm: "Yes, confirm",
    subject: (site) => `Please confirm your email address for ${site}`,
    greeting: "Hello,",
    intro: (site) => `This email address was entered at ${site}. If it was you, please confirm it:`,
    ignoreNote:
      "If it was not you, ignore this email. Without your confirmation you will not be subscribed.",
  },
  de: {
    confirm: "Ja, bestätigen",
    subject: (site) => `Bitte bestätigen Sie Ihre E-Mail-Adresse für ${site}`,
    greeting: "Guten Tag,",
    intro: (site) =>
      `diese E-Mail-Adresse wurde bei ${site} eingetragen. Wenn Sie das waren, bestätigen ` +
      "Sie sie bitte:",
    ignoreNote:
      "Wenn Sie das nicht waren, ignorieren Sie diese E-Mail. Ohne Ihre Bestätigung werden " +
      "Sie nicht angemeldet.",
  },
  fr: {
    confirm: "Oui, confirmer",
    subject: (site) => `Confirmez votre adresse e-mail pour ${site}`,
    greeting: "Bonjour,",
    intro: (site) =>
      `Cette adresse e-mail a été saisie sur ${site}. Si c’était bien vous, confirmez-la\u00a0:`,
    ignoreNote:
      "Si ce n’était pas vous, ignorez cet e-mail. Sans confirmation de votre part, aucune " +
      "inscription ne sera faite.",
  },
  es: {
    confirm: "Sí, confirmar",
    subject: (site) => `Confirme su dirección de correo para ${site}`,
    greeting: "Hola:",
    intro: (site) =>
      `Se ha introducido esta dirección de correo en ${site}. Si ha sido usted, confírmela:`,
    ignoreNote:
      "Si no ha sido usted, ignore este correo. Sin su confirmación no se hará ninguna " +
      "suscripción.",
  },
};
