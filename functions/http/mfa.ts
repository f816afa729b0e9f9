import * as z from "zod";
import * as accounts from "../../shared/domain/accounts.ts";
import * as factors from "../../shared/domain/mfa.ts";
import * as organizations from "../../shared/domain/organizations.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import * as cookies from "../../shared/http/session-cookie.ts";

const tooManyFailures =
  "Too many failures, together with failed logins: 10 per account in 15 minutes, or the setting LOGIN_FAILURES_PER_ADDRESS (50) per client address";
const MfaToken = z.string().min(1).max(200).describe("From POST /auth/login; lives 10 minutes, five wrong codes burn it");
const RecoveryCodes = z.array(z.string()).describe("Ten codes, each good for one login; shown this once");
const Disabled = z.object({ enabled: z.literal(false) });
const proofNeeded = { 429: tooManyFailures };

export const mfa = group("mfa", [
  route("GET /mfa/status", "Which second factors the user has", {
    auth: "session",
    returns: factors.Status,
    handle: ({ caller }) => factors.status(caller),
  }),
  route("POST /mfa/totp/setup", "Make a secret for an authenticator app; it counts once a code of it was verified", {
    auth: "session",
    returns: z.object({
      secret: z.string().describe("Base32, to type in"),
      otpauthUrl: z.string(),
      qrCode: z.string().describe("The otpauthUrl as an image: a data URL (SVG)"),
    }),
    once: ["secret", "otpauthUrl", "qrCode"],
    errors: { 409: "An authenticator app is in use already" },
    handle: ({ caller }) => factors.setUpTotp(caller),
  }),
  route("POST /mfa/totp/verify-setup", "Verify the first code of the app: from then on a login needs one", {
    auth: "session",
    body: z.object({ code: factors.Code.describe("Six digits") }).meta({ examples: [{ code: "123456" }] }),
    returns: z.object({ enabled: z.literal(true), recoveryCodes: RecoveryCodes }),
    once: ["recoveryCodes"],
    errors: { 409: "No app was set up, or it was meanwhile", 429: tooManyFailures },
    handle: ({ caller, body }) => factors.enableTotp(caller, body.code),
  }),
  route("POST /mfa/totp/disable", "Do without the app, proven by a code of it, a recovery code or the password", {
    auth: "session",
    body: factors.Proof.meta({ examples: [{ code: "123456" }] }),
    returns: Disabled,
    errors: proofNeeded,
    handle: ({ caller, body }) => factors.disableTotp(caller, body),
  }),
  route("POST /mfa/email-otp/enable", "Have logins ask for a code that is mailed to the user", {
    auth: "session",
    returns: z.object({
      enabled: z.literal(true),
      recoveryCodes: RecoveryCodes.optional().meta({ description: "When it is the user's first second factor" }),
    }),
    once: ["recoveryCodes"],
    handle: ({ caller }) => factors.enableEmailOtp(caller),
  }),
  route("POST /mfa/email-otp/disable", "Do without mailed codes, proven by a code of the app, a recovery code or the password", {
    auth: "session",
    body: factors.Proof.meta({ examples: [{ password: "the user's password" }] }),
    returns: Disabled,
    errors: proofNeeded,
    handle: ({ caller, body }) => factors.disableEmailOtp(caller, body),
  }),
  route("POST /mfa/challenge", "Mail a code for a login that waits for one; it lives 10 minutes, and only the newest counts", {
    auth: "public",
    limit: "address",
    body: z.object({ mfaToken: MfaToken }),
    returns: z.object({ sent: z.literal(true) }),
    errors: {
      401: "The token is used, too old or burnt: log in again",
      409: "Codes by mail are not enabled for this user",
      429: "Five mails in 15 minutes",
    },
    handle: async ({ body }) => {
      await factors.requestCode(body.mfaToken);
      return { sent: true as const };
    },
  }),
  route("POST /mfa/verify", "Complete a login with a code of the app, a mailed code or a recovery code: sets the session cookie", {
    auth: "public",
    limit: "address",
    body: z.object({ mfaToken: MfaToken, code: factors.Code }).meta({ examples: [{ mfaToken: "...", code: "123456" }] }),
    returns: z.object({ user: accounts.User, organization: organizations.Organization }),
    errors: {
      401: "`wrong_code`: try another; `invalid_token`: the token is used, too old or burnt, log in again",
      429: tooManyFailures,
    },
    handle: async ({ body, request, reply }) => {
      const { token, ...profile } = await factors.verify(body, request.address);
      reply.cookies.push(cookies.begun(token));
      return profile;
    },
  }),
]);
export const { handler } = mfa;
