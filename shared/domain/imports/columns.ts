// Which column of a file is what: as told, else by what the header says in the languages most files are in.
import { invalid } from "../../errors.ts";
import type { Column, Field, fields } from "./wishes.ts";

const maxColumns = 1000;
const maxHeaderBytes = 100_000;
const maxHeader = 200;
const maxCustom = 100;

/**
 * A field for each column. What the mapping names must be there; without an address of any kind it throws `invalid`. `rows` are the
 * first ones below the header: a column of addresses is known by them, whatever its header. `keys`: of custom fields that there are, by
 * which a header is spelt that differs in its case alone.
 */
export function columnsOf(cells: string[], rows: string[][], mapping: Record<string, Field> = {}, keys: string[] = []): Column[] {
  const headers = distinct(cells.map((cell) => cell.trim()));
  if (headers.length > maxColumns) throw invalid(`The header has ${headers.length} columns: a file may have ${maxColumns}`);
  if (Buffer.byteLength(headers.join("")) > maxHeaderBytes) throw invalid("The first row is too long to be a header");
  const told = toldFields(headers, mapping);
  const taken = new Set(told.filter((field) => field !== undefined));
  const found = named(headers, told, taken, keys);
  if (!taken.has("email")) byContent(headers, rows, found, taken);
  if (!taken.has("email")) throw withoutEmail(cells);
  return headers.map((header, i) => ({ header: header.slice(0, maxHeader), field: found[i] ?? "ignore" }));
}

// The length first: for a cell of a megabyte the pattern takes hours.
const isAddress = (cell = ""): boolean => cell.length <= 500 && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell.trim());

function withoutEmail(cells: string[]): Error {
  if (cells.some(isAddress)) return invalid("The file has no header: its first row must name the columns, one of them email");
  const shown = cells.slice(0, 20).map((cell) => cell.trim().slice(0, 50));
  return invalid(`No column is the email address: name it in mapping. The columns are: ${shown.join(", ").slice(0, 500)}`);
}

/** Each header once: blank ones get the name of their column, repeated ones a number. */
function distinct(cells: string[]): string[] {
  const seen = new Map<string, number>();
  return cells.map((cell, i) => {
    const header = cell || `Column ${i + 1}`;
    const times = (seen.get(header) ?? 0) + 1;
    seen.set(header, times);
    return times === 1 ? header : `${header} (${times})`;
  });
}

function toldFields(headers: string[], mapping: Record<string, Field>): (Field | undefined)[] {
  const told: (Field | undefined)[] = headers.map(() => undefined);
  const lower = headers.map((header) => header.toLowerCase());
  for (const [header, field] of Object.entries(mapping)) {
    const exact = headers.indexOf(header.trim());
    const place = exact >= 0 ? exact : lower.indexOf(header.trim().toLowerCase());
    if (place < 0) throw invalid(`mapping: the file has no column "${header.slice(0, 100)}"`);
    told[place] = field;
  }
  const twice = told.find((field, i) => field !== undefined && field !== "ignore" && told.indexOf(field) !== i);
  if (twice) throw invalid(`mapping: two columns are ${twice.slice(0, 120)}`);
  return told;
}

/** By its header, where that is one of ours; any other is a custom field of this name. */
function named(headers: string[], told: (Field | undefined)[], taken: Set<Field>, keys: string[]): (Field | undefined)[] {
  const known = headers.map((header, i) => told[i] ?? knownField(header));
  const settled = headers.map((_, i): Field | undefined => {
    const field = known[i];
    if (told[i] || field === "ignore") return field;
    if (field === undefined || taken.has(field)) return undefined;
    taken.add(field);
    return field;
  });
  // "Name" is all of it, unless another column is a part.
  const whole = settled.indexOf("fullName");
  if (whole >= 0 && !told[whole] && (taken.has("firstName") || taken.has("lastName")))
    settled[whole] = taken.has("lastName") ? undefined : "lastName";
  let custom = [...taken].filter((field) => field.startsWith("customFields.")).length;
  return settled.map((field, i) => {
    if (field !== undefined) return field;
    const own = `customFields.${spelt(headers[i]!.slice(0, 100), headers, keys)}` as const;
    if (taken.has(own) || ++custom > maxCustom) return "ignore";
    taken.add(own);
    return own;
  });
}

function spelt(header: string, headers: string[], keys: string[]): string {
  if (keys.includes(header)) return header;
  const lower = header.toLowerCase();
  return keys.find((key) => key.toLowerCase() === lower && !headers.includes(key)) ?? header;
}

function byContent(headers: string[], rows: string[][], found: (Field | undefined)[], taken: Set<Field>): void {
  const place = headers.findIndex((_, i) => {
    const cells = rows.map((row) => row[i]?.trim() ?? "").filter(Boolean);
    return found[i]?.startsWith("customFields.") && cells.length > 0 && cells.every(isAddress);
  });
  if (place < 0) return;
  found[place] = "email";
  taken.add("email");
}

/** Without case, accents and anything that is neither letter nor digit. */
const bare = (header: string): string =>
  header
    .normalize("NFD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");

function knownField(header: string): Field | undefined {
  const own = /^customFields\.(.{1,100})$/.exec(header)?.[1];
  if (own !== undefined) return `customFields.${own}`;
  return byName.get(bare(header));
}

// English, German, French, Spanish, Italian, Portuguese, Dutch.
const spellings: Partial<Record<(typeof fields)[number], string>> = {
  email:
    "email emails mail emailaddress mailaddress emailaddresses emailadresse mailadresse emailadres adresseemail adressemail adresseelectronique courriel correo correoelectronico direccionemail direcciondecorreo indirizzoemail postaelettronica enderecoemail enderecodeemail primaryemail subscriberemail contactemail useremail customeremail workemail email1 email1value",
  firstName:
    "firstname first fname givenname forename vorname prenom nombre primernombre nome primeironome voornaam contactfirstname customerfirstname",
  lastName:
    "lastname last lname surname familyname nachname familienname zuname nomdefamille nom apellido apellidos cognome sobrenome apelido achternaam contactlastname customerlastname",
  fullName: "name fullname displayname contactname customername vollername nomcomplet nombrecompleto nomecompleto volledigenaam",
  phone:
    "phone phonenumber telephone telephonenumber tel mobile mobilephone mobilenumber cell cellphone telefon telefonnummer handy mobil telefono telefonomovil movil celular telefone telefoon numerodetelephone phone1value",
  company:
    "company companyname organization organisation organizationname business firma unternehmen entreprise societe empresa azienda societa bedrijf account accountname",
  timezone: "timezone tz zeitzone fuseauhoraire zonahoraria fusoorario fusohorario tijdzone",
  status: "status emailstatus subscriptionstatus contactstatus",
  tags: "tags tag labels label schlagworte etiquettes etiquetas etichette",
  source: "source quelle origine origen fonte bron",
  // Of our own exports, and counted anew.
  ignore: "id lists score sendcount opencount clickcount lastsentat lastopenedat lastclickedat createdat updatedat",
};
const byName = new Map(
  Object.entries(spellings).flatMap(([field, names]) => names.split(" ").map((name) => [name, field as Field] as const)),
);
