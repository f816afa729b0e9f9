// The few words at the end of mails, apart from those of pages: who sends mail need not load them all.
export const mailWords = {
  en: { unsubscribe: "Unsubscribe", sentWith: "Sent with Pennymail" },
  de: { unsubscribe: "Abmelden", sentWith: "Gesendet mit Pennymail" },
  fr: { unsubscribe: "Se désabonner", sentWith: "Envoyé avec Pennymail" },
  es: { unsubscribe: "Darse de baja", sentWith: "Enviado con Pennymail" },
};
export type Language = keyof typeof mailWords;

export const known = (tag: string): Language | undefined => {
  const [name = ""] = tag.trim().toLowerCase().split("-");
  return Object.hasOwn(mailWords, name) ? (name as Language) : undefined;
};

/** The language that html says it is in. */
export function languageOfHtml(html: string): Language {
  // In the first such tag only: a pattern that begins anew at each of many takes minutes for a text of megabytes.
  const at = html.search(/<html\s/i);
  const [, tag = ""] = at < 0 ? [] : (/^<html\b[^>]*?\slang\s*=\s*["']?([\w-]+)/i.exec(html.slice(at, at + 1000)) ?? []);
  return known(tag) ?? "en";
}
