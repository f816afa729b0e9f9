// Files of contacts as they are read: rows, encodings, delimiters, headers, cells.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as formats from "../../shared/domain/exports/formats.ts";
import { columnsOf } from "../../shared/domain/imports/columns.ts";
import { contactOf } from "../../shared/domain/imports/contacts.ts";
import { look, utf8Watch } from "../../shared/domain/imports/encodings.ts";
import { type Format, type Place, type Row, rowsOf } from "../../shared/domain/imports/rows.ts";
import { type Delimiter, delimiters, type Encoding, encodings, type Field } from "../../shared/domain/imports/wishes.ts";

const start: Place = { bytes: 0, row: 0 };
const plain: Format = { encoding: "utf-8", delimiter: ",", cr: false };

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(bytes: Uint8Array, format: Partial<Format> = {}, { size = 1000, from = start } = {}): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of rowsOf(cut(bytes.subarray(from.bytes), size), from, { ...plain, ...format })) rows.push(row);
  return rows;
}
const cellsOf = (rows: Row[]): string[][] => rows.map(({ cells }) => cells);
const text = (lines: string): Buffer => Buffer.from(lines);

// What windows-1252 has for each byte; five of them are control characters.
const western = Array.from({ length: 256 }, (_, byte) => new TextDecoder("windows-1252").decode(Uint8Array.of(byte)));
const writers: Record<Encoding, (written: string) => Buffer> = {
  "utf-8": (written) => Buffer.from(written, "utf8"),
  "utf-16le": (written) => Buffer.from(written, "utf16le"),
  "utf-16be": (written) => Buffer.from(written, "utf16le").swap16(),
  "windows-1252": (written) => Buffer.from([...written].map((char) => western.indexOf(char))),
};
const isBlank = (row: string[]): boolean => row.every((cell) => /^[ \t\r\n]*$/.test(cell));

