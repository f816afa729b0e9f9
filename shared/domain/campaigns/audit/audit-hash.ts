// The hash of an audit. It covers contact id, send id and outcome of each row, which survive the
// erasure of a person. Pages are hashed one by one, and then chained, so that a worker can continue
// after any page. The API reference describes it for people who recompute it.
import { sha256 } from "../../../keys.ts";
import type { AuditPage, AuditRow } from "./audit-rows.ts";

/** The hash of an audit without pages. */
export const emptyAuditHash: string = sha256("");

const toAuditLine = ({ contactId, sendId, outcome }: AuditRow): string =>
  `${contactId},${sendId ?? ""},${outcome}\n`;

/** The hash after one more page. */
export function addPageToHash(hash: string, { name, rows }: AuditPage): string {
  const pageHash = sha256(rows.map(toAuditLine).join(""));
  return sha256(`${hash}\n${name},${rows.length},${pageHash}\n`);
}
