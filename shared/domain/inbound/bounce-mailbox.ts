// The mailbox of a sending config that is read by IMAP, as the API shows it and as it is stored.
import * as z from "zod";
import type { ImapServer } from "../../adapters/imap/imap-client.ts";
import * as encryption from "../../adapters/kms/encryption.ts";
import { config } from "../../config.ts";
import { singleLineText } from "../../kernel/email-fields.ts";
import { HostName } from "../../kernel/host-name.ts";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";

const tlsModes = ["tls", "starttls", "none"] as const;
const actions = ["keep", "delete", "move"] as const;

const Host = HostName.describe("Host name of the IMAP server, such as imap.example.com.");
const User = singleLineText(254).min(1).describe("User of the login.");
const Folder = singleLineText(200).min(1);

export const BounceMailbox = z
  .object({
    siteId: RecordId.describe("Site that the email of the mailbox belongs to."),
    host: Host,
    port: z.int().describe("Port of the server."),
    tls: z
      .enum(tlsModes)
      .describe("`tls`: encrypted from the start. `starttls`: after the greeting. `none`: never."),
    user: User,
    folder: z.string().describe("Folder that is read."),
    afterReading: z
      .enum(actions)
      .describe("What happens to an email that was read: `keep`, `delete`, or `move` it."),
    moveTo: z.string().nullable().describe("Folder that read email is moved to, or `null`."),
    state: z
      .enum(["waiting", "working", "failing"])
      .describe(
        "`waiting`: it was not read since it was entered. `working`: the last reading succeeded. " +
          "`failing`: it did not; see `lastError`.",
      ),
    lastError: z.string().nullable().describe("Why the last reading failed, or `null`."),
    failingSince: Timestamp.nullable().describe("When the readings began to fail, or `null`."),
    lastReadAt: Timestamp.nullable().describe("When it was last read without an error, or `null`."),
    nextReadAt: Timestamp.describe("When it is read next."),
    skippedEmails: Count.describe(
      "Emails that were left out, because the server failed to return them three times.",
    ),
  })
  .meta({ id: "BounceMailbox" });
export type BounceMailbox = z.output<typeof BounceMailbox>;

export const BounceMailboxSettings = z
  .object({
    siteId: z.int().positive().describe("Site that the email of the mailbox belongs to."),
    host: Host,
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe("Port of the server. Default: 993 with `tls`, 143 otherwise."),
    tls: z
      .enum(tlsModes)
      .default("tls")
      .describe(
        "`tls`: encrypted from the start. `starttls`: after the greeting, and no login without " +
          "it. `none`: unencrypted, for a server in your own network.",
      ),
    user: User,
    password: singleLineText(1024)
      .min(1)
      .optional()
      .meta({ writeOnly: true })
      .describe(
        "Password of the login. It is stored encrypted. Omitted: the stored one, if host, port, " +
          "tls and user do not change.",
      ),
    folder: Folder.default("INBOX").describe("Folder to read. Subfolders are not read."),
    afterReading: z
      .enum(actions)
      .default("keep")
      .describe(
        "What happens to an email that was read. `keep`: it stays as it is, also unread. " +
          "`delete`: it is deleted. `move`: it is moved to the folder `moveTo`.",
      ),
    moveTo: Folder.nullable()
      .optional()
      .describe("Folder that read email is moved to. It must exist. Only with `move`."),
  })
  .refine(({ afterReading, moveTo }) => (afterReading === "move") === Boolean(moveTo), {
    path: ["moveTo"],
    message: "must be given with afterReading move, and only then",
  })
  .meta({
    examples: [
      { siteId: 1, host: "imap.shop.example", user: "bounces@shop.example", password: "secret" },
    ],
  });
export type BounceMailboxSettings = z.output<typeof BounceMailboxSettings>;

/** How far the folder is read. */
export interface MailboxPosition {
  uidValidity: string;
  /** The highest uid that was handed over. */
  uid: number;
  /** The next message, if the server failed to return it. */
  failed?: { uid: number; tries: number } | undefined;
}

/** The stored item. Empty fields are left out. */
export interface BounceMailboxItem {
  orgId: number;
  configId: number;
  siteId: number;
  host: string;
  port: number;
  tls: ImapServer["tls"];
  user: string;
  sealedPassword: string;
  folder: string;
  afterReading: (typeof actions)[number];
  moveTo?: string | undefined;
  /** Another one for each change of the settings. Readers of older settings save nothing. */
  revision: string;
  position?: MailboxPosition | undefined;
  /** Readings that failed, one after another. */
  failures: number;
  failingSince?: string | undefined;
  lastError?: string | undefined;
  lastReadAt?: string | undefined;
  nextReadAt: string;
  skipped: number;
}

export const toApi = (item: BounceMailboxItem): BounceMailbox => {
  const { siteId, host, port, tls, user, folder, afterReading, moveTo, nextReadAt } = item;
  const { lastReadAt, lastError, failingSince, skipped } = item;
  return {
    siteId,
    host,
    port,
    tls,
    user,
    folder,
    afterReading,
    moveTo: moveTo ?? null,
    state: stateOf(item),
    lastError: lastError ?? null,
    failingSince: failingSince ?? null,
    lastReadAt: lastReadAt ?? null,
    nextReadAt,
    skippedEmails: skipped,
  };
};

function stateOf({ failures, lastReadAt }: BounceMailboxItem): BounceMailbox["state"] {
  if (failures) return "failing";
  return lastReadAt === undefined ? "waiting" : "working";
}

const encryptionContext = (orgId: number, configId: number): encryption.EncryptionContext => ({
  orgId: String(orgId),
  configId: String(configId),
  purpose: "bounce mailbox",
});

export const sealPassword = (orgId: number, configId: number, password: string) =>
  encryption.encrypt(password, encryptionContext(orgId, configId));

export const openPassword = ({ orgId, configId, sealedPassword }: BounceMailboxItem) =>
  encryption.decrypt(sealedPassword, encryptionContext(orgId, configId));

/** PROVIDER_URL_IMAP replaces the server: `imap://host:port`. */
export function toServer(
  { host, port, tls, user }: Pick<BounceMailboxItem, "host" | "port" | "tls" | "user">,
  password: string,
): ImapServer {
  const own = config.providerUrl("imap");
  if (!own) return { host, port, tls, user, password, isOwn: false };
  const url = new URL(own);
  return {
    host: url.hostname,
    port: Number(url.port),
    tls: "none",
    user,
    password,
    isOwn: true,
  };
}
