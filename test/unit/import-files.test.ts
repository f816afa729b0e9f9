// Reading import files: rows, encodings, delimiters, headers and cells.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { stringify } from "csv-stringify/sync";
import { describe, expect, test } from "vitest";
import { mapColumns } from "../../shared/domain/audience/imports/column-mapping.ts";
import {
  type CsvFormat,
  type CsvRow,
  type FilePosition,
  readRows,
} from "../../shared/domain/audience/imports/csv-rows.ts";
import {
  createUtf8Checker,
  sniffFormat,
} from "../../shared/domain/audience/imports/format-sniffer.ts";
import {
  type Delimiter,
  delimiters,
  type Encoding,
  encodings,
  type ImportField,
} from "../../shared/domain/audience/imports/import-options.ts";
import { parseRow } from "../../shared/domain/audience/imports/parse-row.ts";
import { typedCell } from "../../shared/kernel/csv-cells.ts";
import * as formats from "../../shared/kernel/table-export.ts";
import { everything } from "../support/extent.ts";
import fc from "../support/fast-check.ts";

const start: FilePosition = { bytes: 0, row: 0 };
const plain: CsvFormat = { encoding: "utf-8", delimiter: ",", cr: false };

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size)
    yield bytes.subarray(start, start + size);
}

async function read(
  bytes: Uint8Array,
  format: Partial<CsvFormat> = {},
  { size = 1000, from = start } = {},
): Promise<CsvRow[]> {
  const rows: CsvRow[] = [];
  for await (const row of readRows(cut(bytes.subarray(from.bytes), size), from, {
    ...plain,
    ...format,
  }))
    rows.push(row);
  return rows;
}
const cellsOf = (rows: CsvRow[]): string[][] => rows.map(({ cells }) => cells);
const text = (lines: string): Buffer => Buffer.from(lines);

