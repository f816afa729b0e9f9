// What a page says to people when something keeps us from doing what they asked for.
import type { Language } from "./words.ts";

const en = {
  busyTitle: "That was a little too often",
  busy: "Please wait a moment, then go back and try again.",
  largeTitle: "That is too much at once",
  large: "Please go back and send less.",
  wrongTitle: "That did not work",
  wrong: "Something about what was sent cannot be read. Please go back and try again.",
  goneTitle: "There is nothing here",
  gone: "Perhaps the address was cut off on the way. Please try the whole link once more.",
  oursTitle: "That was our fault",
  ours: "Something went wrong on our side. Please try again in a few minutes.",
  reference: "Reference",
};
export type FailureWords = typeof en;

const de: FailureWords = {
  busyTitle: "Das war etwas zu oft",
  busy: "Bitte warten Sie einen Moment, gehen Sie dann zurück und versuchen Sie es noch einmal.",
  largeTitle: "Das ist zu viel auf einmal",
  large: "Bitte gehen Sie zurück und senden Sie weniger.",
  wrongTitle: "Das hat nicht geklappt",
  wrong: "Etwas von dem, was gesendet wurde, ist nicht lesbar. Bitte gehen Sie zurück und versuchen Sie es noch einmal.",
  goneTitle: "Hier ist nichts",
  gone: "Vielleicht wurde die Adresse unterwegs abgeschnitten. Bitte versuchen Sie es noch einmal mit dem ganzen Link.",
  oursTitle: "Das lag an uns",
  ours: "Bei uns ist etwas schiefgegangen. Bitte versuchen Sie es in ein paar Minuten noch einmal.",
  reference: "Kennung",
};

const fr: FailureWords = {
  busyTitle: "C’était un peu trop souvent",
  busy: "Patientez un instant, puis revenez en arrière et réessayez.",
  largeTitle: "C’est trop à la fois",
  large: "Revenez en arrière et envoyez-en moins.",
  wrongTitle: "Cela n’a pas fonctionné",
  wrong: "Une partie de ce qui a été envoyé est illisible. Revenez en arrière et réessayez.",
  goneTitle: "Il n’y a rien ici",
  gone: "L’adresse a peut-être été coupée en chemin. Réessayez avec le lien entier.",
  oursTitle: "C’était notre faute",
  ours: "Une erreur s’est produite chez nous. Réessayez dans quelques minutes.",
  reference: "Référence",
};

const es: FailureWords = {
  busyTitle: "Han sido demasiadas veces seguidas",
  busy: "Espere un momento, vuelva atrás e inténtelo de nuevo.",
  largeTitle: "Es demasiado de una vez",
  large: "Vuelva atrás y envíe menos.",
  wrongTitle: "No ha funcionado",
  wrong: "Algo de lo enviado no se puede leer. Vuelva atrás e inténtelo de nuevo.",
  goneTitle: "Aquí no hay nada",
  gone: "Quizá la dirección se cortó por el camino. Inténtelo de nuevo con el enlace completo.",
  oursTitle: "Ha sido culpa nuestra",
  ours: "Algo ha fallado por nuestra parte. Inténtelo de nuevo dentro de unos minutos.",
  reference: "Referencia",
};

export const failureWords: Record<Language, FailureWords> = { en, de, fr, es };
