// SparkPost relay webhooks (developers.sparkpost.com/api/relay-webhooks): an array of mails as they
// are. The token of the webhook is in a header.
import { asObject, asObjects, parseJson } from "../inbound/normalize.ts";
import { sparkpost as events } from "../inbound/sparkpost.ts";
import { neverFetches } from "./account-access.ts";
import { type InboundMailAdapter, parseMime } from "./received-mail.ts";

export const sparkpost: InboundMailAdapter = {
  verify: (request, key, now) =>
    events.verify(request, key, { now, fetchCertificate: neverFetches }),
  async read({ body }) {
    const rows = asObjects(parseJson(Buffer.from(body)));
    const mails = await Promise.all(
      rows.map(({ msys }) => readRelayed(asObject(asObject(msys).relay_message))),
    );
    return mails.flatMap((mail) => mail ?? []);
  },
  rejectedStatus: 401,
};

function readRelayed({ content, rcpt_to: recipient }: Record<string, unknown>) {
  const { email_rfc822: text, email_rfc822_is_base64: isBase64 } = asObject(content);
  if (typeof text !== "string") return undefined;
  const source = isBase64 === true ? Buffer.from(text, "base64") : text;
  return parseMime(source, { envelopeTo: [recipient] });
}
