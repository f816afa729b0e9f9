// A mail as it is (message/rfc822), posted by a program: a mail server that pipes to curl, or a
// worker of Cloudflare Email Routing.
import { type InboundMailAdapter, parseMime } from "./received-mail.ts";

export const mime: InboundMailAdapter = {
  async read({ body }) {
    const mail = await parseMime(body);
    return mail ? [mail] : [];
  },
  rejectedStatus: 401,
};
