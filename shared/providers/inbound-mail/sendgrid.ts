// SendGrid Inbound Parse (twilio.com/docs/sendgrid, setting up the Inbound Parse webhook): a form
// with the fields of the mail, or with the whole mail in `email`. With a security policy, SendGrid
// signs it like its events.
import { asObject, parseJson } from "../inbound/normalize.ts";
import { sendgrid as events } from "../inbound/sendgrid.ts";
import { neverFetches } from "./account-access.ts";
import { type BinaryForm, bytesField, fileField, readForm, textField } from "./forms.ts";
import {
  type InboundMailAdapter,
  parseMime,
  type ReceivedFile,
  toFile,
  toReceivedMail,
} from "./received-mail.ts";

export const sendgrid: InboundMailAdapter = {
  verify: (request, key, now) =>
    events.verify(request, key, { now, fetchCertificate: neverFetches }),
  async read(request) {
    const form = await readForm(request);
    if (!form) return [];
    const envelope = asObject(parseJson(await textField(form, "envelope")));
    const common = {
      envelopeTo: [envelope.to].flat(),
      // SendGrid gives a score without a verdict.
      score: await textField(form, "spam_score"),
    };
    const raw = await bytesField(form, "email");
    if (raw !== undefined) {
      const mail = await parseMime(raw, common);
      return mail ? [mail] : [];
    }
    const headers = await textField(form, "headers");
    const parsed = headers && (await parseMime(`${headers.trim()}\r\n\r\n`));
    if (!parsed) return [];
    const charsets = asObject(parseJson(await textField(form, "charsets")));
    return [
      toReceivedMail({
        ...common,
        headers: parsed.headers.map(({ name, value }) => [name, value] as const),
        text: await textField(form, "text", charsets.text),
        html: await textField(form, "html", charsets.html),
        files: await filesOf(form),
      }),
    ];
  },
  rejectedStatus: 401,
};

async function filesOf(form: BinaryForm): Promise<ReceivedFile[]> {
  const described = asObject(parseJson(await textField(form, "attachment-info")));
  const files: ReceivedFile[] = [];
  for (const [name, value] of Object.entries(described)) {
    const file = await fileField(form, name);
    const info = asObject(value);
    if (!file) continue;
    files.push(
      toFile({
        filename: info.filename ?? info.name ?? file.name,
        type: info.type ?? file.type,
        contentId: info["content-id"],
        content: file.content,
      }),
    );
  }
  return files;
}
