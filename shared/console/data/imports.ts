// Imports: the file, and the form with which the API takes it.
import type { Import } from "pennymail";

export const isRunning = ({ status }: Pick<Import, "status">): boolean =>
  status === "queued" || status === "running";

export interface ImportFile {
  /** Tells files apart: two can have one name. */
  id: number;
  name: string;
  content: Blob;
}

/** How a preview reads the file. */
export interface PreviewOptions {
  mapping: Record<string, string>;
  decimalMark?: string | undefined;
  dateOrder?: string | undefined;
}

let lastId = 0;

export const createImportFile = (name: string, content: Blob): ImportFile => ({
  id: ++lastId,
  name,
  // A program may have given the type of a spreadsheet to it.
  content: new Blob([content], { type: "text/csv" }),
});

/** Lists and objects are sent as JSON. */
export function toForm(file: ImportFile, options: Record<string, unknown>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(options))
    form.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  form.set("file", file.content, file.name);
  return form;
}
