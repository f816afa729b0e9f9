// The mail that asks to confirm an address, apart from the words of pages: who sends it need not load them all.
import type { Language } from "./mail-words.ts";

interface Words {
  confirm: string;
  subject(site: string): string;
  hello: string;
  ask(site: string): string;
  ignore: string;
}

export const confirmMailWords: Record<Language, Words> = {
  en: {
    confirm: "Yes, confirm",
    subject: (site) => `Please confirm: ${site}`,
    hello: "Hello,",
    ask: (site) => `somebody, we hope you, entered this address at ${site}. Please confirm that it is yours:`,
    ignore: "If it was not you, do nothing: you will hear no more of it.",
  },
  de: {
    confirm: "Ja, bestätigen",
    subject: (site) => `Bitte bestätigen: ${site}`,
    hello: "Guten Tag,",
    ask: (site) => `jemand, hoffentlich Sie, hat diese Adresse bei ${site} eingetragen. Bitte bestätigen Sie, dass es Ihre ist:`,
    ignore: "Waren Sie es nicht, tun Sie nichts: Sie hören dann nicht mehr davon.",
  },
  fr: {
    confirm: "Oui, confirmer",
    subject: (site) => `Merci de confirmer : ${site}`,
    hello: "Bonjour,",
    ask: (site) => `quelqu’un, vous sans doute, a saisi cette adresse chez ${site}. Confirmez qu’elle est bien la vôtre :`,
    ignore: "Si ce n’était pas vous, ne faites rien : vous n’en entendrez plus parler.",
  },
  es: {
    confirm: "Sí, confirmar",
    subject: (site) => `Confirme, por favor: ${site}`,
    hello: "Hola:",
    ask: (site) => `alguien, esperamos que usted, ha introducido esta dirección en ${site}. Confirme que es la suya:`,
    ignore: "Si no fue usted, no haga nada: no volverá a saber de ello.",
  },
};
