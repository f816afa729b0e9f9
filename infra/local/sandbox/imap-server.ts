// A small IMAP server (RFC 3501, with UIDPLUS and MOVE): the mailbox of a sandbox account, and in
// tests one that fails as they ask. It knows what a client needs to read a folder.
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";

export interface ImapMessage {
  uid: number;
  content: Buffer;
  arrivedAt: Date;
  isDeleted?: boolean;
}

export interface ImapFolder {
  uidValidity: number;
  nextUid: number;
  messages: ImapMessage[];
}

export interface ImapMailbox {
  password: string;
  folders: Map<string, ImapFolder>;
}

/** What a client sent. `name` is in capitals, such as `UID FETCH`. */
export interface ImapCommand {
  name: string;
  text: string;
}

export type ImapResponse = readonly (string | Buffer)[] | "drop" | "silent";

export interface ImapServerOptions {
  findMailbox(user: string): ImapMailbox | undefined;
  /** With it, the server offers STARTTLS, or with `secure` begins with TLS. */
  certificate?: { key: string; cert: string; secure?: boolean };
  /**
   * Replaces the response to a command: its lines, with `TAG` for the tag. `drop` closes the
   * connection, and `silent` does nothing.
   */
  replaceResponse?(command: ImapCommand): ImapResponse | undefined;
}

export interface SandboxImapServer {
  /** `imap://host:port` */
  url: string;
  port: number;
  close(): Promise<void>;
}

export const createFolder = (uidValidity = 1): ImapFolder => ({
  uidValidity,
  nextUid: 1,
  messages: [],
});

export function appendMessage(folder: ImapFolder, content: Buffer | string, arrivedAt: Date): void {
  folder.messages.push({ uid: folder.nextUid++, content: Buffer.from(content), arrivedAt });
}

