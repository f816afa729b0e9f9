// What the pages for contacts have in common: their languages, and the text for a link that does
// not work.
import { type Language, supportedLanguage } from "./email-footer.ts";

export type { Language };

export const invalidLinkWording = {
  en: {
    invalidTitle: "This link does not work",
    invalid: "It may be incomplete or too old. Please open it again from the original email.",
  },
  de: {
    invalidTitle: "Dieser Link funktioniert nicht",
    invalid:
      "Möglicherweise ist er unvollständig oder zu alt. Bitte öffnen Sie ihn noch einmal aus " +
      "der ursprünglichen E-Mail.",
  },
  fr: {
    invalidTitle: "Ce lien ne fonctionne pas",
    invalid:
      "Il est peut-être incomplet ou trop ancien. Ouvrez-le de nouveau depuis l’e-mail d’origine.",
  },
  es: {
    invalidTitle: "Este enlace no funciona",
    invalid:
      "Puede que esté incompleto o que sea demasiado antiguo. Ábralo de nuevo desde el correo " +
      "original.",
  },
};

/**
 * The supported language that the browser prefers (RFC 9110, section 12.5.4), English by default.
 */
export function preferredLanguage(acceptLanguage: string | undefined): Language {
  const preferences = (acceptLanguage ?? "")
    .slice(0, 500)
    .split(",")
    .map((preference) => {
      const [tag = "", weight = ""] = preference.split(";");
      const [, q = "1"] = /^\s*q=([\d.]+)/.exec(weight) ?? [];
      return { language: supportedLanguage(tag), q: Number(q) };
    });
  const accepted = preferences
    .filter(({ language, q }) => language && q > 0)
    .sort((a, b) => b.q - a.q);
  return accepted[0]?.language ?? "en";
}
