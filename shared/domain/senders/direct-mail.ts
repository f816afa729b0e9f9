import { randomBase62 } from "../../ids.ts";
import { noSend } from "../../providers/inbound/normalize.ts";
import type {
  HandOverOutcome,
  Mailbox,
  Mailing,
  ProviderAdapter,
} from "../../providers/provider-adapter.ts";

/** A mail that is not a send: it is not stored, and its events are ignored. */
export interface DirectMail {
  from: Mailbox;
  to: Mailbox;
  subject: string;
  html: string;
  text: string;
  /** Undefined: as set in the account at the provider. */
  tracked?: boolean | undefined;
}

/** Hands the mail over to the provider, without retries. */
export async function sendDirectMail(
  provider: ProviderAdapter,
  credentials: Record<string, unknown>,
  mail: DirectMail,
): Promise<HandOverOutcome> {
  const [outcome] = await provider.send({
    mailing: toMailing(mail),
    credentials,
    idempotencyKey: randomBase62(32),
  });
  return outcome!;
}

const toMailing = ({ from, to, subject, html, text, tracked }: DirectMail): Mailing => ({
  from,
  subject: [subject],
  html: [html],
  text: [text],
  headers: {},
  tags: [],
  attachments: [],
  trackOpens: tracked,
  trackClicks: tracked,
  recipients: [{ sendId: noSend, to, values: [], headers: {} }],
});

const plainPageStyle =
  "font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;max-width:34em;margin:2em auto;padding:0 1em";

/** Renders HTML paragraphs as a plain page. */
export const renderPlainPage = (...paragraphs: string[]): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"></head>
<body style="${plainPageStyle}">${paragraphs
    .map((paragraph) => `<p>${paragraph}</p>`)
    .join("")}</body></html>`;