describe("rows", () => {
  const anything = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: fc.constantFrom('"', ",", ";", "\t", "|", "\n", "\r", " ", "a", "é", "€") }),
  );
  const westernText = fc.string({ unit: fc.constantFrom(...western) });
  const table = (cell: fc.Arbitrary<string>) =>
    fc.integer({ min: 1, max: 4 }).chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 8 }));

  test("any table comes back as it was written, with any delimiter and encoding, cut into pieces of any size, from any row on", async () => {
    const given = fc
      .constantFrom(...encodings)
      .chain((encoding) =>
        fc.tuple(
          fc.constant(encoding),
          table(encoding === "windows-1252" ? westernText : anything),
          fc.constantFrom<Delimiter>(...delimiters),
          fc.constantFrom("\n", "\r\n"),
          fc.integer({ min: 1, max: 40 }),
        ),
      );
    await fc.assert(
      fc.asyncProperty(given, async ([encoding, rows, delimiter, newline, size]) => {
        const bytes = writers[encoding](stringify(rows, { delimiter, record_delimiter: newline, quoted_match: /[\r\n]/ }));
        const back = await read(bytes, { encoding, delimiter }, { size });
        const full = rows.filter((row) => !isBlank(row));
        expect(cellsOf(back)).toEqual(full);
        for (const [i, { end }] of back.entries()) {
          const rest = await read(bytes, { encoding, delimiter }, { size, from: end });
          expect(rest).toEqual(back.slice(i + 1));
        }
      }),
      { numRuns: 200 },
    );
  });

  test("what an export writes, the import of it reads, and the apostrophe before a formula is gone", async () => {
    const row = fc.array(fc.string({ unit: "grapheme", maxLength: 50 }), { minLength: 2, maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 5 }), async (rows) => {
        const shape: formats.Shape = {
          plural: "rows",
          columns: ["email", "customFields.a", "customFields.b"],
          cells: (given) => ["p@x.com", ...(given.cells as string[])],
        };
        const written = formats.whole(
          "csv",
          shape,
          rows.map((cells) => ({ cells })),
        );
        const [header, ...back] = await read(text(written));
        const columns = columnsOf(header!.cells, []);
        const custom = ([a, b]: string[]) =>
          Object.fromEntries(
            [
              ["a", a!.trim()],
              ["b", b!.trim()],
            ].filter(([, value]) => value !== ""),
          );
        const said = back.map(({ cells }) => contactOf(cells, columns) as { row: { customFields?: Record<string, unknown> } });
        expect(said.map((one) => texts(one.row.customFields))).toEqual(rows.map(custom));
      }),
      { numRuns: 200 },
    );
  });
  const texts = (fields: Record<string, unknown> = {}) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));

  test("are numbered as a spreadsheet numbers them", async () => {
    const rows = await read(text('email,note\r\n\r\na@x.com,"two\nlines"\r\n,\r\n\r\nb@x.com,one'));
    expect(rows.map(({ row, cells }) => [row, cells[0]])).toEqual([
      [1, "email"],
      [3, "a@x.com"],
      [6, "b@x.com"],
    ]);
    const [, a] = rows;
    expect(await read(text('email,note\r\n\r\na@x.com,"two\nlines"\r\n,\r\n\r\nb@x.com,one'), {}, { from: a!.end })).toEqual(rows.slice(2));
  });

  test("a quote within a cell is no quote, and one that never ends is told with its row", async () => {
    expect(cellsOf(await read(text('a,5" pipe,b\n')))).toEqual([["a", '5" pipe', "b"]]);
    await expect(read(text('a\nb\n"c\nd\n'))).rejects.toThrow('Row 3: a quote (") is opened and not closed');
    await expect(read(text(`a\n"${"x".repeat(1_200_000)}`))).rejects.toThrow("Row 2 has more than 1,000,000 bytes");
  });

  test("an error of the file comes out, and whoever stops early leaves nothing open", async () => {
    async function* broken() {
      yield text("a\nb\n");
      throw new Error("gone");
    }
    await expect(
      (async () => {
        for await (const _ of rowsOf(broken(), start, plain));
      })(),
    ).rejects.toThrow("gone");
    let closed = false;
    async function* endless() {
      try {
        for (;;) yield text("a\n".repeat(1000));
      } finally {
        closed = true;
      }
    }
    for await (const { row } of rowsOf(endless(), start, plain)) if (row > 10) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(closed).toBe(true);
  });

  test.for(["utf-8", "utf-16le"] as const)(
    "of two hundred thousand in %s no more is held than of twenty thousand",
    { timeout: 60_000 },
    async (encoding) => {
      const held = async (n: number) => {
        async function* lines() {
          for (let at = 0; at < n; at += 1000)
            yield writers[encoding](
              Array.from({ length: 1000 }, (_, i) => `person${at + i}@example.com,Ann,Example,Company ${i}\n`).join(""),
            );
        }
        collect();
        const before = process.memoryUsage();
        let [count, most] = [0, 0];
        for await (const _ of rowsOf(lines(), start, { ...plain, encoding })) {
          if (++count % (n / 20)) continue;
          collect();
          const { heapUsed, arrayBuffers } = process.memoryUsage();
          most = Math.max(most, heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers);
        }
        expect(count).toBe(n);
        return most;
      };
      await held(20_000);
      expect(await held(200_000)).toBeLessThan((await held(20_000)) + 3_000_000);
    },
  );
});

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

