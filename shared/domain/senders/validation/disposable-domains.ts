// Domains of disposable mailboxes. The list is large, so it is loaded when it is first used.
import { disposableEmailBlocklistSet } from "disposable-email-domains-js";

let blocklist: ReadonlySet<string> | undefined;

/** Whether the domain or one of its parent domains is on the list. */
export function isDisposable(domain: string): boolean {
  blocklist ??= disposableEmailBlocklistSet();
  const labels = domain.split(".");
  return labels.slice(0, -1).some((_, i) => blocklist!.has(labels.slice(i).join(".")));
}
