// Finds the field of each column: from the mapping, else from the header in one of seven languages.
import { invalid } from "../../../errors.ts";
import { parseJson } from "../../../kernel/json.ts";
import {
  addEvidenceOfRow,
  type ConsentColumn,
  type ConsentEvidence,
  type ConsentField,
  consentFields,
  consentHeaders,
  findConsentColumns,
  lettersOf,
  mayMeanConsent,
} from "./consent.ts";
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
 * one of `customFieldKeys` only in case takes its spelling. `consent` says what all cells of
 * the columns are that may be about consent; without it, the first rows decide.
 */
export function mapColumns(
  cells: string[],
  rows: string[][],
  {
    mapping = {},
    customFieldKeys = [],
    consent: known = readConsentColumns(cells, rows),
  }: {
    mapping?: Record<string, ImportField>;
    customFieldKeys?: string[];
    consent?: ConsentColumn[];
  } = {},
): ImportColumn[] {
  if (cells.some(looksLikeEmail)) throw noHeaderProblem();
  const named = withoutTrailingBlanks(cells, rows);
  const headers = uniqueHeaders(named.map((cell) => cell.trim()));
  if (headers.length > maxColumns)
    throw invalid(
      `The header has ${headers.length} columns, but a file can have at most ${maxColumns}`,
    );
  if (Buffer.byteLength(headers.join("")) > maxHeaderBytes)
    throw invalid("The first row is too long to be a header");
  const mapped = applyMapping(headers, mapping);
  const consent = headers.map((header, i) =>
    mapped[i] ? undefined : judgeConsent(header, known.find(({ index }) => index === i)?.evidence),
  );
  const fields = guessByHeader(headers, { mapped, consent, customFieldKeys });
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
    ...(consent[i] === "unclear" && fields[i]?.startsWith("customFields.") && { isUnclear: true }),
  }));
}

/** Rows that end with a delimiter make a last column without a name and without values. */
function withoutTrailingBlanks(cells: string[], rows: string[][]): string[] {
  const isBlank = (i: number) => [cells, ...rows].every((row) => (row[i] ?? "").trim() === "");
  const last = cells.findLastIndex((_, i) => !isBlank(i));
  return cells.slice(0, last + 1);
}

function readConsentColumns(cells: string[], rows: string[][]): ConsentColumn[] {
  const columns = findConsentColumns(cells);
  for (const row of rows) addEvidenceOfRow(columns, row);
  return columns;
}

/** `unclear`: a person must say whether the column is about consent. */
function judgeConsent(
  header: string,
  evidence: ConsentEvidence | undefined,
): ConsentField | "unclear" | undefined {
  const known = consentByHeader.get(lettersOf(header));
  const answersYesOrNo = known === "subscribed" || known === "unsubscribed";
  if (known && !(answersYesOrNo && evidence?.others)) return known;
  return evidence && mayMeanConsent(header, evidence) ? "unclear" : undefined;
}

/** Why the file cannot be imported yet, or undefined. */
export function findUnclearProblem(columns: ImportColumn[]): string | undefined {
  const unclear = columns.filter(({ isUnclear }) => isUnclear);
  if (!unclear.length) return undefined;
  const names = unclear.map(({ header }) => `"${header.slice(0, 100)}"`);
  return (
    `${names.slice(0, 10).join(", ")} may say who gets email and who does not: set it in mapping ` +
    "to subscribed (yes means subscribed), to unsubscribed (yes means unsubscribed), to status, " +
    "to a custom field such as " +
    `customFields.${unclear[0]!.header.slice(0, 100)} or to ignore`
  );
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
    (field, i) => field !== undefined && !canRepeat(field) && fields.indexOf(field) !== i,
  );
  if (duplicate) throw invalid(`mapping: two columns map to ${duplicate.slice(0, 120)}`);
  return fields;
}

const canRepeat = (field: ImportField): boolean =>
  field === "ignore" || (consentFields as readonly string[]).includes(field);

/** Fields of known headers. Any other column becomes a custom field with the name of its header. */
function guessByHeader(
  headers: string[],
  {
    mapped,
    consent,
    customFieldKeys,
  }: {
    mapped: (ImportField | undefined)[];
    consent: (ConsentField | "unclear" | undefined)[];
    customFieldKeys: string[];
  },
): ImportField[] {
  const usedFields = new Set(mapped.filter((field) => field !== undefined));
  const known = headers.map((header, i) => {
    const found = consent[i] === "unclear" ? undefined : consent[i];
    return mapped[i] ?? found ?? fieldForHeader(header);
  });
  const standard = headers.map((_, i): ImportField | undefined => {
    const field = known[i];
    if (mapped[i] || (field && canRepeat(field))) return field;
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

function fieldForHeader(header: string): ImportField | undefined {
  const customField = /^customFields\.(.{1,100})$/.exec(header)?.[1];
  if (customField !== undefined) return `customFields.${customField}`;
  const topic = /^topics\.(.{1,100})$/.exec(header)?.[1];
  if (topic !== undefined) return `topics.${topic}`;
  return fieldByHeader.get(lettersOf(header));
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
  locale: "locale languagetag languagecode sprachcode codelangue",
  externalId: "externalid externaluserid externalcustomerid",
  tags: "tags tag labels label schlagworte etiquettes etiquetas etichette",
  source: "source quelle origine origen fonte bron",
  // Our own exports use it beyond 500 fields; listmonk's exports use it too.
  customFields: "customfields attributes attribs",
  // Columns of our own exports that the service computes itself.
  ignore:
    "id lists score sendcount opencount clickcount lastsentat lastopenedat lastclickedat " +
    "createdat updatedat",
};
const toFieldsByHeader = <F extends string>(headers: Partial<Record<F, string>>): Map<string, F> =>
  new Map(
    Object.entries<string | undefined>(headers).flatMap(([field, names = ""]) =>
      names.split(" ").map((name) => [name, field as F] as const),
    ),
  );
const fieldByHeader: Map<string, ImportField> = toFieldsByHeader(spellings);
const consentByHeader = toFieldsByHeader(consentHeaders);
