// `pennymail verify-audit FILE`: recomputes the hash of an exported audit of a campaign. It follows
// the description of GET /campaigns/:id/audit and shares no code with the service.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { createInterface } from "node:readline";
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
    "hash is not the expected one. Only --campaign asks the service.",
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

async function* readRows(path: string): AsyncGenerator<AuditRow> {
  const lines = createInterface({ input: openFile(path), crlfDelay: Number.POSITIVE_INFINITY });
  let isInsideQuotes = false;
  try {
    for await (const line of lines) {
      const row = isInsideQuotes ? undefined : parseLine(line);
      // A quoted error can have several lines.
      if (!line.startsWith("{") && line.split('"').length % 2 === 0)
        isInsideQuotes = !isInsideQuotes;
      if (row) yield row;
    }
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

const openFile = (path: string) => fs.createReadStream(path, "utf8");

/** A row of either format. Undefined for the first and the last lines of a file. */
function parseLine(line: string): AuditRow | undefined {
  if (line.startsWith('{"page"')) {
    const row = JSON.parse(line.replace(/,$/, "")) as Record<
      keyof AuditRow,
      string | number | null
    >;
    const text = (key: keyof AuditRow) => String(row[key] ?? "");
    return {
      page: text("page"),
      contactId: text("contactId"),
      sendId: text("sendId"),
      outcome: text("outcome"),
    };
  }
  const cells = /^([0-9a-z]+-\d+),(\d+),(\d*),(\w+),/.exec(line);
  if (!cells) return undefined;
  const [, page = "", contactId = "", sendId = "", outcome = ""] = cells;
  return { page, contactId, sendId, outcome };
}
