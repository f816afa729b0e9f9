// The access of an organization to Google Postmaster Tools: the key of a service account, which is
// checked when it is entered, stored encrypted and never returned.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { absent, equals } from "../../../adapters/dynamodb/conditions.ts";
import { put, remove as removeItem, transact, write } from "../../../adapters/dynamodb/table.ts";
import * as encryption from "../../../adapters/kms/encryption.ts";
import type { CallerScope } from "../../../caller.ts";
import { conflict, invalid, upstream } from "../../../errors.ts";
import { EmailAddress } from "../../../kernel/email-fields.ts";
import { parseJson } from "../../../kernel/json.ts";
import { Timestamp } from "../../../kernel/record-fields.ts";
import { keys } from "../../../keys.ts";
import {
  listDomains,
  logIn,
  PostmasterError,
  readRsaKey,
  type ServiceAccount,
} from "../../../providers/mailbox-reports/postmaster-tools.ts";
import { enqueueFiguresPull, pullIn } from "./pull-times.ts";
import { findItem, type PostmasterToolsItem } from "./stored-items.ts";

export const PostmasterTools = z
  .object({
    clientEmail: z.string().describe("Address of the service account."),
    delegatedUser: z
      .string()
      .nullable()
      .describe("User of Google Workspace for whom the account acts, or `null`."),
    state: z
      .enum(["waiting", "working", "failing"])
      .describe(
        "`waiting`: nothing was pulled since the key was entered. `working`: the last pull " +
          "succeeded. `failing`: it did not; see `lastError`.",
      ),
    lastError: z.string().nullable().describe("Why the last pull failed, or `null`."),
    failingSince: Timestamp.nullable().describe("When the pulls began to fail, or `null`."),
    lastPulledAt: Timestamp.nullable().describe("When figures were last pulled, or `null`."),
    nextPullAt: Timestamp.describe("When figures are pulled next."),
    domains: z
      .array(z.string())
      .describe("Domains whose figures Google shows to the account, at most 1,000."),
  })
  .meta({ id: "PostmasterTools" });
export type PostmasterTools = z.output<typeof PostmasterTools>;

export const PostmasterAccess = z
  .object({
    serviceAccountKey: z
      .string()
      .min(1)
      .max(8000)
      .optional()
      .meta({ writeOnly: true })
      .describe(
        "Content of the JSON file with the key of the service account. Its private key is stored " +
          "encrypted. Omitted: the stored key.",
      ),
    delegatedUser: EmailAddress.nullable()
      .optional()
      .describe(
        "User of Google Workspace for whom the account acts, with domain-wide delegation. " +
          "Omitted: the account acts for itself.",
      ),
  })
  .meta({
    examples: [
      {
        serviceAccountKey:
          '{ "type": "service_account", "client_email": "mail@shop.iam.gserviceaccount.com", ' +
          '"private_key": "-----BEGIN PRIVATE KEY-----\\n…\\n-----END PRIVATE KEY-----\\n" }',
      },
    ],
  });
export type PostmasterAccess = z.output<typeof PostmasterAccess>;

const toApi = (item: PostmasterToolsItem): PostmasterTools => ({
  clientEmail: item.clientEmail,
  delegatedUser: item.delegatedUser ?? null,
  state: stateOf(item),
  lastError: item.lastError ?? null,
  failingSince: item.failingSince ?? null,
  lastPulledAt: item.lastPulledAt ?? null,
  nextPullAt: item.nextPullAt,
  domains: item.domains,
});

function stateOf({ failingSince, lastPulledAt }: PostmasterToolsItem): PostmasterTools["state"] {
  if (failingSince) return "failing";
  return lastPulledAt === undefined ? "waiting" : "working";
}

/** Null without a key. */
export async function findAccess({ orgId }: CallerScope): Promise<PostmasterTools | null> {
  const item = await findItem(orgId);
  return item ? toApi(item) : null;
}

/**
 * Logs in, lists the domains and stores the key. Figures are pulled at once. 400 if the key is
 * missing or not valid or Google refuses it, 502 if Google does not respond.
 */
export async function setAccess(
  { orgId }: CallerScope,
  { serviceAccountKey, delegatedUser }: PostmasterAccess,
): Promise<PostmasterTools> {
  const before = await findItem(orgId);
  const { clientEmail, privateKey } =
    serviceAccountKey === undefined ? await openStoredKey(before) : parseKey(serviceAccountKey);
  const account = { clientEmail, ...(delegatedUser && { delegatedUser }) };
  const item: PostmasterToolsItem = {
    ...account,
    orgId,
    domains: await checkAccess({ ...account, privateKey }),
    sealedPrivateKey: await encryption.encrypt(privateKey, encryptionContext(orgId)),
    revision: randomUUID(),
    ...pullIn(orgId, secondsUntilFound),
  };
  const unchanged = before ? equals("revision", before.revision) : absent("revision");
  if (!(await transact(put(keys.postmasterTools(orgId), item, { if: unchanged }))))
    throw conflict("The access was changed by another request: read it again, then retry");
  await enqueueFiguresPull(orgId);
  return toApi(item);
}

/** If its message is lost, the due index finds the first pull after so long. */
const secondsUntilFound = 60;

/** Ends the pulls. Figures that were pulled stay until they expire. */
export const removeAccess = ({ orgId }: CallerScope): Promise<void> =>
  write(removeItem(keys.postmasterTools(orgId)));

const KeyFile = z.object({
  client_email: EmailAddress,
  // KMS encrypts at most 4 KB. An RSA key of 4,096 bits has 3,300.
  private_key: z.string().max(4000),
});

/** Other fields of the file, such as its URLs, are ignored. */
function parseKey(text: string): { clientEmail: string; privateKey: string } {
  const { data } = KeyFile.safeParse(parseJson(text));
  if (!data) throw keyError("must be the JSON file with client_email and private_key");
  const key = readRsaKey(data.private_key);
  if (!key) throw keyError("private_key must be an RSA key of at least 2048 bits, as PEM");
  const privateKey = key.export({ type: "pkcs8", format: "pem" }).toString();
  return { clientEmail: data.client_email, privateKey };
}

async function openStoredKey(item: PostmasterToolsItem | undefined): Promise<ServiceAccount> {
  if (!item) throw keyError("is required, because no key is stored");
  return openAccount(item);
}

async function checkAccess(account: ServiceAccount): Promise<string[]> {
  try {
    return await listDomains(await logIn(account));
  } catch (error) {
    if (!(error instanceof PostmasterError)) throw error;
    throw error.isTemporary ? upstream(error.message) : keyError(error.message);
  }
}

function keyError(reason: string) {
  const message = `serviceAccountKey: ${reason}`;
  return invalid(message, { details: [{ path: "serviceAccountKey", message }] });
}

const encryptionContext = (orgId: number): encryption.EncryptionContext => ({
  orgId: String(orgId),
  purpose: "postmaster tools",
});

export const openAccount = async (item: PostmasterToolsItem): Promise<ServiceAccount> => ({
  clientEmail: item.clientEmail,
  delegatedUser: item.delegatedUser,
  privateKey: await encryption.decrypt(item.sealedPrivateKey, encryptionContext(item.orgId)),
});
