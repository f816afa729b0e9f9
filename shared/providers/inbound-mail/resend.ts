// Resend receiving (resend.com/docs/dashboard/receiving): an event without the mail. The API, asked
// with the key of a sending config, gives a link to the whole mail. Signed by Svix.
import { requestPublicUrl } from "../../adapters/http/public-client.ts";
import { config } from "../../config.ts";
import { asObject, asText, parseJson } from "../inbound/normalize.ts";
import { resend as events } from "../inbound/resend.ts";
import { downloadFromAccounts, neverFetches } from "./account-access.ts";
import { type InboundMailAdapter, parseMime } from "./received-mail.ts";

const maxBytes = 36 * 1024 * 1024;

export const resend: InboundMailAdapter = {
  verify: (request, key, now) =>
    events.verify(request, key, { now, fetchCertificate: neverFetches }),
  async read({ body }, accounts) {
    const event = asObject(parseJson(Buffer.from(body)));
    const data = asObject(event.data);
    const id = asText(data.email_id);
    if (event.type !== "email.received" || !id || !/^[\w-]{1,100}$/.test(id)) return [];
    const received = await downloadFromAccounts("resend", await accounts(), async ({ apiKey }) => ({
      url: `https://api.resend.com/emails/receiving/${id}`,
      headers: { authorization: `Bearer ${String(apiKey)}` },
    }));
    const link = asText(asObject(asObject(parseJson(received)).raw).download_url);
    if (!link) return [];
    const { status, text } = await requestPublicUrl({
      url: link,
      timeoutSeconds: 60,
      maxBytes,
      allowLoopback: config.allowLoopbackWebhooks,
      decode: (bytes) => Buffer.from(bytes).toString("latin1"),
    });
    if (status !== 200) throw new Error(`The mail at Resend cannot be read: status ${status}`);
    const mail = await parseMime(Buffer.from(text, "latin1"), {
      envelopeTo: [data.to].flat(),
      providerId: id,
    });
    return mail ? [mail] : [];
  },
  rejectedStatus: 401,
};