// The windows-1252 character of each byte. Five of them are control characters.
const western = Array.from({ length: 256 }, (_, byte) =>
  new TextDecoder("windows-1252").decode(Uint8Array.of(byte)),
);
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
    fc
      .integer({ min: 1, max: 4 })
      .chain((width) =>
        fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 8 }),
      );

  test("reads any table as written, in any encoding, in chunks of any size, from any row", async () => {
    const inputs = fc
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
      fc.asyncProperty(inputs, async ([encoding, rows, delimiter, newline, size]) => {
        const bytes = writers[encoding](
          stringify(rows, { delimiter, record_delimiter: newline, quoted_match: /[\r\n]/ }),
        );
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

  test("imports what an export writes, without the formula guards", async () => {
    const cell = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 50 }),
      fc.string({
        unit: fc.constantFrom("'", "=", "-", "5", "0", ".", ";", "\t", "\n", " "),
        maxLength: 6,
      }),
    );
    const row = fc.array(cell, { minLength: 2, maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 5 }), async (rows) => {
        const shape: formats.ExportTable = {
          jsonName: "rows",
          columns: ["email", "customFields.a", "customFields.b"],
          cells: (item) => ["p@x.com", ...(item.cells as string[]).map(typedCell)],
        };
        const written = formats.formatTable({
          format: "csv",
          shape,
          rows: rows.map((cells) => ({ cells })),
        });
        const [header, ...back] = await read(text(written));
        const columns = mapColumns(header!.cells, []);
        const custom = ([a, b]: string[]) =>
          Object.fromEntries(
            [
              ["a", a!],
              ["b", b!],
            ].filter(([, value]) => value !== ""),
          );
        const parsed = back.map(
          ({ cells }) =>
            parseRow(cells, columns) as { row: { customFields?: Record<string, unknown> } },
        );
        expect(parsed.map(({ row }) => row.customFields ?? {})).toEqual(rows.map(custom));
      }),
      { numRuns: 200 },
    );
  });
  test("numbers rows as a spreadsheet does", async () => {
    const rows = await read(text('email,note\r\n\r\na@x.com,"two\nlines"\r\n,\r\n\r\nb@x.com,one'));
    expect(rows.map(({ row, cells }) => [row, cells[0]])).toEqual([
      [1, "email"],
      [3, "a@x.com"],
      [6, "b@x.com"],
    ]);
    const [, a] = rows;
    expect(
      await read(
        text('email,note\r\n\r\na@x.com,"two\nlines"\r\n,\r\n\r\nb@x.com,one'),
        {},
        { from: a!.end },
      ),
    ).toEqual(rows.slice(2));
  });

  test("treats a quote within a cell as text, and names the row of a quote that is never closed", async () => {
    expect(cellsOf(await read(text('a,5" pipe,b\n')))).toEqual([["a", '5" pipe', "b"]]);
    await expect(read(text('a\nb\n"c\nd\n'))).rejects.toThrow(
      'Row 3: a quote (") is opened but not closed',
    );
    await expect(read(text(`a\n"${"x".repeat(1_200_000)}`))).rejects.toThrow(
      "Row 2 has more than 1,000,000 bytes",
    );
  });

  test("reads long rows that the caller takes slowly", async () => {
    const rows = Array.from({ length: 60 }, (_, n) => `p${n}@x.com,${"x".repeat(90_000)}\n`);
    let taken = 0;
    for await (const _ of readRows(cut(text(rows.join("")), 1_000_000), start, plain)) {
      taken++;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(taken).toBe(60);
  });

  test("rejects a row of endless commas as soon as it is too long", async () => {
    const commas = Buffer.alloc(65_536, ",");
    let bytesRead = 0;
    async function* endless() {
      yield text("email\nada@example.com\n");
      for (;;) {
        bytesRead += commas.length;
        yield commas;
      }
    }
    const reading = (async () => {
      for await (const _ of readRows(endless(), start, plain));
    })();
    await expect(reading).rejects.toThrow("Row 3 has more than 1,000,000 bytes");
    expect(bytesRead).toBeLessThan(1_500_000);
  });

  test("passes on an error of the source, and closes the source when the reader stops early", async () => {
    async function* broken() {
      yield text("a\nb\n");
      throw new Error("gone");
    }
    await expect(
      (async () => {
        for await (const _ of readRows(broken(), start, plain));
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
    for await (const { row } of readRows(endless(), start, plain)) if (row > 10) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(closed).toBe(true);
  });

  test.for(["utf-8", "utf-16le"] as const)(
    "200,000 rows in %s need no more memory than 20,000",
    async (encoding) => {
      const peakMemory = async (n: number) => {
        async function* lines() {
          for (let first = 0; first < n; first += 1000)
            yield writers[encoding](
              Array.from(
                { length: 1000 },
                (_, i) => `person${first + i}@example.com,Ann,Example,Company ${i}\n`,
              ).join(""),
            );
        }
        collect();
        const before = process.memoryUsage();
        let [count, peak] = [0, 0];
        for await (const _ of readRows(lines(), start, { ...plain, encoding })) {
          if (++count % (n / 5)) continue;
          collect();
          const { heapUsed, arrayBuffers } = process.memoryUsage();
          peak = Math.max(peak, heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers);
        }
        expect(count).toBe(n);
        return peak;
      };
      await peakMemory(20_000);
      expect(await peakMemory(everything ? 200_000 : 60_000)).toBeLessThan(
        (await peakMemory(20_000)) + 3_000_000,
      );
    },
  );
});

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

describe("the format of a file", () => {
  const sheet = "Mail;Name\nänn@x.com;Änn, Bé\nbob@x.com;Bob\n";
  test("detects the encoding with and without a byte order mark", () => {
    const of = (bytes: Uint8Array) => {
      const { encoding, start: from } = sniffFormat(bytes, {});
      return [encoding, from.bytes];
    };
    expect(of(text(sheet))).toEqual([undefined, 0]);
    expect(of(text(`\uFEFF${sheet}`))).toEqual(["utf-8", 3]);
    for (const encoding of ["utf-16le", "utf-16be"] as const) {
      expect(of(writers[encoding](sheet))).toEqual([encoding, 0]);
      expect(of(writers[encoding](`\uFEFF${sheet}`))).toEqual([encoding, 2]);
      expect(of(writers[encoding](`\uFEFFПочта;Имя\nа@x.com;Анна\n`))).toEqual([encoding, 2]);
    }
    expect(sniffFormat(text(sheet), { encoding: "windows-1252", delimiter: "|" })).toMatchObject({
      encoding: "windows-1252",
      delimiter: "|",
    });
  });

  test("detects the delimiter from the rows and not from the text of cells", () => {
    const of = (lines: string) => sniffFormat(text(lines), {}).delimiter;
    expect(of(sheet)).toBe(";");
    expect(of("email\tname\na@x.com\tA, B; C\n")).toBe("\t");
    expect(of("email|tags\na@x.com|a,b,c\nb@x.com|a,b\n")).toBe("|");
    expect(of('email,note\na@x.com,"a;b;c"\nb@x.com,"d;e;f"\n')).toBe(",");
    expect(of("email\na@x.com\n")).toBe(",");
    expect(of("")).toBe(",");
  });

  test("understands Excel's sep= line and line ends of old Macs", async () => {
    const bytes = text("sep=|\r\nemail|name\r\na@x.com|Ann\r\n");
    const found = sniffFormat(bytes, {});
    expect(found).toMatchObject({ delimiter: "|", start: { bytes: 7, row: 1 } });
    const rows = await read(bytes, { delimiter: "|" }, { from: found.start });
    expect(rows.map(({ row, cells }) => [row, ...cells])).toEqual([
      [2, "email", "name"],
      [3, "a@x.com", "Ann"],
    ]);
    const mac = text("email,name\ra@x.com,Ann\r");
    expect(sniffFormat(mac, {})).toMatchObject({ cr: true, delimiter: "," });
    expect(await read(mac, { cr: true })).toHaveLength(2);
    expect(sniffFormat(text("email\r\n"), {}).cr).toBe(false);
    expect(sniffFormat(text('"e\rmail",b\n'), {}).cr).toBe(false);
  });

  test("recognizes UTF-8 however it is cut into chunks", () => {
    const valid = (bytes: Uint8Array, size: number) => {
      const checker = createUtf8Checker();
      for (let start = 0; start < bytes.length; start += size)
        checker.add(bytes.subarray(start, start + size));
      return checker.valid(true);
    };
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 7 }), (input, size) =>
        valid(text(input), size),
      ),
    );
    for (const bytes of [[0x61, 0xe9, 0x62], [0xe9], [0xf0, 0x9f, 0x98], [0x80]])
      expect(valid(Uint8Array.from(bytes), 2)).toBe(false);
  });
});

