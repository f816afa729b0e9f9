// The ten providers, in the order of GET /providers.

import { suppressionRoutes } from "../account-apis/suppressions.ts";
import type { SnsTopics } from "../sns.ts";
import type { SandboxProvider } from "../types.ts";
import { brevo } from "./brevo.ts";
import { mailgun } from "./mailgun.ts";
import { mailjet } from "./mailjet.ts";
import { mandrill } from "./mandrill.ts";
import { postmark } from "./postmark.ts";
import { resend } from "./resend.ts";
import { sendgrid } from "./sendgrid.ts";
import { createSes } from "./ses.ts";
import { smtp2go } from "./smtp2go.ts";
import { sparkpost } from "./sparkpost.ts";

export const createProviders = (topics: SnsTopics): SandboxProvider[] =>
  [
    sendgrid,
    createSes(topics),
    postmark,
    mailgun,
    sparkpost,
    brevo,
    mailjet,
    mandrill,
    resend,
    smtp2go,
  ].map((provider) => ({
    ...provider,
    routes: { ...provider.routes, ...suppressionRoutes[provider.key] },
  }));
