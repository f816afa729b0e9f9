// Reads DMARC aggregate reports (RFC 7489, appendix C; RFC 9990). What does not fit is left out.
import { isIP } from "node:net";
import { parseXml, type XmlElement, XmlFault } from "../../kernel/xml-tree.ts";
import { cleanText, type ReportHead, toCount, toDomain } from "./report-fields.ts";

export const dispositions = ["none", "quarantine", "reject"] as const;
export type Disposition = (typeof dispositions)[number];

/** Emails with the same source and the same results. */
export interface DmarcRow {
  ip: string;
  count: number;
  /** What the receiver did because of the policy. */
  disposition: Disposition;
  /** DKIM passed, with a domain that matches the one in From. */
  isDkimAligned: boolean;
  /** SPF passed, with a domain that matches the one in From. */
  isSpfAligned: boolean;
  /** Domain of the address in From. */
  fromDomain: string;
  /** Domain of a signature; of one that passed, if there is one. */
  dkimDomain?: string | undefined;
  /** Domain of the return address. */
  spfDomain?: string | undefined;
}

export interface DmarcReport extends ReportHead {
  kind: "dmarc";
  /** The domain with the policy. */
  domain: string;
  rows: DmarcRow[];
}

const maxRecords = 10_000;
const maxTags = 600_000;

/** Undefined if it is no report, has no rows, declares a document type, or exceeds a limit. */
export function readDmarcReport(xml: string): DmarcReport | undefined {
  if (!/<(\w+:)?feedback[\s>]/.test(xml.slice(0, 4000)) || /<!DOCTYPE/i.test(xml)) return undefined;
  if (countOf(xml, "<record") > maxRecords || countOf(xml, "<") > maxTags) return undefined;
  try {
    return toReport(parseXml(xml));
  } catch (error) {
    if (error instanceof XmlFault) return undefined;
    throw error;
  }
}

function countOf(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) count++;
  return count;
}

function toReport(feedback: XmlElement): DmarcReport | undefined {
  const metadata = find(feedback, "report_metadata");
  const range = find(metadata, "date_range");
  const domain = toDomain(textOf(find(feedback, "policy_published"), "domain"));
  const email = textOf(metadata, "email");
  const reporter = cleanText(textOf(metadata, "org_name") ?? email?.split("@")[1]);
  const reportId = cleanText(textOf(metadata, "report_id"));
  const [from, to] = [toCount(textOf(range, "begin")), toCount(textOf(range, "end"))];
  if (!domain || !reporter || !reportId || !from || !to || to < from) return undefined;
  const rows = findAll(feedback, "record").flatMap((record) => toRow(record, domain));
  return rows.length
    ? { kind: "dmarc", reporter, reportId, from: from * 1000, to: to * 1000, domain, rows }
    : undefined;
}

function toRow(record: XmlElement, policyDomain: string): DmarcRow[] {
  const row = find(record, "row");
  const ip = textOf(row, "source_ip") ?? "";
  const count = toCount(textOf(row, "count"));
  if (!isIP(ip) || ip.includes("%") || !count) return [];
  const evaluated = find(row, "policy_evaluated");
  const results = find(record, "auth_results");
  const disposition = textOf(evaluated, "disposition");
  return [
    {
      ip: ip.toLowerCase(),
      count,
      disposition: dispositions.find((one) => one === disposition) ?? "none",
      isDkimAligned: textOf(evaluated, "dkim") === "pass",
      isSpfAligned: textOf(evaluated, "spf") === "pass",
      fromDomain: toDomain(textOf(find(record, "identifiers"), "header_from")) ?? policyDomain,
      dkimDomain: domainOfResult(findAll(results, "dkim")),
      spfDomain: domainOfResult(findAll(results, "spf")),
    },
  ];
}

const domainOfResult = (results: XmlElement[]): string | undefined =>
  toDomain(textOf(results.find((one) => textOf(one, "result") === "pass") ?? results[0], "domain"));

/** Some reporters put the elements into a namespace with a prefix. */
const findAll = (parent: XmlElement | undefined, name: string): XmlElement[] =>
  parent?.children.filter((child) => child.name.slice(child.name.indexOf(":") + 1) === name) ?? [];

const find = (parent: XmlElement | undefined, name: string): XmlElement | undefined =>
  findAll(parent, name)[0];

const textOf = (parent: XmlElement | undefined, name: string): string | undefined =>
  find(parent, name)?.text.trim() || undefined;
