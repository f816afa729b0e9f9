// Finds the report of a mailbox provider in a received mail. Bundles load this file when they read
// the first mail that can have one.
import type { ReceivedMail } from "../inbound-mail/received-mail.ts";
import { type DmarcReport, readDmarcReport } from "./dmarc-report.ts";
import { unpackReport } from "./report-files.ts";
import { readTlsReport, type TlsReport } from "./tls-report.ts";

export type MailboxReport = DmarcReport | TlsReport;

const maxFiles = 3;

/** The first report in the files or the text of the mail. */
export function findReport({ files, text }: Pick<ReceivedMail, "files" | "text">) {
  for (const { content } of files.filter(canHaveReport).slice(0, maxFiles)) {
    const report = readReportText(unpackReport(content));
    if (report) return report;
  }
  return readReportText(text?.trimStart());
}

const canHaveReport = ({ type, filename }: ReceivedMail["files"][number]): boolean =>
  /zip|xml|json|tlsrpt/.test(type) || /\.(xml|zip|gz|json)$/i.test(filename);

function readReportText(text: string | undefined): MailboxReport | undefined {
  if (text?.startsWith("<")) return readDmarcReport(text);
  return text?.startsWith("{") ? readTlsReport(text) : undefined;
}