describe("a look at a file", () => {
  const sheet = "Mail;Name\nänn@x.com;Änn, Bé\nbob@x.com;Bob\n";
  test("tells its encoding, by its mark or without", () => {
    const of = (bytes: Uint8Array) => {
      const { encoding, start: from } = look(bytes, {});
      return [encoding, from.bytes];
    };
    expect(of(text(sheet))).toEqual([undefined, 0]);
    expect(of(text(`\uFEFF${sheet}`))).toEqual(["utf-8", 3]);
    for (const encoding of ["utf-16le", "utf-16be"] as const) {
      expect(of(writers[encoding](sheet))).toEqual([encoding, 0]);
      expect(of(writers[encoding](`\uFEFF${sheet}`))).toEqual([encoding, 2]);
      expect(of(writers[encoding](`\uFEFFПочта;Имя\nа@x.com;Анна\n`))).toEqual([encoding, 2]);
    }
    expect(look(text(sheet), { encoding: "windows-1252", delimiter: "|" })).toMatchObject({ encoding: "windows-1252", delimiter: "|" });
  });

  test("tells its delimiter by the rows, not by what stands in cells", () => {
    const of = (lines: string) => look(text(lines), {}).delimiter;
    expect(of(sheet)).toBe(";");
    expect(of("email\tname\na@x.com\tA, B; C\n")).toBe("\t");
    expect(of("email|tags\na@x.com|a,b,c\nb@x.com|a,b\n")).toBe("|");
    expect(of('email,note\na@x.com,"a;b;c"\nb@x.com,"d;e;f"\n')).toBe(",");
    expect(of("email\na@x.com\n")).toBe(",");
    expect(of("")).toBe(",");
  });

  test("knows Excel's first line, and rows that end as on old Macs", async () => {
    const bytes = text("sep=|\r\nemail|name\r\na@x.com|Ann\r\n");
    const found = look(bytes, {});
    expect(found).toMatchObject({ delimiter: "|", start: { bytes: 7, row: 1 } });
    const rows = await read(bytes, { delimiter: "|" }, { from: found.start });
    expect(rows.map(({ row, cells }) => [row, ...cells])).toEqual([
      [2, "email", "name"],
      [3, "a@x.com", "Ann"],
    ]);
    const mac = text("email,name\ra@x.com,Ann\r");
    expect(look(mac, {})).toMatchObject({ cr: true, delimiter: "," });
    expect(await read(mac, { cr: true })).toHaveLength(2);
    expect(look(text("email\r\n"), {}).cr).toBe(false);
    expect(look(text('"e\rmail",b\n'), {}).cr).toBe(false);
  });

  test("UTF-8 is told from anything else wherever pieces are cut", () => {
    const valid = (bytes: Uint8Array, size: number) => {
      const { watch, valid: told } = utf8Watch();
      for (let at = 0; at < bytes.length; at += size) watch(bytes.subarray(at, at + size));
      return told(true);
    };
    fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 7 }), (given, size) => valid(text(given), size)));
    for (const bytes of [[0x61, 0xe9, 0x62], [0xe9], [0xf0, 0x9f, 0x98], [0x80]]) expect(valid(Uint8Array.from(bytes), 2)).toBe(false);
  });
});

