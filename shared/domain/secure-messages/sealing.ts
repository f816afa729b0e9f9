// What only the acceptance of secure mail needs. It is loaded late: most mail is not secure, and need not wait for it at a start.
import { letter } from "../../pages/letters.ts";
import { languageOfHtml } from "../../pages/mail-words.ts";
import { secureWords } from "../../pages/secure-words.ts";
import * as scrypt from "../scrypt.ts";
import * as cipher from "./cipher.ts";
import { type Said, variables } from "./item.ts";

export const locked = (orgId: number, id: number, said: Said): Promise<Uint8Array> => cipher.locked(orgId, id, said);

export const hashOf = (passphrase: string): Promise<string> => scrypt.hash(passphrase);

const read = (name: string): string => `{{ ${name} }}`;

/** The mail that goes out in place of the message, as Liquid; in the language of the message. */
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
