// Mailgun routes (documentation.mailgun.com, receive via HTTP with forward()): a form with the
// fields of the mail, or with the whole mail in `body-mime` if the URL ends in `mime`. The signing
// key is that of Mailgun's webhooks.
import { createHmac } from "node:crypto";
import { asArray, asObject, parseJson } from "../inbound/normalize.ts";
import { equalsSecret } from "../inbound/signatures.ts";
import { type BinaryForm, bytesField, fileField, readForm, textField } from "./forms.ts";
import {
  headerOf,
  type InboundMailAdapter,
  parseMime,
  type ReceivedFile,
  type ReceivedMail,
  toFile,
  toReceivedMail,
} from "./received-mail.ts";

/** Mailgun tries again for 8 hours with the first signature. */
const windowSeconds = 24 * 3600;
const maxFiles = 100;

export const mailgun: InboundMailAdapter = {
  async verify({ headers, rawBody }, key, now) {
    const form = await readForm({ contentType: headers["content-type"] ?? "", body: rawBody });
    const [timestamp = "", token = "", signature] = await Promise.all(
      ["timestamp", "token", "signature"].map((name) => form && textField(form, name)),
    );
    if (!token || !/^\d{1,12}$/.test(timestamp)) return false;
    if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > windowSeconds) return false;
    const expected = createHmac("sha256", key).update(`${timestamp}${token}`).digest("hex");
    return equalsSecret(signature, expected);
  },
  async read(request) {
    const form = await readForm(request);
    const mail = form && (await readMail(form));
    if (!form || !mail) return [];
    const score = Number(headerOf(mail, "x-mailgun-sscore") ?? Number.NaN);
    const flag = headerOf(mail, "x-mailgun-sflag");
    return [
      {
        ...mail,
        envelopeTo: [await textField(form, "recipient")].filter((to) => to !== undefined),
        spam: {
          isSpam: flag === undefined ? undefined : /^yes/i.test(flag),
          score: Number.isFinite(score) ? score : undefined,
        },
      },
    ];
  },
  // The only status, beside 200, after which Mailgun does not try again.
  rejectedStatus: 406,
};

async function readMail(form: BinaryForm): Promise<ReceivedMail | undefined> {
  const raw = await bytesField(form, "body-mime");
  if (raw !== undefined) return parseMime(raw);
  const headers = asArray(parseJson(await textField(form, "message-headers")));
  if (!headers.length) return undefined;
  return toReceivedMail({
    headers: headers.flatMap((pair) => {
      const [name, value] = asArray(pair);
      return typeof name === "string" ? [[name, value] as const] : [];
    }),
    text: await textField(form, "body-plain"),
    html: await textField(form, "body-html"),
    files: await filesOf(form),
  });
}

async function filesOf(form: BinaryForm): Promise<ReceivedFile[]> {
  const byContentId = asObject(parseJson(await textField(form, "content-id-map")));
  const contentIds = new Map(Object.entries(byContentId).map(([id, name]) => [name, id]));
  const files: ReceivedFile[] = [];
  for (let n = 1; n <= maxFiles; n++) {
    const file = await fileField(form, `attachment-${n}`);
    if (!file) break;
    files.push(
      toFile({
        filename: file.name,
        type: file.type,
        contentId: contentIds.get(`attachment-${n}`),
        content: file.content,
      }),
    );
  }
  return files;
}
