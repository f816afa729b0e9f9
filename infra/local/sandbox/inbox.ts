// What arrived. The newest mails are kept whole, older ones as a line, and all are counted.
import { readFileSync } from "node:fs";
import * as clock from "../../../shared/clock.ts";
import type { Content, Draft, Mail, Part } from "./contract.ts";
import { replace } from "./root.ts";

const maxMails = 10_000;
/** Characters of content kept, what the recipients of one call share counted once. */
const maxContent = 128_000_000;
const maxSearched = 8_000_000;
const maxSaved = 200;

export interface Filter {
  /** A whole address. */
  to?: string | undefined;
  /** Part of the subject. */
  subject?: string | undefined;
  /** Part of an address, name, subject or (of newer mails) body. */
  search?: string | undefined;
  /** Only mails older than this id. */
  before?: number | undefined;
  /** Only mails newer than this id. */
  after?: number | undefined;
  limit: number;
}

export type Inbox = ReturnType<typeof openInbox>;

/** `file` undefined: nothing is kept over a restart. */
export function openInbox(file?: string) {
  const saved = file ? read(file) : { nextId: 1, mails: [] };
  let mails: Mail[] = saved.mails;
  let nextId = saved.nextId;
  let count = mails.length;
  /** Mails with content, oldest first, as far as they hold some of their own. */
  let holders: { content: Content; size: number }[] = [];
  let held = 0;

  function keep(content: Content): void {
    if (holders.at(-1)?.content === content) return;
    const size = sizeOf(content);
    held += size;
    holders.push({ content, size });
    let dropped = 0;
    while (held > maxContent && dropped < holders.length - 1) {
      const oldest = holders[dropped++]!;
      held -= oldest.size;
      forget(oldest.content);
    }
    if (dropped) holders.splice(0, dropped);
  }

  return {
    add(draft: Draft, provider: string, account: string): Mail {
      const mail: Mail = { ...draft, id: nextId++, at: clock.now(), provider, account, posted: [] };
      mails.push(mail);
      count++;
      keep(mail.content);
      if (mails.length > maxMails * 1.2) mails = mails.slice(-maxMails);
      return mail;
    },
    find: (id: number): Mail | undefined => mails.find((mail) => mail.id === id),
    /** Newest first. */
    list: (filter: Filter): Mail[] => matching(mails, filter),
    /** Captured since the inbox was last emptied, the forgotten ones too. */
    count: (): number => count,
    /** What a page may have missed since it last looked. */
    newestId: (): number => nextId - 1,
    empty(): void {
      [mails, holders, held, count] = [[], [], 0, 0];
    },
    save(): void {
      if (file) replace(file, JSON.stringify({ nextId, mails: mails.slice(-maxSaved).map(whole) }));
    },
  };
}

/** A part of the content as the recipient sees it. */
export const rendered = ({ content, fill }: Mail, part: Part): string | undefined => {
  const text = content[part];
  return text === undefined || !fill ? text : fill(text, part);
};

function matching(mails: Mail[], { to, subject, search, before = Infinity, after = 0, limit }: Filter): Mail[] {
  const found: Mail[] = [];
  const address = to?.toLowerCase();
  const inSubject = subject && sought(subject);
  const inAll = search && finder(sought(search));
  for (let index = mails.length - 1; index >= 0 && found.length < limit; index--) {
    const mail = mails[index]!;
    if (mail.id <= after) break;
    if (mail.id >= before) continue;
    if (address && mail.to.email.toLowerCase() !== address) continue;
    if (inSubject && !inSubject.test(rendered(mail, "subject") ?? "")) continue;
    if (!inAll || inAll(mail)) found.push(mail);
  }
  return found;
}

/** Bodies are searched until enough of them was read, so that a search stays quick whatever the inbox holds. */
function finder(pattern: RegExp): (mail: Mail) => boolean {
  let searched = 0;
  return (mail) => {
    const line = `${mail.to.name ?? ""} ${mail.to.email} ${mail.from.name ?? ""} ${mail.from.email} ${rendered(mail, "subject")}`;
    if (pattern.test(line)) return true;
    if (searched > maxSearched) return false;
    const body = `${rendered(mail, "text") ?? ""}\n${rendered(mail, "html") ?? ""}`;
    searched += body.length;
    return pattern.test(body);
  };
}

const sought = (text: string) => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
const sizeOf = ({ html = "", text = "", attachments }: Content) =>
  html.length + text.length + attachments.reduce((sum, { content }) => sum + content.length, 0);

function forget(content: Content): void {
  content.html = content.text = undefined;
  content.attachments = [];
  content.forgotten = true;
}

/** A mail that can be written down: values filled in. */
function whole(mail: Mail): Mail {
  const { content, fill, ...rest } = mail;
  const parts = { subject: rendered(mail, "subject") ?? "", html: rendered(mail, "html"), text: rendered(mail, "text") };
  return { ...rest, content: { ...parts, attachments: sizeOf(content) < 1_000_000 ? content.attachments : [] } };
}

function read(file: string): { nextId: number; mails: Mail[] } {
  try {
    const saved = JSON.parse(readFileSync(file, "utf8")) as { nextId: number; mails: Mail[] };
    return { nextId: saved.nextId, mails: saved.mails.map((mail) => ({ ...mail, at: new Date(mail.at) })) };
  } catch {
    // The inbox is a convenience: a broken or missing file is an empty inbox.
    return { nextId: 1, mails: [] };
  }
}
