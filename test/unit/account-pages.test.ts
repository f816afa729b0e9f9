import { expect, test } from "vitest";
import { languages } from "../../shared/email/languages.ts";
import * as emailVerificationPages from "../../shared/pages/email-verification-pages.ts";
import * as invitationPages from "../../shared/pages/invitation-pages.ts";
import * as passwordResetPages from "../../shared/pages/password-reset-pages.ts";
import * as ssoPages from "../../shared/pages/sso-pages.ts";

const modules = {
  ...emailVerificationPages,
  ...invitationPages,
  ...passwordResetPages,
  ...ssoPages,
};
type PageName = Extract<keyof typeof modules, `render${string}`>;
const invitation = {
  email: "ada@example.com",
  organizationName: "Shop",
  invitedBy: "Bob",
  hasAccount: true,
  requiresSso: false,
  ssoUrl: null,
};
/** The arguments after the language, of each kind of page that a function renders. */
const pages: Record<PageName, unknown[][]> = {
  renderVerifyPage: [["token", "ada@example.com"]],
  renderVerifiedPage: [["done"], ["invalid"]],
  renderInvitationPage: [["token", invitation]],
  renderInvitationCodePage: [["token", { token: "t", mfaToken: "m", mailed: true }]],
  renderInvitationAcceptedPage: [["Shop"], ["Shop", "https://sso.example"]],
  renderInvitationRefusedPage: [["invalid"], ["already"]],
  renderNewPasswordPage: [["token", { apiKeys: [] }]],
  renderPasswordSetPage: [[]],
  renderResetRequestPage: [["ask"], ["invalid"]],
  renderLinkSentPage: [[]],
  renderSsoStartPage: [[{ organizationName: "Shop", url: "https://sso.example" }]],
  renderSsoFailedPage: [
    [{ reason: "No.", againUrl: undefined }],
    [{ reason: "No.", againUrl: "https://again.example" }],
  ],
};

test("each account page has a next step: a link or a form", () => {
  const names = Object.keys(modules).filter((name) => name.startsWith("render"));
  expect(Object.keys(pages).toSorted()).toEqual(names.toSorted());
  for (const [name, calls] of Object.entries(pages))
    for (const given of calls)
      for (const language of languages) {
        const render = modules[name as PageName] as (...values: unknown[]) => string;
        expect(render(language, ...given), name).toMatch(/<(form|a) [^>]*(action|href)="[^"]+"/);
      }
});
