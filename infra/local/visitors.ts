// Who may use /_local/*: it shows all mail, password resets among it, and moves time. A browser on this machine reaches it too, and
// with it every page that is open there.
import { isIP } from "node:net";
import type { Asked } from "./gateway.ts";

/**
 * Whether a foreign page may stand behind a request: it says so itself in Origin, or it came by a name of its own in public DNS that
 * leads to this machine ("DNS rebinding").
 */
export function isForeign({ headers: { host = "", origin } }: Pick<Asked, "headers">, publicUrl: string): boolean {
  const here = URL.parse(`http://${host}`);
  if (!here || !isOurs(here.hostname, publicUrl)) return true;
  return origin !== undefined && URL.parse(origin)?.host !== here.host;
}

/** Addresses, names without a dot, and the one that was set: nobody else can give these a meaning. */
function isOurs(hostname: string, publicUrl: string): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(address) > 0 || !hostname.includes(".") || hostname.endsWith(".localhost") || hostname === URL.parse(publicUrl)?.hostname;
}
