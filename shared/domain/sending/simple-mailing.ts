import { randomText } from "../../ids.ts";
import type { Mailbox, Mailing, Outcome, Provider } from "../../providers/provider.ts";

/** One mail to one person that is no send: nothing is recorded, and no event of it is waited for. */
export interface SimpleMail {
  from: Mailbox;
  to: Mailbox;
  subject: string;
  html: string;
  text: string;
  /** undefined: as the provider's account is set */
  tracked?: boolean | undefined;
}

// No send has this id, so events that name it are dropped.
const noSend = 0;

/** Hands the mail over, once. */
export async function handOver(provider: Provider, credentials: Record<string, unknown>, mail: SimpleMail): Promise<Outcome> {
  const [outcome] = await provider.send({ mailing: mailing(mail), credentials, idempotencyKey: randomText(32) });
  return outcome!;
}

const mailing = ({ from, to, subject, html, text, tracked }: SimpleMail): Mailing => ({
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

const marks: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text as HTML shows it. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (mark) => marks[mark]!);

/** Paragraphs of HTML as one plain page. */
export const page = (...paragraphs: string[]): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"></head><body style="font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;max-width:34em;margin:2em auto;padding:0 1em">${paragraphs
    .map((paragraph) => `<p>${paragraph}</p>`)
    .join("")}</body></html>`;
