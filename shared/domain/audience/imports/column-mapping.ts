// Finds the field of each column: from the mapping, else from the header in one of seven languages.
import { invalid } from "../../../errors.ts";
import { parseJson } from "../../../kernel/json.ts";
import {
  type ImportColumn,
  type ImportField,
  type importFields,
  isExported,
} from "./import-options.ts";

const maxColumns = 1000;
const maxHeaderBytes = 100_000;
const maxHeaderLength = 200;
const maxCustomColumns = 100;

/**
 * Throws `invalid` if the file lacks a mapped column or has no email column. `rows` are the first
 * rows below the header; a column of addresses is recognized by them. A header that differs from
 * one of `customFieldKeys` only in case takes its spelling.
 */
export function mapColumns(
  cells: string[],
  rows: string[][],
  {
    mapping = {},
    customFieldKeys = [],
  }: { mapping?: Record<string, ImportField>; customFieldKeys?: string[] } = {},
): ImportColumn[] {
  if (cells.some(looksLikeEmail)) throw noHeaderProblem();
  const headers = uniqueHeaders(cells.map((cell) => cell.trim()));
  if (headers.length > maxColumns)
    throw invalid(
      `The header has ${headers.length} columns, but a file can have at most ${maxColumns}`,
    );
  if (Buffer.byteLength(headers.join("")) > maxHeaderBytes)
    throw invalid("The first row is too long to be a header");
  const mapped = applyMapping(headers, mapping);
  const fields = guessByHeader(headers, mapped, customFieldKeys);
  for (const [i, field] of fields.entries())
    if (field === "customFields" && !mapped[i] && !isJson(rows, i))
      fields[i] = `customFields.${headers[i]!.slice(0, 100)}`;
  if (!fields.includes("email")) {
    const emailColumn = findEmailColumn(fields, rows);
    if (emailColumn < 0) throw noEmailProblem(cells);
    fields[emailColumn] = "email";
  }
  return headers.map((header, i) => ({
    header: header.slice(0, maxHeaderLength),
    field: fields[i] ?? "ignore",
  }));
}

/** Columns by their headers alone, for a file that `mapColumns` refuses. */
export const guessColumns = (cells: string[]): ImportColumn[] =>
  uniqueHeaders(cells.slice(0, maxColumns).map((cell) => cell.trim())).map((header) => ({
    header: header.slice(0, maxHeaderLength),
    field: fieldForHeader(header) ?? `customFields.${header.slice(0, 100)}`,
  }));

// Checks the length first: on a cell of a megabyte the pattern takes hours.
const looksLikeEmail = (cell = ""): boolean =>
  cell.length <= 500 && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell.trim());

const noHeaderProblem = (): Error =>
  invalid(
    "The file has no header: its first row must name the columns, and one of them must be email",
  );

function noEmailProblem(cells: string[]): Error {
  const shown = cells.slice(0, 20).map((cell) => cell.trim().slice(0, 50));
  return invalid(
    "No column was recognized as the email address: set it in mapping. The columns are: " +
      `${shown.join(", ").slice(0, 500)}`,
  );
}

/** Makes headers unique: blank ones get the name of their column, repeated ones a number. */
function uniqueHeaders(cells: string[]): string[] {
  const seen = new Map<string, number>();
  return cells.map((cell, i) => {
    const header = cell || `Column ${i + 1}`;
    const times = (seen.get(header) ?? 0) + 1;
    seen.set(header, times);
    return times === 1 ? header : `${header} (${times})`;
  });
}

function applyMapping(
  headers: string[],
  mapping: Record<string, ImportField>,
): (ImportField | undefined)[] {
  const fields: (ImportField | undefined)[] = headers.map(() => undefined);
  const lower = headers.map((header) => header.toLowerCase());
  for (const [header, field] of Object.entries(mapping)) {
    const exact = headers.indexOf(header.trim());
    const column = exact >= 0 ? exact : lower.indexOf(header.trim().toLowerCase());
    if (column >= 0) fields[column] = field;
    else if (field !== "ignore")
      throw invalid(`mapping: the file has no column "${header.slice(0, 100)}"`);
  }
  const duplicate = fields.find(
    (field, i) => field !== undefined && field !== "ignore" && fields.indexOf(field) !== i,
  );
  if (duplicate) throw invalid(`mapping: two columns map to ${duplicate.slice(0, 120)}`);
  return fields;
}

/** Fields of known headers. Any other column becomes a custom field with the name of its header. */
function guessByHeader(
  headers: string[],
  mapped: (ImportField | undefined)[],
  customFieldKeys: string[],
): ImportField[] {
  const usedFields = new Set(mapped.filter((field) => field !== undefined));
  const known = headers.map((header, i) => mapped[i] ?? fieldForHeader(header));
  const standard = headers.map((_, i): ImportField | undefined => {
    const field = known[i];
    if (mapped[i] || field === "ignore") return field;
    if (field === undefined || usedFields.has(field)) return undefined;
    usedFields.add(field);
    return field;
  });
  // "Name" is the full name, unless another column has the first or last name.
  const fullNameColumn = standard.indexOf("fullName");
  if (
    fullNameColumn >= 0 &&
    !mapped[fullNameColumn] &&
    (usedFields.has("firstName") || usedFields.has("lastName"))
  )
    standard[fullNameColumn] = usedFields.has("lastName") ? undefined : "lastName";
  const lower = new Set([...usedFields].map((field) => field.toLowerCase()));
  const fields = standard.map((field, i) => {
    if (field !== undefined) return field;
    const customField =
      `customFields.${existingKeyFor(headers[i]!.slice(0, 100), customFieldKeys)}` as const;
    if (lower.has(customField.toLowerCase()))
      throw invalid(
        `Two columns map to ${customField.slice(0, 120)}: set one of them to another field ` +
          "or to ignore in mapping",
      );
    lower.add(customField.toLowerCase());
    return customField;
  });
  // Our own exports have a column for every field of any contact, so the limit is checked per row.
  const custom = fields.filter(
    (field, i) => field.startsWith("customFields.") && !isExported({ header: headers[i]!, field }),
  );
  if (custom.length > maxCustomColumns)
    throw invalid(
      `The file has ${custom.length} columns that would become custom fields, but a contact ` +
        `can have at most ${maxCustomColumns}: map the others to ignore`,
    );
  return fields;
}

