// The texts at the end of mails. They stand apart from those of pages, so that workers load less.
export const emailFooterWording = {
  en: {
    unsubscribe: "Unsubscribe",
    preferences: "Email preferences",
    sentWith: "Sent with Pennymail",
  },
  de: {
    unsubscribe: "Abmelden",
    preferences: "E-Mail-Einstellungen",
    sentWith: "Gesendet mit Pennymail",
  },
  fr: {
    unsubscribe: "Se désabonner",
    preferences: "Préférences d’e-mail",
    sentWith: "Envoyé avec Pennymail",
  },
  es: {
    unsubscribe: "Darse de baja",
    preferences: "Preferencias de correo",
    sentWith: "Enviado con Pennymail",
  },
};
export type Language = keyof typeof emailFooterWording;

export const supportedLanguage = (tag: string): Language | undefined => {
  const [name = ""] = tag.trim().toLowerCase().split("-");
  return Object.hasOwn(emailFooterWording, name) ? (name as Language) : undefined;
};

/** The language in the `lang` attribute of the `html` element. */
export function detectHtmlLanguage(html: string): Language {
  // Only the first tag is searched: with many tags, a pattern that restarts at each takes minutes.
  const at = html.search(/<html\s/i);
  const [, tag = ""] =
    at < 0
      ? []
      : (/^<html\b[^>]*?\slang\s*=\s*["']?([\w-]+)/i.exec(html.slice(at, at + 1000)) ?? []);
  return supportedLanguage(tag) ?? "en";
}
