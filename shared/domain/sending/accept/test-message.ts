// Test mails: an email that is rendered already, marked as a test.
import type { SingleMessage } from "./single-message.ts";
export interface RenderedMail {
  subject: string;
  html: string | null;
  text: string;
}

/** The rendered text is passed in variables, so that it is not parsed as Liquid again. */
export const toTestMessage = (
  { subject, html, text }: RenderedMail,
  { siteId, metadata }: { siteId: number; metadata: Record<string, string> },
): Omit<SingleMessage, "to" | "sendingConfigId"> => ({
  siteId,
  subject: "[Test] {{ proof.subject }}",
  ...(html !== null && { html: "{{ proof.html | raw }}" }),
  text: "{{ proof.text }}",
  variables: { proof: { subject, html, text } },
  headers: {},
  tags: [],
  metadata,
  attachments: [],
});
