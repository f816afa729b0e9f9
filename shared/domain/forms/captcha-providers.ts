// What pages and the check of a submission know of the providers of CAPTCHAs
// (developers.cloudflare.com/turnstile, docs.hcaptcha.com).

interface CaptchaProviderTraits {
  verifyUrl: string;
  scriptUrl: string;
  /** Class of the element that the script turns into the widget. */
  className: string;
  /** The field that the widget adds to the form. */
  tokenField: string;
  /** The object that the script defines. */
  globalName: string;
  /** Sources that the widget needs in a content security policy. */
  sources: string[];
}

export const captchaProviders = {
  turnstile: {
    verifyUrl: "https://challenges.cloudflare.com/turnstile/v0/siteverify",
    scriptUrl: "https://challenges.cloudflare.com/turnstile/v0/api.js",
    className: "cf-turnstile",
    tokenField: "cf-turnstile-response",
    globalName: "turnstile",
    sources: ["https://challenges.cloudflare.com"],
  },
  hcaptcha: {
    verifyUrl: "https://api.hcaptcha.com/siteverify",
    scriptUrl: "https://js.hcaptcha.com/1/api.js",
    className: "h-captcha",
    tokenField: "h-captcha-response",
    globalName: "hcaptcha",
    sources: ["https://hcaptcha.com", "https://*.hcaptcha.com"],
  },
} as const satisfies Record<string, CaptchaProviderTraits>;
export type CaptchaProvider = keyof typeof captchaProviders;

/** Fields of widgets, which are no values of the form. hCaptcha also fills one of reCAPTCHA. */
export const captchaFields: readonly string[] = [
  ...Object.values(captchaProviders).map(({ tokenField }) => tokenField),
  "g-recaptcha-response",
];
