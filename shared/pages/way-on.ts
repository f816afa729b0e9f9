// The link at the end of an account page that leads on.
import type { Language } from "../email/languages.ts";
import { wayOnWording } from "../email/wording/by-topic.ts";
import { html } from "../kernel/html.ts";

const addresses = { logIn: "/app/sign-in", openConsole: "/app" };

export const renderWayOn = (lang: Language, way: keyof typeof addresses) =>
  html`<p><a href="${addresses[way]}">${wayOnWording[lang][way]}</a></p>`;
