// The connectors by provider. Providers without one, such as smtp, have no API.
import { brevo } from "./brevo.ts";
import type { Connector } from "./connector.ts";
import { mailgun } from "./mailgun.ts";
import { mailjet } from "./mailjet.ts";
import { mandrill } from "./mandrill.ts";
import { postmark } from "./postmark.ts";
import { resend } from "./resend.ts";
import { sendgrid } from "./sendgrid.ts";
import { ses } from "./ses.ts";
import { smtp2go } from "./smtp2go.ts";
import { sparkpost } from "./sparkpost.ts";

// Each connector gets credentials of its provider's schema.
const connectors: Record<string, unknown> = {
  ...{ brevo, mailgun, mailjet, mandrill, postmark },
  ...{ resend, sendgrid, ses, smtp2go, sparkpost },
};

export const getConnector = (provider: string): Connector | undefined =>
  Object.hasOwn(connectors, provider) ? (connectors[provider] as Connector) : undefined;
