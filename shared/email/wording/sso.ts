// The texts of the pages of single sign-on.
import type { Language } from "./subscriber-pages.ts";

const en = {
  startTitle: (organization: string) => `Log in to ${organization}`,
  start: "Continue to the login",
  failedTitle: "The login did not work",
  reason: "Reason",
  again: "Try again",
};
export type SsoWording = typeof en;

const de: SsoWording = {
  startTitle: (organization) => `Bei ${organization} anmelden`,
  start: "Weiter zur Anmeldung",
  failedTitle: "Die Anmeldung hat nicht geklappt",
  reason: "Grund",
  again: "Noch einmal versuchen",
};

const fr: SsoWording = {
  startTitle: (organization) => `Se connecter à ${organization}`,
  start: "Continuer vers la connexion",
  failedTitle: "La connexion a échoué",
  reason: "Raison",
  again: "Réessayer",
};

const es: SsoWording = {
  startTitle: (organization) => `Iniciar sesión en ${organization}`,
  start: "Continuar con el inicio de sesión",
  failedTitle: "No se pudo iniciar la sesión",
  reason: "Motivo",
  again: "Intentarlo de nuevo",
};

export const ssoWording: Record<Language, SsoWording> = { en, de, fr, es };
