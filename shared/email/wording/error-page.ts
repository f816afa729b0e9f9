// The texts of error pages.
import type { Language } from "./subscriber-pages.ts";

const en = {
  busyTitle: "Not available right now",
  busy: "Please wait a moment, then go back and try again.",
  largeTitle: "Your entry is too long",
  large: "Please go back and shorten it.",
  wrongTitle: "That did not work",
  wrong: "Your request could not be processed. Please go back and try again.",
  goneTitle: "Page not found",
  gone: "The link may be incomplete or too old. Please open the complete link again.",
  oursTitle: "Something went wrong",
  ours: "The problem is on our side. Please try again in a few minutes.",
  reference: "Reference",
};
export type ErrorPageWording = typeof en;

const de: ErrorPageWording = {
  busyTitle: "Gerade nicht verfügbar",
  busy: "Bitte warten Sie einen Moment, gehen Sie dann zurück und versuchen Sie es noch einmal.",
  largeTitle: "Ihre Eingabe ist zu lang",
  large: "Bitte gehen Sie zurück und kürzen Sie sie.",
  wrongTitle: "Das hat nicht geklappt",
  wrong:
    "Ihre Anfrage konnte nicht verarbeitet werden. Bitte gehen Sie zurück und versuchen Sie " +
    "es noch einmal.",
  goneTitle: "Seite nicht gefunden",
  gone:
    "Möglicherweise ist der Link unvollständig oder zu alt. Bitte öffnen Sie noch einmal den " +
    "vollständigen Link.",
  oursTitle: "Etwas ist schiefgegangen",
  ours: "Das Problem liegt bei uns. Bitte versuchen Sie es in einigen Minuten noch einmal.",
  reference: "Referenz",
};

const fr: ErrorPageWording = {
  busyTitle: "Indisponible pour le moment",
  busy: "Patientez un instant, puis revenez en arrière et réessayez.",
  largeTitle: "Votre saisie est trop longue",
  large: "Revenez en arrière et raccourcissez-la.",
  wrongTitle: "Cela n’a pas fonctionné",
  wrong: "Votre demande n’a pas pu être traitée. Revenez en arrière et réessayez.",
  goneTitle: "Page introuvable",
  gone: "Le lien est peut-être incomplet ou trop ancien. Ouvrez de nouveau le lien complet.",
  oursTitle: "Une erreur s’est produite",
  ours: "Le problème vient de notre côté. Réessayez dans quelques minutes.",
  reference: "Référence",
};

const es: ErrorPageWording = {
  busyTitle: "No disponible en este momento",
  busy: "Espere un momento, vuelva atrás e inténtelo de nuevo.",
  largeTitle: "El texto es demasiado largo",
  large: "Vuelva atrás y acórtelo.",
  wrongTitle: "No ha funcionado",
  wrong: "No se ha podido procesar la solicitud. Vuelva atrás e inténtelo de nuevo.",
  goneTitle: "Página no encontrada",
  gone:
    "Puede que el enlace esté incompleto o sea demasiado antiguo. Abra de nuevo el enlace " +
    "completo.",
  oursTitle: "Se ha producido un error",
  ours: "El problema es nuestro. Inténtelo de nuevo dentro de unos minutos.",
  reference: "Referencia",
};

export const errorPageWording: Record<Language, ErrorPageWording> = { en, de, fr, es };
