// Secure mail as it is taken: what it says is rendered and locked away at once, and nothing of it is kept elsewhere. What goes on its
// way is a notice with a link.
import { after } from "../../clock.ts";
import * as blobs from "../../doors/blobs.ts";
import { put, type Write } from "../../doors/table.ts";
import { overLimit, Problem } from "../../errors.ts";
import { dueShard, keys, on, shelves } from "../../keys.ts";
import * as liquid from "../../liquid.ts";
import { inParallel } from "../../parallel.ts";
import * as scrypt from "../scrypt.ts";
import { fromOf, type Gathered } from "../sending/accept.ts";
import { variablesFor } from "../sending/compose.ts";
import type { Message } from "../sending/message.ts";
import * as templates from "../templates.ts";
import { locked } from "./cipher.ts";
import { blobOf, type SecureMessageItem, variables } from "./item.ts";
import { notice } from "./notice.ts";

/** One who is to read it; `id` is of the send. */
export interface Reader {
  id: number;
  to: string;
  name?: string | undefined;
  variables?: Record<string, unknown> | undefined;
}

export interface Secured<M> {
  /** The notice in place of the message. */
  message: M;
  gathered: Gathered;
  /** In the order of the readers; `error` says why a message cannot be rendered for this one. */
  readers: { subject: string; error?: string }[];
  /** To be made with the sends, or before them. */
  writes: Write[];
}

const usualDays = 30;
// A request has 29 seconds, and a function so much memory.
const mostCharacters = 100_000_000;
const rendersForMs = 15_000;

/** Locks the message away for each reader. Safe to repeat: what was locked before is locked anew, and says the same. */
export async function secured<M extends Message>(
  orgId: number,
  message: M,
  gathered: Gathered,
  readers: Reader[],
  { at, scheduledAt = at.toISOString() }: { at: Date; scheduledAt?: string | undefined },
): Promise<Secured<M>> {
  const [said, passphrase] = await Promise.all([
    wordsOf(orgId, message, gathered),
    message.securePassphrase === undefined ? undefined : scrypt.hash(message.securePassphrase),
  ]);
  const from = fromOf(message, gathered.config);
  const expiresAt = after((message.secureExpiresInDays ?? usualDays) * 24 * 3600, new Date(scheduledAt)).toISOString();
  const shared = { orgId, siteId: gathered.siteId, sender: from.name ?? from.email, passphrase, createdAt: at.toISOString(), expiresAt };
  const render = renderer(said, message, at);
  const made = await inParallel(16, readers, async (reader) => {
    const rendered = render(reader);
    if ("error" in rendered) return { subject: said.subject.slice(0, 300), error: rendered.error };
    const { subject, ...words } = rendered;
    await blobs.put(blobOf(orgId, reader.id), await locked(orgId, reader.id, words));
    return { subject, write: keeping({ ...shared, id: reader.id, toEmail: reader.to, subject, views: 0 }) };
  });
  const { html, text, subject } = notice({ html: said.html, expiresAt, withPassphrase: passphrase !== undefined });
  return {
    // A link that a provider rewrites is in more hands than it must be.
    message: { ...message, subject, html, text, variables: { [variables.sender]: shared.sender }, trackClicks: false },
    gathered: { ...gathered, template: undefined },
    readers: made.map(({ subject, error }) => ({ subject, ...(error !== undefined && { error }) })),
    writes: made.flatMap(({ write }) => (write ? [write] : [])),
  };
}

const keeping = (item: SecureMessageItem): Write =>
  put(keys.secureMessage(item.orgId, item.id), { ...item, ...on(shelves.due("SECURE", dueShard(item.id)), item.expiresAt) });

interface Words {
  subject: string;
  html?: string | undefined;
  text?: string | undefined;
}

async function wordsOf(orgId: number, { subject, html, text }: Message, { template }: Gathered): Promise<Words> {
  if (!template) return { subject: subject!, html, text };
  const body = await templates.body(orgId, template.id, template.version);
  return { subject: subject ?? body.subject, html: body.html ?? undefined, text: body.text ?? undefined };
}

type Rendered = Words | { error: string };

/** What cannot be rendered for one reader is said of that one. Throws 400 when all together are too much. */
function renderer(said: Words, message: Message, now: Date): (reader: Reader) => Rendered {
  const parse = (field: keyof Words) =>
    said[field] === undefined ? undefined : liquid.compile(said[field], { escape: field === "html", field });
  const compiled = { subject: parse("subject"), html: parse("html"), text: parse("text") };
  let [characters, milliseconds] = [0, 0];
  return (reader) => {
    const started = performance.now();
    const rendered = attempt(() => {
      const given = variablesFor(message, reader);
      const of = (field: keyof Words) => compiled[field] && liquid.render(compiled[field], given, { now }).text;
      return { subject: of("subject")!.replace(/\s+/g, " ").slice(0, 300), html: of("html"), text: of("text") };
    });
    if ("subject" in rendered) characters += (rendered.html?.length ?? 0) + (rendered.text?.length ?? 0);
    milliseconds += performance.now() - started;
    if (characters > mostCharacters || milliseconds > rendersForMs) throw tooMuch();
    return rendered;
  };
}

function attempt(render: () => Words): Rendered {
  try {
    return render();
  } catch (error) {
    if (error instanceof Problem && error.kind === "invalid") return { error: error.message.slice(0, 150) };
    throw error;
  }
}

const tooMuch = () => overLimit("recipients", "recipients: this is too much for one request of secure mail, please send it in several");
