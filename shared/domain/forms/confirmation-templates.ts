// The template of a site for the email that asks for a confirmation.

import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import * as liquid from "../../email/liquid.ts";
import { invalid, Problem } from "../../errors.ts";
import { findChosenTemplate } from "../content/own-content.ts";
import { type ChosenTexts, chooseTexts, subjectsOf } from "../content/template-translations.ts";
import * as templates from "../content/templates.ts";
import type { StoredConsentSettings } from "../identity/consent-settings.ts";

/**
 * Checks the template that a site is about to use. Throws 404 if it does not exist, and 400 if it
 * is of another site or does not show the link in each of its languages.
 */
export async function checkTemplate(
  caller: CallerScope,
  siteId: number,
  { confirmationTemplateId: id }: StoredConsentSettings,
): Promise<void> {
  if (id === undefined || id === null) return;
  const path = "confirmationTemplateId";
  const { version } = await findChosenTemplate(caller, { id, siteId, path });
  const body = await templates.readBody(caller.orgId, id, version);
  const locales = [undefined, ...Object.keys(subjectsOf(body) ?? {})];
  const flawed = locales.filter((locale) => !showsLink(chooseTexts(body, locale)));
  if (!flawed.length) return;
  const place = flawed[0] === undefined ? "" : ` in the language ${flawed[0]}`;
  throw invalid(`The template does not show the link {{ confirmUrl }}${place}`, {
    details: [{ path, message: `must show {{ confirmUrl }} in its html, and in its text${place}` }],
  });
}

/**
 * The template for a reader of this language. Undefined without one whose texts show the link: the
 * text of the service is sent instead.
 */
export async function findUsableTemplate(
  orgId: number,
  { confirmationTemplateId: id }: StoredConsentSettings,
  locale: string | undefined,
): Promise<{ id: number } | undefined> {
  if (id === undefined || id === null) return undefined;
  try {
    const { version } = await templates.findMeta({ orgId }, id);
    const body = await templates.readBody(orgId, id, version);
    return showsLink(chooseTexts(body, locale)) ? { id } : undefined;
  } catch (error) {
    if (error instanceof Problem && error.kind === "missing") return undefined;
    throw error;
  }
}

const sampleUrl = "https://mail.example/confirm-7f3a9c";

/** Renders the parts, because a link in a condition or a comment is not shown. */
const showsLink = ({ html, text }: Pick<ChosenTexts, "html" | "text">): boolean =>
  Object.entries({ html, text }).every(([field, source]) => {
    if (source === null) return true;
    const compiled = liquid.compile(source, { escape: field === "html", field });
    const budget = new liquid.Budget();
    const rendered = liquid.render(compiled, { confirmUrl: sampleUrl }, { now: now(), budget });
    return rendered.text.includes(sampleUrl);
  });
