// The connectors by provider. Providers without one, such as smtp, have no API.
import type { Connector } from "./connector.ts";
import { mailgun } from "./mailgun.ts";
import { postmark } from "./postmark.ts";
import { resend } from "./resend.ts";
import { sendgrid } from "./sendgrid.ts";
import { ses } from "./ses.ts";

// Each connector gets credentials of its provider's schema.
const connectors: Record<string, unknown> = { mailgun, postmark, resend, sendgrid, ses };

export const getConnector = (provider: string): Connector | undefined =>
  Object.hasOwn(connectors, provider) ? (connectors[provider] as Connector) : undefined;
