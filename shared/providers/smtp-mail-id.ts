// The id of a mail at an SMTP server, in its message id and its return address.
import { createHmac } from "node:crypto";

interface Account {
  host?: unknown;
  user?: unknown;
  password?: unknown;
}

/**
 * The same for each attempt. Its second half cannot be guessed, so that a bounce with it is about a
 * mail that was sent. `mail` is its sending config and send id, or a random key.
 */
export function mailIdOf(
  mail: string,
  { sendId, to }: { sendId: number; to: string },
  { host, user = "", password = "" }: Account,
): string {
  const proof = createHmac("sha256", JSON.stringify([host, user, password]))
    .update(`${mail} ${to}`)
    .digest("hex");
  return `${sendId}.${proof.slice(0, 20)}`;
}
