// The mail that goes out in place of a secure message: a notice with a link. Most mail is not secure, so that a Lambda loads it late (see
// infra/aws/bundling.ts).
import { letter } from "../../pages/letters.ts";
import { languageOfHtml } from "../../pages/mail-words.ts";
import { secureWords } from "../../pages/secure-words.ts";
import { variables } from "./item.ts";

const read = (name: string): string => `{{ ${name} }}`;

/** As Liquid, in the language of the message. */
export function notice({ html = "", expiresAt, withPassphrase }: { html: string | undefined; expiresAt: string; withPassphrase: boolean }) {
  const lang = languageOfHtml(html);
  const words = secureWords[lang];
  const sender = read(variables.sender);
  const until = new Intl.DateTimeFormat(lang, { dateStyle: "long", timeZone: "UTC" }).format(new Date(expiresAt));
  const said = letter({
    sender,
    lang,
    blocks: [
      words.noticeFrom(sender),
      { link: read(variables.url), label: words.noticeOpen },
      ...(withPassphrase ? [words.noticePassphrase] : []),
      { small: words.until(until) },
    ],
  });
  return { subject: read(variables.subject), ...said };
}
