// Mandrill inbound webhooks (mailchimp.com/developer/transactional/docs/inbound-email): a form with
// an array of events, each with the whole mail. Signed like its other webhooks.
import { mandrill as events } from "../inbound/mandrill.ts";
import { asObject, asObjects, parseJson } from "../inbound/normalize.ts";
import { neverFetches } from "./account-access.ts";
import { readForm, textField } from "./forms.ts";
import { type InboundMailAdapter, parseMime } from "./received-mail.ts";

export const mandrill: InboundMailAdapter = {
  verify: (request, key, now) =>
    events.verify(request, key, { now, fetchCertificate: neverFetches }),
  async read(request) {
    const form = await readForm(request);
    const rows = asObjects(parseJson(form && (await textField(form, "mandrill_events"))));
    const mails = await Promise.all(
      rows.map(({ event, msg }) => (event === "inbound" ? readMail(asObject(msg)) : undefined)),
    );
    return mails.flatMap((mail) => mail ?? []);
  },
  rejectedStatus: 401,
};

async function readMail({ raw_msg: raw, email, spam_report: report }: Record<string, unknown>) {
  if (typeof raw !== "string") return undefined;
  return parseMime(raw, { envelopeTo: [email], score: asObject(report).score });
}
