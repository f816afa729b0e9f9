// Schemas of the responses to sign-up, login and everything else that opens a session.
import * as z from "zod";
import * as accounts from "../domain/identity/accounts.ts";
import { mfaMethods } from "../domain/identity/mfa/second-factors.ts";
import { UserOrganization } from "../domain/identity/user-organizations.ts";

export const Profile = accounts.AccountProfile;
export const Session = Profile.extend({
  organizations: z
    .array(UserOrganization)
    .describe("All organizations of the user. The session belongs to `organization`."),
}).meta({ id: "Session" });
export const SecondFactorRequired = z
  .object({
    mfaRequired: z.literal(true).describe("Always true: the login waits for a second factor."),
    mfaToken: z.string().describe("Token for POST /mfa/verify. Expires after 10 minutes."),
    methods: z
      .array(z.enum(mfaMethods))
      .describe(
        "Second factors that the user has. For `email_otp`, POST /mfa/challenge emails a code. " +
          "Recovery codes always work.",
      ),
  })
  .meta({ id: "SecondFactorRequired" });
export const tooManyFailures =
  "Too many failed logins: 10 per account in 15 minutes, or `LOGIN_FAILURES_PER_ADDRESS` " +
  "(50) per client address.";
