// Domains that hand out mailboxes for minutes. Loaded late: the list is large.
import { disposableEmailBlocklistSet } from "disposable-email-domains-js";

let list: ReadonlySet<string> | undefined;

/** Whether the domain, or one that it lies below, is on the list. */
export function isDisposable(domain: string): boolean {
  list ??= disposableEmailBlocklistSet();
  const labels = domain.split(".");
  return labels.slice(0, -1).some((_, i) => list!.has(labels.slice(i).join(".")));
}
