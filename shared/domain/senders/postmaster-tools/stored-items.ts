// What is stored of Postmaster Tools. Kept apart so that those who only read it do not load the
// client of Google's API.
import { get } from "../../../adapters/dynamodb/table.ts";
import { keys } from "../../../keys.ts";
import type { PostmasterFigures } from "../../../providers/mailbox-reports/postmaster-tools.ts";

/** The access of an organization. Empty fields are left out. */
export interface PostmasterToolsItem {
  orgId: number;
  clientEmail: string;
  sealedPrivateKey: string;
  delegatedUser?: string | undefined;
  /** Another one for each change of the settings. Pulls with older settings save nothing. */
  revision: string;
  domains: string[];
  /** The last domain whose figures were stored by a pull that is not complete. */
  position?: string;
  lastPulledAt?: string;
  lastError?: string;
  failingSince?: string;
  nextPullAt: string;
}

export const findItem = (orgId: number): Promise<PostmasterToolsItem | undefined> =>
  get<PostmasterToolsItem>(keys.postmasterTools(orgId));

/** The figures of a domain on one day. `expires`: epoch seconds. */
export type PostmasterDayItem = PostmasterFigures & { expires: number };

/** The kind of these days among the report days of a domain. */
export const postmasterKind = "POSTMASTER";
