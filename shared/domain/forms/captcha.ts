// CAPTCHA of a form: the widget of a provider gives the visitor a token, which the provider
// verifies when the form is submitted.
import * as z from "zod";
import { NoResponse } from "../../adapters/http/no-response.ts";
import { requestPublicUrl } from "../../adapters/http/public-client.ts";
import * as encryption from "../../adapters/kms/encryption.ts";
import { config } from "../../config.ts";
import { invalid } from "../../errors.ts";
import { parseJson } from "../../kernel/json.ts";
import * as log from "../../kernel/log.ts";
import { type CaptchaProvider, captchaProviders } from "./captcha-providers.ts";

const siteKey = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[\w-]+$/)
  .describe("Site key from the provider. It is public: pages of the form contain it.");
const provider = z
  .enum(["turnstile", "hcaptcha"])
  .describe("`turnstile`: Cloudflare Turnstile. `hcaptcha`: hCaptcha.");

export const FormCaptcha = z.object({ provider, siteKey }).meta({ id: "FormCaptcha" });
export type FormCaptcha = z.output<typeof FormCaptcha>;

export const FormCaptchaInput = z
  .object({
    provider,
    siteKey,
    secret: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        "Secret key from the provider. It is stored encrypted and never returned. Required with " +
          "another provider or site key than before.",
      ),
  })
  .meta({ id: "FormCaptchaInput" });
export type FormCaptchaInput = z.output<typeof FormCaptchaInput>;

export interface StoredCaptcha extends FormCaptcha {
  sealedSecret: string;
}

interface FormRef {
  orgId: number;
  id: number;
}

const encryptionContext = ({ orgId, id }: FormRef): encryption.EncryptionContext => ({
  orgId: String(orgId),
  formId: String(id),
});

/** Keeps the secret of `current` if none is given. Throws 400 if there is none to keep. */
export async function sealCaptcha(
  form: FormRef,
  given: FormCaptchaInput | null,
  current?: StoredCaptcha | null,
): Promise<StoredCaptcha | null> {
  if (!given) return null;
  const { secret, ...shown } = given;
  if (secret !== undefined)
    return { ...shown, sealedSecret: await encryption.encrypt(secret, encryptionContext(form)) };
  const isSame = current?.provider === given.provider && current.siteKey === given.siteKey;
  if (isSame) return { ...shown, sealedSecret: current.sealedSecret };
  const path = "captcha.secret";
  const message = "is required with another provider or site key";
  throw invalid(`${path} ${message}`, { details: [{ path, message }] });
}

export const captchaToApi = (stored: StoredCaptcha | null | undefined): FormCaptcha | null =>
  stored ? { provider: stored.provider, siteKey: stored.siteKey } : null;

/**
 * `failed`: the visitor has to solve it again. `unavailable`: the provider did not answer, or does
 * not accept the secret of the form.
 */
export type CaptchaResult = "passed" | "failed" | "unavailable";

const timeoutSeconds = 5;
const maxResponseBytes = 20_000;
const maxTokenLength = 4096;
const Verdict = z.object({
  success: z.boolean(),
  "error-codes": z.array(z.string()).default([]),
});
/** The form is configured wrongly: no visitor can pass. */
const secretErrors = ["missing-input-secret", "invalid-input-secret", "sitekey-secret-mismatch"];

/** A token is valid once. Nobody passes while the provider is down: bots would wait for that. */
export async function verifyCaptcha(
  form: FormRef & { captcha: StoredCaptcha },
  token: unknown,
  ip: string | undefined,
): Promise<CaptchaResult> {
  if (typeof token !== "string" || !token || token.length > maxTokenLength) return "failed";
  const { provider: name, siteKey: sitekey, sealedSecret } = form.captcha;
  const secret = await encryption.decrypt(sealedSecret, encryptionContext(form));
  const verdict = await ask(name, {
    secret,
    response: token,
    sitekey,
    ...(ip !== undefined && { remoteip: ip }),
  });
  if (!verdict) return "unavailable";
  if (verdict.success) return "passed";
  const refusesSecret = verdict["error-codes"].some((code) => secretErrors.includes(code));
  return refusesSecret ? "unavailable" : "failed";
}

/** Undefined without a usable answer. */
async function ask(
  name: CaptchaProvider,
  fields: Record<string, string>,
): Promise<z.output<typeof Verdict> | undefined> {
  const { verifyUrl } = captchaProviders[name];
  const standIn = config.captchaUrl;
  const url = standIn ? `${standIn}/${name}${new URL(verifyUrl).pathname}` : verifyUrl;
  try {
    const { status, text } = await requestPublicUrl({
      ...{ method: "POST", url, timeoutSeconds, maxBytes: maxResponseBytes },
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields).toString(),
      allowLoopback: standIn !== undefined,
    });
    const { data } = Verdict.safeParse(parseJson(text));
    if (data && status < 500) return data;
    log.warn("The CAPTCHA provider gave no verdict", { provider: name, status });
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error;
    log.warn("The CAPTCHA provider did not answer", { provider: name, reason: error.reason });
  }
  return undefined;
}
