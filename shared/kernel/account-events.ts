// What an unauthenticated request did to a user's account, such as a login that was refused. Only
// the domain knows whose account it is. It reports the event here, and the edge stores it in the
// audit log with the client's address. The edge itself sees when a session is opened.
import { AsyncLocalStorage } from "node:async_hooks";

export interface AccountEvent {
  /** The operation id of a route, for example `logIn`. */
  action: string;
  /** The organization in whose audit log the event belongs. 0: no such user exists. */
  orgId: number;
  userId: number | null;
  outcome: "done" | "failed" | "second_factor_required";
  /** The invitation that was accepted. */
  invitationId?: number | undefined;
  /** Whether the request has proven that it comes from the user. Default: if it did not fail. */
  proven?: boolean;
}

interface Reported {
  event?: AccountEvent;
}
const reportStore = new AsyncLocalStorage<Reported>();

/** The last report of a request counts. */
export function reportAccountEvent(event: AccountEvent): void {
  const reported = reportStore.getStore();
  if (reported) reported.event = event;
}

/** Runs `work`. `reported` gets what the domain reports, also if `work` throws. */
export const withAccountEvents = <T>(reported: Reported, work: () => Promise<T>): Promise<T> =>
  reportStore.run(reported, work);
