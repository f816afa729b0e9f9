// Brevo inbound parsing (developers.brevo.com/docs/inbound-parse-webhooks): mails in parts, as
// JSON.
// Files are read with the API key of a sending config. Brevo does not sign.
import { inParallel } from "../../kernel/parallel.ts";
import { asArray, asObject, asObjects, parseJson } from "../inbound/normalize.ts";
import { downloadFromAccounts, type ReadAccounts } from "./account-access.ts";
import { pairsOf } from "./mailjet.ts";
import {
  type InboundMailAdapter,
  type ReceivedFile,
  toFile,
  toReceivedMail,
} from "./received-mail.ts";

const maxMails = 100;
const maxFiles = 100;

export const brevo: InboundMailAdapter = {
  async read({ body }, accounts) {
    const rows = asObjects(asObject(parseJson(Buffer.from(body))).items ?? []);
    return inParallel(1, rows.slice(0, maxMails), async (row) => {
      const files = asObjects(row.Attachments ?? []).slice(0, maxFiles);
      return toReceivedMail({
        headers: pairsOf(row.Headers),
        envelopeTo: asArray(row.Recipients),
        text: row.RawTextBody,
        html: row.RawHtmlBody,
        files: (await inParallel(2, files, (file) => readFile(file, accounts))).flat(),
        score: asObject(row.Spam).Score ?? row.SpamScore,
        providerId: asArray(row.Uuid)[0],
      });
    });
  },
  rejectedStatus: 401,
};

/** Without a sending config of Brevo, the mail comes without its files. */
async function readFile(
  { Name, ContentType, ContentID, DownloadToken }: Record<string, unknown>,
  accounts: ReadAccounts,
): Promise<ReceivedFile[]> {
  const owners = await accounts();
  if (typeof DownloadToken !== "string" || !owners.length) return [];
  const url = `https://api.brevo.com/v3/inbound/attachments/${encodeURIComponent(DownloadToken)}`;
  const content = await downloadFromAccounts("brevo", owners, async ({ apiKey }) => ({
    url,
    headers: { "api-key": String(apiKey) },
  }));
  if (!content) return [];
  return [
    toFile({
      filename: Name,
      type: ContentType,
      contentId: ContentID,
      content: new Uint8Array(content),
    }),
  ];
}
