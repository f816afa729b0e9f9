// Mailjet Parse API (dev.mailjet.com/email/guides/parse-api): one mail in a request, as JSON. The
// content of each file is in a field of its own, in base64. Mailjet does not sign.
import { asArray, asObject, asObjects, asText, parseJson } from "../inbound/normalize.ts";
import {
  fileOfBase64,
  type InboundMailAdapter,
  type ReceivedFile,
  toReceivedMail,
} from "./received-mail.ts";

export const mailjet: InboundMailAdapter = {
  async read({ body }) {
    const row = asObject(parseJson(Buffer.from(body)));
    const headers = pairsOf(row.Headers);
    if (!headers.some(([name]) => name.toLowerCase() === "from")) return [];
    return [
      toReceivedMail({
        headers,
        envelopeTo: [row.Recipient],
        text: row["Text-part"],
        html: row["Html-part"],
        files: asObjects(row.Parts).flatMap((part) => toFile(row, part)),
        score: row.SpamAssassinScore,
      }),
    ];
  },
  rejectedStatus: 401,
};

/** A header that occurs several times is a list. */
export const pairsOf = (headers: unknown): (readonly [string, unknown])[] =>
  Object.entries(asObject(headers)).flatMap(([name, value]) =>
    [value].flat().map((one: unknown) => [name, one] as const),
  );

function toFile(row: Record<string, unknown>, part: Record<string, unknown>): ReceivedFile[] {
  const { ContentRef: reference, Headers: headers } = part;
  if (typeof reference !== "string" || !/Attachment/.test(reference)) return [];
  const value = (name: string) =>
    asText(asArray(pairsOf(headers).find(([key]) => key.toLowerCase() === name))[1]) ?? "";
  const [, quoted, bare] =
    /name\*?="([^"]*)"|name=([^;\s]+)/i.exec(
      `${value("content-disposition")}; ${value("content-type")}`,
    ) ?? [];
  return [
    fileOfBase64({
      filename: quoted ?? bare,
      type: value("content-type"),
      contentId: value("content-id"),
      base64: row[reference],
    }),
  ];
}
