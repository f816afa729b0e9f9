// The texts of the service by topic. A bundle contains only the topics that it imports, so a worker
// that adds a footer to mails loads no texts of pages. Each language is a file of this folder.
import type { Language } from "../languages.ts";
import * as ar from "./ar.ts";
import * as de from "./de.ts";
import * as en from "./en.ts";
import * as es from "./es.ts";
import * as fr from "./fr.ts";
import * as it from "./it.ts";
import * as ja from "./ja.ts";
import * as nl from "./nl.ts";
import * as pl from "./pl.ts";
import * as pt from "./pt.ts";

export type ErrorPageWording = typeof en.errorPage;
export type InvitationWording = typeof en.invitation;

export const emailFooterWording: Record<Language, typeof en.emailFooter> = {
  en: en.emailFooter,
  de: de.emailFooter,
  fr: fr.emailFooter,
  es: es.emailFooter,
  it: it.emailFooter,
  pt: pt.emailFooter,
  nl: nl.emailFooter,
  pl: pl.emailFooter,
  ja: ja.emailFooter,
  ar: ar.emailFooter,
};

export const confirmationEmailWording: Record<Language, typeof en.confirmationEmail> = {
  en: en.confirmationEmail,
  de: de.confirmationEmail,
  fr: fr.confirmationEmail,
  es: es.confirmationEmail,
  it: it.confirmationEmail,
  pt: pt.confirmationEmail,
  nl: nl.confirmationEmail,
  pl: pl.confirmationEmail,
  ja: ja.confirmationEmail,
  ar: ar.confirmationEmail,
};

export const invalidLinkWording: Record<Language, typeof en.invalidLink> = {
  en: en.invalidLink,
  de: de.invalidLink,
  fr: fr.invalidLink,
  es: es.invalidLink,
  it: it.invalidLink,
  pt: pt.invalidLink,
  nl: nl.invalidLink,
  pl: pl.invalidLink,
  ja: ja.invalidLink,
  ar: ar.invalidLink,
};

export const unsubscribePageWording: Record<Language, typeof en.unsubscribePage> = {
  en: en.unsubscribePage,
  de: de.unsubscribePage,
  fr: fr.unsubscribePage,
  es: es.unsubscribePage,
  it: it.unsubscribePage,
  pt: pt.unsubscribePage,
  nl: nl.unsubscribePage,
  pl: pl.unsubscribePage,
  ja: ja.unsubscribePage,
  ar: ar.unsubscribePage,
};

export const formPageWording: Record<Language, typeof en.formPage> = {
  en: en.formPage,
  de: de.formPage,
  fr: fr.formPage,
  es: es.formPage,
  it: it.formPage,
  pt: pt.formPage,
  nl: nl.formPage,
  pl: pl.formPage,
  ja: ja.formPage,
  ar: ar.formPage,
};

export const fieldInputWording: Record<Language, typeof en.fieldInput> = {
  en: en.fieldInput,
  de: de.fieldInput,
  fr: fr.fieldInput,
  es: es.fieldInput,
  it: it.fieldInput,
  pt: pt.fieldInput,
  nl: nl.fieldInput,
  pl: pl.fieldInput,
  ja: ja.fieldInput,
  ar: ar.fieldInput,
};

export const browserViewWording: Record<Language, typeof en.browserView> = {
  en: en.browserView,
  de: de.browserView,
  fr: fr.browserView,
  es: es.browserView,
  it: it.browserView,
  pt: pt.browserView,
  nl: nl.browserView,
  pl: pl.browserView,
  ja: ja.browserView,
  ar: ar.browserView,
};

export const secureMessageWording: Record<Language, typeof en.secureMessage> = {
  en: en.secureMessage,
  de: de.secureMessage,
  fr: fr.secureMessage,
  es: es.secureMessage,
  it: it.secureMessage,
  pt: pt.secureMessage,
  nl: nl.secureMessage,
  pl: pl.secureMessage,
  ja: ja.secureMessage,
  ar: ar.secureMessage,
};

export const errorPageWording: Record<Language, typeof en.errorPage> = {
  en: en.errorPage,
  de: de.errorPage,
  fr: fr.errorPage,
  es: es.errorPage,
  it: it.errorPage,
  pt: pt.errorPage,
  nl: nl.errorPage,
  pl: pl.errorPage,
  ja: ja.errorPage,
  ar: ar.errorPage,
};

export const emailVerificationWording: Record<Language, typeof en.emailVerification> = {
  en: en.emailVerification,
  de: de.emailVerification,
  fr: fr.emailVerification,
  es: es.emailVerification,
  it: it.emailVerification,
  pt: pt.emailVerification,
  nl: nl.emailVerification,
  pl: pl.emailVerification,
  ja: ja.emailVerification,
  ar: ar.emailVerification,
};

export const passwordResetWording: Record<Language, typeof en.passwordReset> = {
  en: en.passwordReset,
  de: de.passwordReset,
  fr: fr.passwordReset,
  es: es.passwordReset,
  it: it.passwordReset,
  pt: pt.passwordReset,
  nl: nl.passwordReset,
  pl: pl.passwordReset,
  ja: ja.passwordReset,
  ar: ar.passwordReset,
};

export const invitationWording: Record<Language, typeof en.invitation> = {
  en: en.invitation,
  de: de.invitation,
  fr: fr.invitation,
  es: es.invitation,
  it: it.invitation,
  pt: pt.invitation,
  nl: nl.invitation,
  pl: pl.invitation,
  ja: ja.invitation,
  ar: ar.invitation,
};

export const ssoWording: Record<Language, typeof en.sso> = {
  en: en.sso,
  de: de.sso,
  fr: fr.sso,
  es: es.sso,
  it: it.sso,
  pt: pt.sso,
  nl: nl.sso,
  pl: pl.sso,
  ja: ja.sso,
  ar: ar.sso,
};

export const wayOnWording: Record<Language, typeof en.wayOn> = {
  en: en.wayOn,
  de: de.wayOn,
  fr: fr.wayOn,
  es: es.wayOn,
  it: it.wayOn,
  pt: pt.wayOn,
  nl: nl.wayOn,
  pl: pl.wayOn,
  ja: ja.wayOn,
  ar: ar.wayOn,
};

export const archivePageWording: Record<Language, typeof en.archivePage> = {
  en: en.archivePage,
  de: de.archivePage,
  fr: fr.archivePage,
  es: es.archivePage,
  it: it.archivePage,
  pt: pt.archivePage,
  nl: nl.archivePage,
  pl: pl.archivePage,
  ja: ja.archivePage,
  ar: ar.archivePage,
};
