// The texts of the pages that verify an email address.
import type { Language } from "./subscriber-pages.ts";

const en = {
  title: "Verify your email address",
  question: (email: string) => `Did you sign up with ${email}? Then verify the address.`,
  verify: "Verify",
  doneTitle: "Your email address is verified",
  done: "You can now send email.",
  invalidTitle: "This link no longer works",
  invalid:
    "It was already used, is more than 24 hours old or is incomplete. If you still cannot send, " +
    "log in and request a new link.",
};
export type EmailVerificationWording = typeof en;

const de: EmailVerificationWording = {
  title: "E-Mail-Adresse bestätigen",
  question: (email) => `Haben Sie sich mit ${email} registriert? Dann bestätigen Sie die Adresse.`,
  verify: "Bestätigen",
  doneTitle: "Ihre E-Mail-Adresse ist bestätigt",
  done: "Sie können jetzt E-Mails versenden.",
  invalidTitle: "Dieser Link funktioniert nicht mehr",
  invalid:
    "Er wurde bereits verwendet, ist älter als 24 Stunden oder unvollständig. Wenn Sie noch " +
    "nicht versenden können, melden Sie sich an und fordern Sie einen neuen Link an.",
};

const fr: EmailVerificationWording = {
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

const es: EmailVerificationWording = {
  title: "Confirmar su dirección de correo",
  question: (email) => `¿Se ha registrado con ${email}? Confirme entonces la dirección.`,
  verify: "Confirmar",
  doneTitle: "Su dirección de correo está confirmada",
  done: "Ya puede enviar correos.",
  invalidTitle: "Este enlace ya no funciona",
  invalid:
    "Ya se usó, tiene más de 24 horas o está incompleto. Si todavía no puede enviar, inicie " +
    "sesión y pida un enlace nuevo.",
};

export const emailVerificationWording: Record<Language, EmailVerificationWording> = {
  en,
  de,
  fr,
  es,
};
