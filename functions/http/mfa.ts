import * as z from "zod";
import * as factors from "../../shared/domain/identity/mfa/mfa.ts";
import * as mfaLogin from "../../shared/domain/identity/mfa/mfa-login.ts";
import * as mfaProof from "../../shared/domain/identity/mfa/mfa-proof.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Session } from "../../shared/http/login-responses.ts";
import { route } from "../../shared/http/route.ts";
import * as sessionCookie from "../../shared/http/session-cookie.ts";

const tooManyFailures =
  "Too many wrong codes and failed logins: 10 per account in 15 minutes, or " +
  "`LOGIN_FAILURES_PER_ADDRESS` (50) per client address.";
const MfaToken = z
  .string()
  .min(1)
  .max(200)
  .describe("Token from POST /auth/login. Expires after 10 minutes or five wrong codes.");
const RecoveryCodes = z
  .array(z.string())
  .describe("Ten recovery codes, each valid for one login. Returned only here.");
const DisabledResponse = z
  .object({ enabled: z.literal(false).describe("Always false: the factor is turned off.") })
  .meta({ id: "DisabledSecondFactor" });
const passwordNeeded =
  "The login is more than 10 minutes ago, and no password is given (`password_required`).";
const disableErrors = { 429: tooManyFailures };

export const mfa = routeGroup("mfa", [
  route("GET /mfa/status", "Get the user's second factors", {
    auth: "session",
    level: "site",
    returns: factors.MfaStatus,
    handle: ({ caller }) => factors.getStatus(caller),
  }),
  route("POST /mfa/totp/setup", "Create a secret for an authenticator app", {
    operationId: "createTotpSecret",
    description:
      "Returns the secret as text, as a URL and as a QR code. Logins do not ask for a code " +
      "until POST /mfa/totp/verify-setup has accepted one. Until then, a further call " +
      "replaces the secret.",
    auth: "session",
    level: "site",
    returns: z.object({
      secret: z.string().describe("Secret in base32, to type into the app."),
      otpauthUrl: z.string().describe("The secret as an `otpauth://` URL."),
      qrCode: z.string().describe("The URL as a QR code: an SVG image in a data URL."),
    }),
    fieldsShownOnce: ["secret", "otpauthUrl", "qrCode"],
    errors: {
      409: "An authenticator app is already in use (`already_enabled`): turn it off first.",
    },
    handle: ({ caller }) => factors.setUpTotp(caller),
  }),
  route("POST /mfa/totp/verify-setup", "Turn on the authenticator app", {
    operationId: "enableTotp",
    description:
      "Checks the first code of the app. From then on, every login needs a second factor. " +
      "Returns ten new recovery codes; earlier recovery codes stop working. Also needs the " +
      "password if the login is more than 10 minutes ago.",
    auth: "session",
    level: "site",
    body: factors.TotpSetup,
    returns: z.object({
      enabled: z.literal(true).describe("Always true: the factor is turned on."),
      recoveryCodes: RecoveryCodes,
    }),
    fieldsShownOnce: ["recoveryCodes"],
    errors: {
      403: passwordNeeded,
      409: "There is no secret to verify: create one first (`setup_needed`).",
      429: tooManyFailures,
    },
    handle: ({ caller, body }) => factors.enableTotp(caller, body),
  }),
  route("POST /mfa/totp/disable", "Turn off the authenticator app", {
    operationId: "disableTotp",
    description:
      "Needs a current code, a recovery code or the password. If no other second factor is " +
      "left, the recovery codes are deleted and the user is told by email.",
    auth: "session",
    level: "site",
    body: mfaProof.MfaProof.meta({ examples: [{ code: "123456" }] }),
    returns: DisabledResponse,
    errors: disableErrors,
    handle: ({ caller, body }) => factors.disableTotp(caller, body),
  }),
  route("POST /mfa/email-otp/enable", "Turn on login codes by email", {
    operationId: "enableEmailOtp",
    description:
      "From then on, every login needs a second factor. Returns ten recovery codes if this " +
      "is the user's first second factor. Safe to repeat. Needs the password if the login is " +
      "more than 10 minutes ago.",
    auth: "session",
    level: "site",
    body: factors.EmailOtpSetup,
    returns: z.object({
      enabled: z.literal(true).describe("Always true: the factor is turned on."),
      recoveryCodes: RecoveryCodes.optional().meta({
        description:
          "Ten recovery codes, each valid for one login. Returned only if this is the user's " +
          "first second factor.",
      }),
    }),
    fieldsShownOnce: ["recoveryCodes"],
    errors: { 403: passwordNeeded, 429: tooManyFailures },
    handle: ({ caller, body }) => factors.enableEmailOtp(caller, body),
  }),
  route("POST /mfa/email-otp/disable", "Turn off login codes by email", {
    operationId: "disableEmailOtp",
    description:
      "Needs a code of the authenticator app, a recovery code or the password. If no other " +
      "second factor is left, the recovery codes are deleted and the user is told by email.",
    auth: "session",
    level: "site",
    body: mfaProof.MfaProof.meta({ examples: [{ password: "the user's password" }] }),
    returns: DisabledResponse,
    errors: disableErrors,
    handle: ({ caller, body }) => factors.disableEmailOtp(caller, body),
  }),
  route("POST /mfa/recovery-codes", "Create new recovery codes", {
    operationId: "replaceRecoveryCodes",
    description:
      "Returns ten new recovery codes; earlier recovery codes stop working. Needs a code of the " +
      "authenticator app, a recovery code or the password.",
    auth: "session",
    level: "site",
    body: mfaProof.MfaProof.meta({ examples: [{ password: "the user's password" }] }),
    returns: z.object({ recoveryCodes: RecoveryCodes }),
    fieldsShownOnce: ["recoveryCodes"],
    errors: {
      409: "The user has no second factor (`second_factor_off`).",
      429: tooManyFailures,
    },
    handle: ({ caller, body }) => factors.replaceRecoveryCodes(caller, body),
  }),
  route("POST /mfa/challenge", "Email a login code", {
    operationId: "sendMfaCode",
    description:
      "Emails a code for a login that returned an `mfaToken`. The code expires after 10 " +
      "minutes, and each new code replaces the one before.",
    auth: "public",
    rateLimit: "address",
    body: z.object({ mfaToken: MfaToken }),
    returns: z.object({ sent: z.literal(true).describe("Always true: the email is on its way.") }),
    errors: {
      401:
        "The `mfaToken` was used, has expired or has had five wrong codes (`invalid_token`): log " +
        "in again.",
      409: "The user has not turned on login codes by email (`method_unavailable`).",
      429: "Five emails were sent within 15 minutes.",
    },
    handle: async ({ body }) => {
      await mfaLogin.requestCode(body.mfaToken);
      return { sent: true as const };
    },
  }),
  route("POST /mfa/verify", "Complete a login with a second factor", {
    operationId: "verifyMfaCode",
    description:
      "Accepts a code of the authenticator app, an emailed code or a recovery code, and sets " +
      "the session cookie. After five wrong codes the `mfaToken` is void and the user must " +
      "log in again.",
    auth: "public",
    rateLimit: "address",
    body: z
      .object({
        mfaToken: MfaToken,
        code: mfaProof.MfaCode.describe(
          "Code of the authenticator app, code from the email, or recovery code.",
        ),
      })
      .meta({ examples: [{ mfaToken: "...", code: "123456" }] }),
    returns: Session,
    errors: {
      401:
        "`wrong_code`: try another code. `invalid_token`: the `mfaToken` was used, has expired " +
        "or has had five wrong codes; log in again.",
      429: tooManyFailures,
    },
    handle: async ({ body, request, reply }) => {
      const { token, ...profile } = await mfaLogin.verifyLogin(
        body,
        sessionCookie.sessionClientOf(request),
      );
      reply.cookies.push(sessionCookie.createSessionCookie(token));
      return profile;
    },
  }),
]);
export const { handler } = mfa;
