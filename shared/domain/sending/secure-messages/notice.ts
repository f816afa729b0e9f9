// The notice: the mail with a link that replaces a secure message. Most mail is not secure, so
// Lambda functions load this module on first use (see infra/aws/esbuild-plugins.ts).

import { detectHtmlLanguage } from "../../../email/html-footer.ts";
import { renderSimpleEmail } from "../../../email/simple-email.ts";
import { secureMessageWording } from "../../../email/wording/by-topic.ts";
import { noticeVariables } from "./secure-message-item.ts";

const toLiquidVariable = (name: string): string => `{{ ${name} }}`;

/** Returns Liquid sources in the language of the message. */
export function buildNotice({
  html = "",
  expiresAt,
  withPassphrase,
}: {
  html: string | undefined;
  expiresAt: string;
  withPassphrase: boolean;
}) {
  const lang = detectHtmlLanguage(html);
  const words = secureMessageWording[lang];
  const sender = toLiquidVariable(noticeVariables.sender);
  const until = new Intl.DateTimeFormat(lang, { dateStyle: "long", timeZone: "UTC" }).format(
    new Date(expiresAt),
  );
  const letterParts = renderSimpleEmail({
    sender,
    lang,
    blocks: [
      words.noticeFrom(sender),
      { link: toLiquidVariable(noticeVariables.url), label: words.noticeOpen },
      ...(withPassphrase ? [words.noticePassphrase] : []),
      { note: words.expiryNote(until) },
    ],
  });
  return { subject: toLiquidVariable(noticeVariables.subject), ...letterParts };
}
