// The only module that imports csv-parse and csv-stringify. A deployed function loads it with the
// first CSV that it reads or writes.
import { type Options, type Parser, parse } from "csv-parse";
import { parse as parseSync } from "csv-parse/sync";
import { stringify, type Options as WriteOptions } from "csv-stringify/sync";

export const csvParser = (options: Options): Parser => parse(options);

export const csvRows = (text: string, options: Options): string[][] =>
  parseSync(text, options) as unknown as string[][];

export const csvText = (rows: unknown[], options: WriteOptions): string => stringify(rows, options);