describe("columns", () => {
  const of = (headers: string[], mapping: Record<string, Field> = {}, rows: string[][] = [], keys: string[] = []) =>
    Object.fromEntries(columnsOf(headers, rows, mapping, keys).map(({ header, field }) => [header, field]));

  test.for([
    [["E-Mail-Adresse", "Vorname", "Nachname", "Firma", "Telefon"]],
    [["Adresse e-mail", "Prénom", "Nom de famille", "Société", "Téléphone"]],
    [["Correo electrónico", "Nombre", "Apellidos", "Empresa", "Teléfono"]],
    [["Indirizzo e-mail", "Nome", "Cognome", "Azienda", "Telefono"]],
    [["Endereço de e-mail", "Nome", "Sobrenome", "Empresa", "Telefone"]],
    [["E-mailadres", "Voornaam", "Achternaam", "Bedrijf", "Telefoon"]],
    [["EMAIL", "First Name", "last_name", "Company", "Phone Number"]],
  ])("%s are what they say", ([headers]) => {
    expect(Object.values(of(headers!))).toEqual(["email", "firstName", "lastName", "company", "phone"]);
  });

  test("what we do not know is a custom field of its name; what an export counts is left out", () => {
    expect(of(["id", "email", "Plan", "customFields.seats", "score", "tags", ""])).toEqual({
      id: "ignore",
      email: "email",
      Plan: "customFields.Plan",
      "customFields.seats": "customFields.seats",
      score: "ignore",
      tags: "tags",
      "Column 7": "customFields.Column 7",
    });
  });

  test("a custom field that there is has one spelling, unless the file has both or says so itself", () => {
    const keys = ["plan", "PLAN", "Seats"];
    expect(of(["email", "Plan", "seats", "Town"], {}, [], keys)).toMatchObject({
      Plan: "customFields.plan",
      seats: "customFields.Seats",
      Town: "customFields.Town",
    });
    expect(of(["email", "Seats", "SEATS", "PLAN"], {}, [], keys)).toMatchObject({
      Seats: "customFields.Seats",
      SEATS: "customFields.SEATS",
      PLAN: "customFields.PLAN",
    });
    expect(of(["email", "Plan"], { Plan: "customFields.Plan" }, [], keys)).toMatchObject({ Plan: "customFields.Plan" });
  });

  test("the mapping goes over what is guessed, whatever its case, and what it names must be there", () => {
    expect(of(["Work mail", "Email", "Plan"], { "work MAIL": "email", Plan: "ignore" })).toEqual({
      "Work mail": "email",
      Email: "customFields.Email",
      Plan: "ignore",
    });
    expect(() => of(["email"], { Plan: "ignore" })).toThrow('mapping: the file has no column "Plan"');
    expect(() => of(["a", "b"], { a: "email", b: "email" })).toThrow("mapping: two columns are email");
  });

  test("told back it does the same again", () => {
    for (const headers of [
      ["Email", "Email", "Name", "", ""],
      ["Name", "Vorname", "Mail"],
      ["a@x", "mail", "E-Mail"],
    ]) {
      const once = of(headers);
      expect(of(headers, once as Record<string, Field>)).toEqual(once);
    }
  });

  test("a name is all of it, unless another column is a part", () => {
    expect(of(["email", "Name"])).toMatchObject({ Name: "fullName" });
    expect(of(["email", "Vorname", "Name"])).toMatchObject({ Vorname: "firstName", Name: "lastName" });
  });

  test("addresses are known by themselves where no header says so, and a file without any is told what it lacks", () => {
    expect(
      of(["Who", "Where"], {}, [
        ["a@x.com", "X"],
        ["b@x.com", ""],
      ]),
    ).toEqual({ Who: "email", Where: "customFields.Where" });
    expect(() => of(["Who"], {}, [["Ann"]])).toThrow("No column is the email address: name it in mapping. The columns are: Who");
    expect(() => of(["ann@x.com", "Ann"], {}, [["bob", "B"]])).toThrow("The file has no header");
  });

  test("there are bounds", () => {
    expect(() => of(Array.from({ length: 1001 }, (_, i) => `c${i}`))).toThrow("a file may have 1000");
    expect(() => of(["x".repeat(100_001)])).toThrow("too long to be a header");
    const many = Object.values(of(["email", ...Array.from({ length: 150 }, (_, i) => `c${i}`)]));
    expect(many.filter((field) => field.startsWith("customFields."))).toHaveLength(100);
  });
});

describe("cells", () => {
  const of = (cells: Record<string, string>) => {
    const headers = Object.keys(cells);
    return contactOf(Object.values(cells), columnsOf(headers, []));
  };
  const row = (cells: Record<string, string>) => (of(cells) as { row: object }).row;

  test("become what is known of a contact; an empty one says nothing", () => {
    expect(
      row({
        Email: " Ann <ann@x.com> ",
        Name: "Ann van  Example",
        Tags: "a; b,c|a",
        Status: "Opted out",
        Company: "Two\nlines",
        Phone: "'+49 30",
        seats: "12",
        zip: "01234",
        paid: "true",
        note: "",
        formula: "'=1+1",
      }),
    ).toEqual({
      email: "ann@x.com",
      firstName: "Ann van",
      lastName: "Example",
      tags: ["a", "b", "c"],
      lists: [],
      status: "unsubscribed",
      company: "Two lines",
      phone: "+49 30",
      customFields: { seats: 12, zip: "01234", paid: true, formula: "=1+1" },
    });
  });

  test("that cannot be are told in one sentence", () => {
    const error = (cells: Record<string, string>) => (of(cells) as { error: string }).error;
    expect(error({ email: "", name: "Ann" })).toBe("email: is missing");
    expect(error({ email: "ann" })).toBe("email: must be one valid email address");
    expect(error({ email: "a@x.com", status: "suppressed" })).toBe("status: must be subscribed, unsubscribed or pending");
    expect(error({ email: "a@x.com", plan: "x".repeat(3000) })).toMatch(/^customFields.plan: /);
    expect(contactOf(["a@x.com", "b", "c"], columnsOf(["email", "n"], []))).toMatchObject({
      error: "has 3 cells, and the header 2: a cell with a delimiter in it needs quotes",
    });
    expect(contactOf(["a@x.com", "b", ""], columnsOf(["email", "n"], []))).toMatchObject({ row: { email: "a@x.com" } });
  });
});
