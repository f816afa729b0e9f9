// `pennymail verify-audit FILE`: recomputes the hash of an exported audit of a campaign. It follows
// the description of GET /campaigns/:id/audit and shares no code with the service.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { call, connect } from "./api-client.ts";
import { type Command, textOf } from "./command.ts";
import { CommandError, exitCodes } from "./exit-codes.ts";
import { formatRecord } from "./tables.ts";

export const verifyAudit: Command = {
  usage: "verify-audit FILE [options]",
  summary: "Recompute the hash of an exported audit of a campaign",
  description:
    "Reads a file of POST /exports with the type campaign-audit, CSV or JSON, counts its rows by " +
    "outcome and recomputes their hash. Exits with 1 if a contact has several rows, or if the " +
    "hash is not the expected one, and with 2 if a line of the file is no row. Only --campaign " +
    "asks the service.",
  options: { hash: { type: "string" }, campaign: { type: "string" }, json: { type: "boolean" } },
  optionTexts: {
    "--hash HASH": "Hash that you noted",
    "--campaign ID": "Campaign whose hash the service is asked for",
  },
  words: [1, 1],
  run: async ({ terminal, values, words }) => {
    const [file, campaign] = [await readFile(words[0]!), textOf(values.campaign)];
    const expected = campaign
      ? (await call<{ hash: string | null }>(connect(terminal), "campaigns.getAudit", campaign))
          .hash
      : textOf(values.hash);
    const { hash, rows, pages, outcomes, repeatedContacts } = file;
    const result = { rows, pages, ...outcomes, hash };
    terminal.write(
      terminal.isInteractive && !values.json
        ? `${formatRecord(result, terminal)}\n`
        : `${JSON.stringify(result)}\n`,
    );
    if (repeatedContacts)
      throw new CommandError(`${repeatedContacts} rows repeat a contact`, exitCodes.refused);
    if (expected !== undefined && expected !== hash)
      throw new CommandError(
        `The hash is not the expected one: ${expected ?? "the campaign has no hash yet"}`,
        exitCodes.refused,
      );
  },
};

interface AuditFile {
  hash: string;
  rows: number;
  pages: number;
  outcomes: Record<string, number>;
  repeatedContacts: number;
}

interface AuditRow {
  page: string;
  contactId: string;
  sendId: string;
  outcome: string;
}

/** Reads the file once. Only the hashes of the pages and the ids of the contacts stay in memory. */
async function readFile(path: string): Promise<AuditFile> {
  const pages = new Map<string, { hash: ReturnType<typeof createHash>; rows: number }>();
  const outcomes: Record<string, number> = {};
  const contactIds = new Set<string>();
  let rows = 0;
  for await (const { page, contactId, sendId, outcome } of readRows(path)) {
    const state = pages.get(page) ?? { hash: createHash("sha256"), rows: 0 };
    state.hash.update(`${contactId},${sendId},${outcome}\n`);
    pages.set(page, { ...state, rows: state.rows + 1 });
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    contactIds.add(contactId);
    rows++;
  }
  let hash = sha256("");
  for (const name of [...pages.keys()].sort()) {
    const page = pages.get(name)!;
    hash = sha256(`${hash}\n${name},${page.rows},${page.hash.digest("hex")}\n`);
  }
  return { hash, rows, pages: pages.size, outcomes, repeatedContacts: rows - contactIds.size };
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

interface FileFormat {
  header: RegExp;
  /** What follows the last row. */
  footer: RegExp;
  /** Undefined if the record is no row. */
  parseRow(record: string): AuditRow | undefined;
  /** Whether the record continues on the next line. */
  isUnfinished(record: string): boolean;
}

const csv: FileFormat = {
  header: /^\uFEFF?page,contactId,sendId,outcome,error$/,
  footer: /^$/,
  parseRow: (record) => {
    const row = /^([^",]+),([^",]+),([^",]*),([^",]+),(?:[^",]*|"(?:[^"]|"")*")$/.exec(record);
    if (!row) return undefined;
    const [, page = "", contactId = "", sendId = "", outcome = ""] = row;
    return { page, contactId, sendId, outcome };
  },
  // A quoted error can have several lines.
  isUnfinished: (record) => record.split('"').length % 2 === 0,
};

const json: FileFormat = {
  header: /^\{"data":\{"rows":\[$/,
  footer: /^(?:\]\}\})?$/,
  parseRow: (record) => {
    if (!record.startsWith("{")) return undefined;
    const { page, contactId, sendId, outcome } = JSON.parse(record.replace(/,$/, ""));
    return {
      page: String(page),
      contactId: String(contactId),
      sendId: String(sendId ?? ""),
      outcome: String(outcome),
    };
  },
  isUnfinished: () => false,
};

const isAuditRow = ({ page, contactId, sendId, outcome }: AuditRow): boolean =>
  /^\w+-\d+$/.test(page) &&
  /^\d+$/.test(contactId) &&
  /^\d*$/.test(sendId) &&
  /^[a-zA-Z]+$/.test(outcome);

/**
 * Throws `CommandError` for every line that is no row: another program could show as a row what is
 * skipped here.
 */
async function* readRows(path: string): AsyncGenerator<AuditRow> {
  try {
    let format: FileFormat | undefined;
    let hasEnded = false;
    let record = "";
    let lines = 0;
    for await (const line of readLines(path)) {
      lines++;
      if (!format) {
        format = [csv, json].find(({ header }) => header.test(line));
        if (!format) throw new Error("it does not begin like an exported audit");
        continue;
      }
      record += line;
      if (format.isUnfinished(record) && record.length < maxLineLength) {
        record += "\n";
        continue;
      }
      const row = hasEnded ? undefined : format.parseRow(record);
      const isValid = row ? isAuditRow(row) : format.footer.test(record);
      if (!isValid) throw new Error(`line ${lines} is no row of an audit`);
      if (row) yield row;
      else hasEnded = true;
      record = "";
    }
    if (record) throw new Error("a quoted text has no end");
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

const maxLineLength = 100_000;

/** Splits at line feeds only: node:readline also splits at characters that JSON does not escape. */
async function* readLines(path: string): AsyncGenerator<string> {
  let rest = "";
  for await (const part of fs.createReadStream(path, "utf8")) {
    const lines: string[] = (rest + part).split("\n");
    rest = lines.pop()!;
    if (rest.length > maxLineLength) throw new Error("a line is too long");
    for (const line of lines) yield line.replace(/\r$/, "");
  }
  if (rest) yield rest;
}