/** Listens on a free port of this machine. */
export async function startImapServer(options: ImapServerOptions): Promise<SandboxImapServer> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => {}));
    const { certificate } = options;
    new Session(certificate?.secure ? toTls(socket, certificate) : socket, options).greet();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `imap://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

const toTls = (socket: Socket, { key, cert }: { key: string; cert: string }): Socket =>
  new TLSSocket(socket, {
    isServer: true,
    secureContext: createSecureContext({ key, cert }),
  }).on("error", () => {});

const capabilities = "IMAP4rev1 UIDPLUS MOVE SASL-IR AUTH=PLAIN ID";

class Session {
  #socket: Socket;
  readonly #options: ImapServerOptions;
  #mailbox: ImapMailbox | undefined;
  #folder: ImapFolder | undefined;
  #buffered = "";
  /** The tag of an AUTHENTICATE whose response comes in the next line. */
  #authenticating: string | undefined;

  constructor(socket: Socket, options: ImapServerOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#listen();
  }

  greet(): void {
    const replaced = this.#options.replaceResponse?.({ name: "GREETING", text: "" });
    this.#answer("*", replaced ?? [`* OK [CAPABILITY ${this.#capabilities()}] Pennymail sandbox`]);
  }

  #listen(): void {
    this.#socket.on("data", (data: Buffer) => {
      this.#buffered += data.toString("latin1");
      for (;;) {
        const end = this.#buffered.indexOf("\r\n");
        if (end < 0) break;
        const line = this.#buffered.slice(0, end);
        this.#buffered = this.#buffered.slice(end + 2);
        this.#receive(line);
      }
    });
  }

  #receive(line: string): void {
    if (this.#authenticating !== undefined) {
      const tag = this.#authenticating;
      this.#authenticating = undefined;
      this.#answer(tag, this.#authenticate(line));
      return;
    }
    const [, tag = "*", name = "", text = ""] = /^(\S+) ((?:UID )?\S+) ?(.*)$/is.exec(line) ?? [];
    const command = { name: name.toUpperCase(), text };
    const replaced = this.#options.replaceResponse?.(command);
    this.#answer(tag, replaced ?? this.#run(command, tag));
  }

  #answer(tag: string, response: ImapResponse): void {
    if (response === "drop") return void this.#socket.destroy();
    if (response === "silent") return;
    for (const part of response) {
      const text = typeof part === "string" ? Buffer.from(part.replace(/^TAG /, `${tag} `)) : part;
      this.#socket.write(Buffer.concat([text, Buffer.from("\r\n")]));
    }
  }

  #capabilities(): string {
    const { certificate } = this.#options;
    const offersTls = certificate && !certificate.secure && !(this.#socket instanceof TLSSocket);
    return `${capabilities}${offersTls ? " STARTTLS" : ""}`;
  }

  #run({ name, text }: ImapCommand, tag: string): ImapResponse {
    const words = wordsOf(text);
    if (name === "CAPABILITY") return [`* CAPABILITY ${this.#capabilities()}`, "TAG OK done"];
    if (name === "ID") return ['* ID ("name" "Pennymail sandbox")', "TAG OK done"];
    if (name === "NOOP") return ["TAG OK done"];
    if (name === "STARTTLS") return this.#startTls(tag);
    if (name === "AUTHENTICATE" && words[1] === undefined) {
      this.#authenticating = tag;
      return ["+ "];
    }
    if (name === "AUTHENTICATE") return this.#authenticate(words[1]!);
    if (name === "LOGIN") return this.#logIn(words[0]!, words[1]!);
    if (name === "LOGOUT") {
      setImmediate(() => this.#socket.end());
      return ["* BYE good bye", "TAG OK done"];
    }
    if (!this.#mailbox) return ["TAG NO log in first"];
    if (name === "LIST") return this.#list(words[1]!);
    if (name === "SELECT" || name === "EXAMINE") return this.#select(words[0]!, name);
    if (name === "STATUS") return this.#status(words[0]!);
    if (!this.#folder) return ["TAG BAD select a folder first"];
    const uids = new Set(this.#uidsIn(words[0] ?? ""));
    const chosen = this.#folder.messages.filter(({ uid }) => uids.has(uid));
    if (name === "UID SEARCH") return this.#search(text);
    if (name === "UID FETCH") return this.#fetch(chosen, text);
    if (name === "UID STORE") {
      for (const message of chosen) message.isDeleted = /\\Deleted/i.test(text);
      return ["TAG OK done"];
    }
    if (name === "UID EXPUNGE") return this.#expunge(chosen.filter((one) => one.isDeleted));
    if (name === "UID MOVE") return this.#move(chosen, words[1]!);
    return ["TAG BAD unknown command"];
  }

  #startTls(tag: string): ImapResponse {
    const { certificate } = this.#options;
    if (!certificate) return ["TAG BAD no TLS here"];
    this.#answer(tag, ["TAG OK begin"]);
    this.#socket.removeAllListeners("data");
    this.#socket = toTls(this.#socket, certificate);
    this.#listen();
    return "silent";
  }

  #authenticate(response: string): string[] {
    const [, user = "", password = ""] = Buffer.from(response, "base64").toString().split("\0");
    return this.#logIn(user, password);
  }

  #logIn(user: string, password: string): string[] {
    const mailbox = this.#options.findMailbox(user);
    if (mailbox?.password !== password)
      return ["TAG NO [AUTHENTICATIONFAILED] Wrong user or password"];
    this.#mailbox = mailbox;
    return ["TAG OK logged in"];
  }

  #list(pattern: string): string[] {
    const names = [...this.#mailbox!.folders.keys()];
    const shown = names.filter((name) => ["*", "%", name].includes(pattern));
    return [...shown.map((name) => `* LIST () "/" "${name}"`), "TAG OK done"];
  }

  #select(name: string, command: string): string[] {
    const folder = this.#mailbox!.folders.get(name);
    this.#folder = folder;
    if (!folder) return ["TAG NO [NONEXISTENT] No such folder"];
    return [
      "* FLAGS (\\Deleted \\Seen)",
      `* ${folder.messages.length} EXISTS`,
      "* 0 RECENT",
      `* OK [UIDVALIDITY ${folder.uidValidity}] valid`,
      `* OK [UIDNEXT ${folder.nextUid}] next`,
      `TAG OK [READ-${command === "SELECT" ? "WRITE" : "ONLY"}] done`,
    ];
  }

  #status(name: string): string[] {
    const folder = this.#mailbox!.folders.get(name);
    if (!folder) return ["TAG NO [NONEXISTENT] No such folder"];
    return [`* STATUS "${name}" (UIDNEXT ${folder.nextUid})`, "TAG OK done"];
  }

  #search(text: string): string[] {
    const { messages } = this.#folder!;
    const range = /UID (\S+)/i.exec(text)?.[1] ?? "1:*";
    const since = /SINCE "?([\w-]+)"?/i.exec(text)?.[1];
    const uids = new Set(this.#uidsIn(range));
    const found = messages.filter(
      ({ uid, arrivedAt }) => uids.has(uid) && (!since || arrivedAt >= new Date(`${since} UTC`)),
    );
    return [`* SEARCH ${found.map(({ uid }) => uid).join(" ")}`.trimEnd(), "TAG OK done"];
  }

  #fetch(chosen: ImapMessage[], text: string): (string | Buffer)[] {
    const [, start, length] = /BODY\.PEEK\[\]<(\d+)\.(\d+)>/i.exec(text) ?? [];
    const lines = chosen.map((message) => {
      const place = this.#folder!.messages.indexOf(message) + 1;
      const from = Number(start ?? 0);
      const part = message.content.subarray(from, from + Number(length ?? Infinity));
      const head = `* ${place} FETCH (UID ${message.uid} BODY[]<${from}> {${part.length}}\r\n`;
      return Buffer.concat([Buffer.from(head), part, Buffer.from(")")]);
    });
    return [...lines, "TAG OK done"];
  }

  #expunge(chosen: ImapMessage[]): string[] {
    const { messages } = this.#folder!;
    const lines = chosen.map((message) => {
      const place = messages.indexOf(message);
      messages.splice(place, 1);
      return `* ${place + 1} EXPUNGE`;
    });
    return [...lines, "TAG OK done"];
  }

  #move(chosen: ImapMessage[], name: string): string[] {
    const target = this.#mailbox!.folders.get(name);
    if (!target) return ["TAG NO [TRYCREATE] No such folder"];
    for (const { content, arrivedAt } of chosen) appendMessage(target, content, arrivedAt);
    return this.#expunge(chosen);
  }

  /** The uids of a sequence set. `9:*` has the last one, even if it is below 9. */
  #uidsIn(set: string): number[] {
    const all = this.#folder!.messages.map(({ uid }) => uid);
    return set.split(",").flatMap((range) => {
      const [from, to = from] = range.split(":").map((n) => (n === "*" ? (all.at(-1) ?? 0) : +n));
      const [low, high] = [Math.min(from!, to!), Math.max(from!, to!)];
      return all.filter((uid) => uid >= low && uid <= high);
    });
  }
}

/** Atoms and quoted texts. */
const wordsOf = (text: string): string[] =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"|([^\s()]+)/g)].map(
    ([, quoted, atom]) => quoted?.replace(/\\(.)/g, "$1") ?? atom!,
  );