function existingKeyFor(header: string, customFieldKeys: string[]): string {
  const lower = header.toLowerCase();
  return customFieldKeys.find((key) => key.toLowerCase() === lower) ?? header;
}

/** Adds the ids of topics. Throws `invalid` for a topic that the site lacks or that comes twice. */
export function findTopics(
  columns: ImportColumn[],
  known: { id: number; name: string }[],
): ImportColumn[] {
  const found = new Set<number>();
  return columns.map((column) => {
    if (!column.field.startsWith("topics.")) return column;
    const name = column.field.slice("topics.".length);
    const topic = known.find((one) => one.name.toLowerCase() === name.trim().toLowerCase());
    if (!topic)
      throw invalid(
        `The site has no topic "${name}": create it, or set its column to ignore in mapping`,
      );
    if (found.has(topic.id)) throw invalid(`Two columns map to the topic "${topic.name}"`);
    found.add(topic.id);
    return { ...column, topicId: topic.id };
  });
}

/** Whether the cells that are not empty are JSON objects. */
const isJson = (rows: string[][], column: number): boolean =>
  rows.every((row) => {
    const cell = row[column]?.trim() ?? "";
    return cell === "" || (cell.startsWith("{") && parseJson(cell) !== undefined);
  });

/** Index of the first custom field whose cells are all addresses; -1 if there is none. */
const findEmailColumn = (fields: ImportField[], rows: string[][]): number =>
  fields.findIndex((field, i) => {
    const cells = rows.map((row) => row[i]?.trim() ?? "").filter(Boolean);
    return field.startsWith("customFields.") && cells.length > 0 && cells.every(looksLikeEmail);
  });

/** Lower case, without accents and anything that is neither letter nor digit. */
const normalizeHeader = (header: string): string =>
  header
    .normalize("NFD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");

function fieldForHeader(header: string): ImportField | undefined {
  const customField = /^customFields\.(.{1,100})$/.exec(header)?.[1];
  if (customField !== undefined) return `customFields.${customField}`;
  const topic = /^topics\.(.{1,100})$/.exec(header)?.[1];
  if (topic !== undefined) return `topics.${topic}`;
  return fieldByHeader.get(normalizeHeader(header));
}

// English, German, French, Spanish, Italian, Portuguese, Dutch.
const spellings: Partial<Record<(typeof importFields)[number], string>> = {
  email:
    "email emails mail emailaddress mailaddress emailaddresses emailadresse mailadresse " +
    "emailadres adresseemail adressemail adresseelectronique courriel correo " +
    "correoelectronico direccionemail direcciondecorreo indirizzoemail postaelettronica " +
    "enderecoemail enderecodeemail primaryemail subscriberemail contactemail useremail " +
    "customeremail workemail email1 email1value",
  firstName:
    "firstname first fname givenname forename vorname prenom nombre primernombre nome " +
    "primeironome voornaam contactfirstname customerfirstname",
  lastName:
    "lastname last lname surname familyname nachname familienname zuname nomdefamille nom " +
    "apellido apellidos cognome sobrenome apelido achternaam contactlastname customerlastname",
  fullName:
    "name fullname displayname contactname customername vollername nomcomplet nombrecompleto " +
    "nomecompleto volledigenaam",
  phone:
    "phone phonenumber telephone telephonenumber tel mobile mobilephone mobilenumber cell " +
    "cellphone telefon telefonnummer handy mobil telefono telefonomovil movil celular " +
    "telefone telefoon numerodetelephone phone1value",
  company:
    "company companyname organization organisation organizationname business firma " +
    "unternehmen entreprise societe empresa azienda societa bedrijf account accountname",
  timezone: "timezone tz zeitzone fuseauhoraire zonahoraria fusoorario fusohorario tijdzone",
  status:
    "status emailstatus subscriptionstatus contactstatus emailmarketingstatus " +
    "marketingstatus memberstatus subscriberstatus",
  tags: "tags tag labels label schlagworte etiquettes etiquetas etichette",
  source: "source quelle origine origen fonte bron",
  // Our own exports use it beyond 500 fields; listmonk's exports use it too.
  customFields: "customfields attributes attribs",
  // Mailchimp's exports have these columns instead of a status.
  unsubscribedAt: "unsubscribedat unsubscribetime unsubtime",
  bouncedAt: "bouncedat cleanedat cleantime",
  // Columns of our own exports that the service computes itself.
  ignore:
    "id lists score sendcount opencount clickcount lastsentat lastopenedat lastclickedat " +
    "createdat updatedat",
};
const fieldByHeader = new Map(
  Object.entries(spellings).flatMap(([field, names]) =>
    names.split(" ").map((name) => [name, field as ImportField] as const),
  ),
);