describe("columns", () => {
  const of = (
    headers: string[],
    mapping: Record<string, ImportField> = {},
    rows: string[][] = [],
    customFieldKeys: string[] = [],
  ) =>
    Object.fromEntries(
      mapColumns(headers, rows, { mapping, customFieldKeys }).map(({ header, field }) => [
        header,
        field,
      ]),
    );

  test.for([
    [["E-Mail-Adresse", "Vorname", "Nachname", "Firma", "Telefon"]],
    [["Adresse e-mail", "Prénom", "Nom de famille", "Société", "Téléphone"]],
    [["Correo electrónico", "Nombre", "Apellidos", "Empresa", "Teléfono"]],
    [["Indirizzo e-mail", "Nome", "Cognome", "Azienda", "Telefono"]],
    [["Endereço de e-mail", "Nome", "Sobrenome", "Empresa", "Telefone"]],
    [["E-mailadres", "Voornaam", "Achternaam", "Bedrijf", "Telefoon"]],
    [["EMAIL", "First Name", "last_name", "Company", "Phone Number"]],
  ])("recognizes %s", ([headers]) => {
    expect(Object.values(of(headers!))).toEqual([
      "email",
      "firstName",
      "lastName",
      "company",
      "phone",
    ]);
  });

  test("maps an unknown header to a custom field, and ignores computed columns of an export", () => {
    expect(of(["id", "email", "Plan", "customFields.seats", "score", "tags", ""])).toEqual({
      id: "ignore",
      email: "email",
      Plan: "customFields.Plan",
      "customFields.seats": "customFields.seats",
      score: "ignore",
      tags: "tags",
    });
  });

  test("uses the site's spelling of a custom field unless the mapping names another", () => {
    const keys = ["plan", "Seats"];
    expect(of(["email", "Plan", "seats", "Town"], {}, [], keys)).toMatchObject({
      Plan: "customFields.plan",
      seats: "customFields.Seats",
      Town: "customFields.Town",
    });
    expect(() => of(["email", "Seats", "SEATS"], {}, [], keys)).toThrow(
      "Two columns map to customFields.Seats",
    );
    expect(() => of(["email", "ZIP", "zip"])).toThrow("Two columns map to customFields.zip");
    expect(of(["email", "Plan"], { Plan: "customFields.Plan" }, [], keys)).toMatchObject({
      Plan: "customFields.Plan",
    });
  });

  test("prefers the mapping in any letter case, and rejects a column that the file lacks", () => {
    expect(of(["Work mail", "Email", "Plan"], { "work MAIL": "email", Plan: "ignore" })).toEqual({
      "Work mail": "email",
      Email: "customFields.Email",
      Plan: "ignore",
    });
    expect(() => of(["email"], { Plan: "company" })).toThrow(
      'mapping: the file has no column "Plan"',
    );
    expect(of(["email"], { Plan: "ignore" })).toEqual({ email: "email" });
    expect(() => of(["a", "b"], { a: "email", b: "email" })).toThrow(
      "mapping: two columns map to email",
    );
  });

  test("the reported mapping gives the same result when it is passed back", () => {
    for (const headers of [
      ["Email", "Email", "Name", "", ""],
      ["Name", "Vorname", "Mail"],
      ["a@x", "mail", "E-Mail"],
    ]) {
      const once = of(headers);
      expect(of(headers, once as Record<string, ImportField>)).toEqual(once);
    }
  });

  test("reads a name column as the full name unless another column has the first name", () => {
    expect(of(["email", "Name"])).toMatchObject({ Name: "fullName" });
    expect(of(["email", "Vorname", "Name"])).toMatchObject({
      Vorname: "firstName",
      Name: "lastName",
    });
  });

  test("finds the email column by its cells, and rejects a file without one", () => {
    expect(
      of(["Who", "Where"], {}, [
        ["a@x.com", "X"],
        ["b@x.com", ""],
      ]),
    ).toEqual({ Who: "email", Where: "customFields.Where" });
    expect(() => of(["Who"], {}, [["Ann"]])).toThrow(
      "No column was recognized as the email address: set it in mapping. The columns are: Who",
    );
    expect(() => of(["ann@x.com", "Ann"], {}, [["bob", "B"]])).toThrow("The file has no header");
  });

  test("limits the number of columns and the length of the header", () => {
    expect(() => of(Array.from({ length: 1001 }, (_, i) => `c${i}`))).toThrow(
      "a file can have at most 1000",
    );
    expect(() => of(["x".repeat(100_001)])).toThrow("too long to be a header");
    expect(() => of(["email", ...Array.from({ length: 150 }, (_, i) => `c${i}`)])).toThrow(
      "The file has 150 columns that would become custom fields",
    );
  });
});

describe("cells", () => {
  const of = (cells: Record<string, string>) => {
    const headers = Object.keys(cells);
    return parseRow(Object.values(cells), mapColumns(headers, []));
  };
  const row = (cells: Record<string, string>) => (of(cells) as { row: object }).row;

  test("become the fields of a contact; empty cells are left out", () => {
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

  test("that are invalid give one error message", () => {
    const error = (cells: Record<string, string>) => (of(cells) as { error: string }).error;
    expect(error({ email: "", name: "Ann" })).toBe("email is required");
    expect(error({ email: "ann" })).toBe("email: must be one valid email address");
    expect(error({ email: "a@x.com", status: "maybe" })).toBe(
      "status: must be subscribed, unsubscribed, pending or suppressed",
    );
    expect(error({ email: "a@x.com", plan: "x".repeat(3000) })).toMatch(/^customFields.plan: /);
    expect(parseRow(["a@x.com", "b", "c"], mapColumns(["email", "n"], []))).toMatchObject({
      error:
        "the row has 3 cells, but the header has 2: put quotes around cells that contain the delimiter",
    });
    expect(parseRow(["a@x.com", "b", ""], mapColumns(["email", "n"], []))).toMatchObject({
      row: { email: "a@x.com" },
    });
  });
});
