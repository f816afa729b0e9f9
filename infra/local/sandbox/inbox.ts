// Keeps received mails: the newest ones with their content, older ones without, and a count of all.
import { readFileSync } from "node:fs";
import * as clock from "../../../shared/clock.ts";
import { writeAtomically } from "./root-keys.ts";
import type { AcceptedMail, CapturedContent, CapturedMail, ContentPart } from "./types.ts";

const maxMails = 10_000;
/** The limit of stored content. Content that the recipients of one call share counts once. */
const maxContentChars = 128_000_000;
const maxSearchedChars = 8_000_000;
const maxSaved = 200;

export interface InboxFilter {
  /** A full address. */
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

export type SandboxInbox = ReturnType<typeof openInbox>;

/** Without `file`, a restart loses the mails. */
export function openInbox(file?: string) {
  const saved = file ? loadInbox(file) : { nextId: 1, mails: [] };
  let mails: CapturedMail[] = saved.mails;
  let nextId = saved.nextId;
  let count = mails.length;
  /** The stored contents, oldest first. */
  let retained: { content: CapturedContent; size: number }[] = [];
  let retainedChars = 0;

  function retainContent(content: CapturedContent): void {
    if (retained.at(-1)?.content === content) return;
    const size = sizeOf(content);
    retainedChars += size;
    retained.push({ content, size });
    let dropped = 0;
    while (retainedChars > maxContentChars && dropped < retained.length - 1) {
      const oldest = retained[dropped++]!;
      retainedChars -= oldest.size;
      discardContent(oldest.content);
    }
    if (dropped) retained.splice(0, dropped);
  }

  return {
    add(draft: AcceptedMail, provider: string, account: string): CapturedMail {
      const mail: CapturedMail = {
        ...draft,
        id: nextId++,
        at: clock.now(),
        provider,
        account,
        webhookAttempts: [],
      };
      mails.push(mail);
      count++;
      retainContent(mail.content);
      if (mails.length > maxMails * 1.2) mails = mails.slice(-maxMails);
      return mail;
    },
    find: (id: number): CapturedMail | undefined => mails.find((mail) => mail.id === id),
    filter: (matches: (mail: CapturedMail) => boolean): CapturedMail[] => mails.filter(matches),
    /** Newest first. */
    list: (filter: InboxFilter): CapturedMail[] => filterMails(mails, filter),
    /** Counts all mails since the inbox was last emptied, including discarded ones. */
    count: (): number => count,
    newestId: (): number => nextId - 1,
    empty(): void {
      [mails, retained, retainedChars, count] = [[], [], 0, 0];
    },
    save(): void {
      if (file)
        writeAtomically(
          file,
          JSON.stringify({ nextId, mails: mails.slice(-maxSaved).map(toStoredMail) }),
        );
    },
  };
}

/** Renders a part of the content for the recipient. */
export const renderPart = (
  { content, fill }: AcceptedMail,
  part: ContentPart,
): string | undefined => {
  const text = content[part];
  return text === undefined || !fill ? text : fill(text, part);
};

function filterMails(
  mails: CapturedMail[],
  { to, subject, search, before = Infinity, after = 0, limit }: InboxFilter,
): CapturedMail[] {
  const found: CapturedMail[] = [];
  const address = to?.toLowerCase();
  const inSubject = subject && toPattern(subject);
  const matchesSearch = search && createSearch(toPattern(search));
  for (let index = mails.length - 1; index >= 0 && found.length < limit; index--) {
    const mail = mails[index]!;
    if (mail.id <= after) break;
    if (mail.id >= before) continue;
    if (address && mail.to.email.toLowerCase() !== address) continue;
    if (inSubject && !inSubject.test(renderPart(mail, "subject") ?? "")) continue;
    if (!matchesSearch || matchesSearch(mail)) found.push(mail);
  }
  return found;
}

/** Stops searching bodies after a number of characters, so that a search stays fast. */
function createSearch(pattern: RegExp): (mail: CapturedMail) => boolean {
  let searched = 0;
  return (mail) => {
    const addresses = [mail.to, mail.from].map(({ name = "", email }) => `${name} ${email}`);
    if (pattern.test(`${addresses.join(" ")} ${renderPart(mail, "subject")}`)) return true;
    if (searched > maxSearchedChars) return false;
    const body = `${renderPart(mail, "text") ?? ""}\n${renderPart(mail, "html") ?? ""}`;
    searched += body.length;
    return pattern.test(body);
  };
}

const toPattern = (text: string) => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
const sizeOf = ({ html = "", text = "", attachments }: CapturedContent) =>
  html.length + text.length + attachments.reduce((sum, { content }) => sum + content.length, 0);

function discardContent(content: CapturedContent): void {
  content.html = content.text = undefined;
  content.attachments = [];
  content.discarded = true;
}

/** Renders the content, so that the mail can be stored as JSON. */
export function toRendered<D extends AcceptedMail>(mail: D): Omit<D, "fill"> {
  const { fill, ...rest } = mail;
  const parts = {
    subject: renderPart(mail, "subject") ?? "",
    html: renderPart(mail, "html"),
    text: renderPart(mail, "text"),
  };
  return { ...rest, content: { ...parts, attachments: mail.content.attachments } };
}

function toStoredMail(mail: CapturedMail) {
  const attachments = sizeOf(mail.content) < 1_000_000 ? mail.content.attachments : [];
  return toRendered({ ...mail, content: { ...mail.content, attachments } });
}

function loadInbox(file: string): { nextId: number; mails: CapturedMail[] } {
  try {
    const saved = JSON.parse(readFileSync(file, "utf8")) as {
      nextId: number;
      mails: CapturedMail[];
    };
    return {
      nextId: saved.nextId,
      mails: saved.mails.map((mail) => ({ ...mail, at: new Date(mail.at) })),
    };
  } catch {
    // A broken or missing file is treated as an empty inbox.
    return { nextId: 1, mails: [] };
  }
}
