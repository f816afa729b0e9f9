// The folder of an export: one file per kind, one JSON object per line, and a manifest that is
// written last.
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseJson } from "../../../shared/kernel/json.ts";
import { CliError } from "../cli-error.ts";

export type Fields = Record<string, unknown>;

/** A record as the API returns it. */
export interface Row extends Fields {
  id: number;
  name: string;
  siteId?: number | null;
}

export interface ExportManifest {
  format: "pennymail";
  version: 1;
  url: string;
  exportedAt: string;
  /** Lines per file. */
  rows: Record<string, number>;
}

const fileOf = (folder: string, kind: string): string => join(folder, `${kind}.jsonl`);

/**
 * Writes the rows of a kind to a file that only the owner can read. The file gets its final name
 * when it is complete.
 */
export async function writeRows(
  folder: string,
  kind: string,
  pages: AsyncIterable<Fields[]>,
): Promise<number> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const part = `${fileOf(folder, kind)}.part`;
  const file: FileHandle = await open(part, "w", 0o600);
  let rows = 0;
  try {
    for await (const page of pages) {
      rows += page.length;
      if (page.length) await file.write(page.map((row) => `${JSON.stringify(row)}\n`).join(""));
    }
  } finally {
    await file.close();
  }
  renameSync(part, fileOf(folder, kind));
  return rows;
}

/** Reads the rows of a kind. Returns none when the export has no such file. */
export async function* readRows<T extends Fields>(folder: string, kind: string): AsyncGenerator<T> {
  const path = fileOf(folder, kind);
  if (!existsSync(path)) return;
  let line = 0;
  for await (const text of createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    line++;
    if (!text.trim()) continue;
    const row = parseJson(text) as T | undefined;
    if (typeof row !== "object" || row === null)
      throw new CliError(`${path}, line ${line}: not a JSON object`);
    yield row;
  }
}

export const writeManifest = (folder: string, manifest: ExportManifest): void =>
  writeFileSync(join(folder, "manifest.json"), `${JSON.stringify(manifest, undefined, 2)}\n`, {
    mode: 0o600,
  });

export function readManifest(folder: string): ExportManifest {
  const path = join(folder, "manifest.json");
  if (!existsSync(path))
    throw new CliError(`${folder} holds no complete export: there is no manifest.json`);
  const manifest = parseJson(readFileSync(path, "utf8")) as Partial<ExportManifest> | undefined;
  if (manifest?.format !== "pennymail" || manifest.version !== 1)
    throw new CliError(`${path} is not the manifest of a Pennymail export of version 1`);
  return manifest as ExportManifest;
}
