// How values of custom fields are read by the declared type.
import { expect, test } from "vitest";
import {
  type CustomFieldType,
  fieldTypes,
  parseFieldValue,
  type ValueFormat,
} from "../../shared/domain/audience/contacts/parse-field-value.ts";
import fc from "../support/fast-check.ts";

const read = (type: CustomFieldType, given: unknown, format: Partial<ValueFormat> = {}) => {
  const { value, error } = { value: undefined, ...parseFieldValue(type, given, inBerlin(format)) };
  return error ?? value;
};
const inBerlin = (format: Partial<ValueFormat>) => ({ timezone: "Europe/Berlin", ...format });

type Row = [given: unknown, expected: unknown, format?: Partial<ValueFormat>];

const expectRows = (type: CustomFieldType, rows: Row[]) => {
  for (const [given, expected, format] of rows)
    expect(read(type, given, format), `${type} ${JSON.stringify(given)}`).toEqual(expected);
};

const comma = { decimalMark: "," } as const;

test("numbers are read with the decimal mark", () => {
  expectRows("number", [
    [19.9, 19.9],
    ["19.90", 19.9],
    ["1,299.00", 1299],
    ["1,234,567", 1_234_567],
    ["12,34,567.5", 1_234_567.5],
    ["-7", -7],
    ["\u22127", -7],
    ["+7", 7],
    ["007", 7],
    [" 5 ", 5],
    [".5", 0.5],
    ["1 299.5", 1299.5],
    ["1\u00a0299", 1299],
    ["1\u202f299,50", 1299.5, comma],
    ["1'299.50", 1299.5],
    ["1\u2019299.50", 1299.5],
    ["1.5e-7", 1.5e-7],
    ["19,90", 19.9, comma],
    ["1.299,00", 1299, comma],
    ["1.299", 1299, comma],
    ["1.299", 1.299],
    ["1,299", 1299],
    ["1,299", 1.299, comma],
  ]);
});

test("a text that is no number is refused, and the error shows it", () => {
  const expected = "is not a number such as 1,299.90";
  for (const given of ["abc", "19,90", "1,2,3", "1.2.3", "12 €", "--5", "0x1f", "1e999", "5%", "-"])
    expect(read("number", given)).toBe(`${JSON.stringify(given)} ${expected}`);
  for (const given of [true, ["5"], { a: 1 }, 2 ** 60])
    expect(read("number", given)).toContain(expected);
  expect(read("number", "1,299.00", comma)).toBe('"1,299.00" is not a number such as 1.299,90');
  expect(String(read("number", "9".repeat(5000))).length).toBeLessThan(120);
});

test("booleans are read as people write them", () => {
  for (const given of [true, 1, "true", "TRUE", "yes", "Y", "1", "on", "ja", "oui", "Sí", "✓", "x"])
    expect(read("boolean", given), String(given)).toBe(true);
  for (const given of [false, 0, "false", "No", "n", "0", "off", "nein", "non", "não", "✗"])
    expect(read("boolean", given), String(given)).toBe(false);
  for (const given of ["maybe", "2", 2, -1, "unknown", "2026-11-20", [true]])
    expect(read("boolean", given)).toBe(
      `${JSON.stringify(given)} is not yes or no, true or false, 1 or 0`,
    );
});

const [dmy, mdy] = [{ dateOrder: "dmy" }, { dateOrder: "mdy" }] as const;

test("dates are read as databases and spreadsheets write them", () => {
  expectRows("date", [
    ["2026-11-20", "2026-11-20"],
    ["2026-11-20 09:12:44", "2026-11-20"],
    ["2026-11-20 23:59:59.123456", "2026-11-20"],
    ["2026/11/20", "2026-11-20"],
    ["2026-1-2", "2026-01-02"],
    ["20261120", "2026-11-20"],
    ["20.11.2026", "2026-11-20"],
    ["1.2.2026", "2026-02-01", mdy],
    ["20.11.2026 09:12", "2026-11-20"],
    ["11/20/2026", "2026-11-20"],
    ["20/11/2026", "2026-11-20"],
    ["5/5/2026", "2026-05-05"],
    ["3/4/2026", "2026-04-03", dmy],
    ["3/4/2026", "2026-03-04", mdy],
    ["11/20/2026 9:12:44 PM", "2026-11-20"],
    ["2028-02-29", "2028-02-29"],
    ["1970-01-01", "1970-01-01"],
    [" 2026-11-20 ", "2026-11-20"],
  ]);
});

test("a day that the calendar lacks, or that is unclear, is refused", () => {
  const notDay = (text: string) => `"${text}" is not a day of the calendar`;
  for (const text of ["31.02.2026", "2026-02-29", "2026-13-01", "2026-00-10", "0.1.2026"])
    expect(read("date", text)).toBe(notDay(text));
  expect(read("date", "20/11/2026", mdy)).toBe(notDay("20/11/2026"));
  expect(read("date", "11/20/2026", dmy)).toBe(notDay("11/20/2026"));
  expect(read("date", "3/4/2026")).toMatch(/^"3\/4\/2026" is one of two dates, .* set dateOrder/);
  for (const given of [
    "tomorrow",
    "20.11.26",
    "2026-11",
    "2026-11-20T",
    45_981,
    true,
    "2026.11/20",
  ])
    expect(read("date", given)).toBe(`${JSON.stringify(given)} is not a date such as 2026-11-20`);
  for (const text of ["2026-11-20 24:00", "2026-11-20 09:60", "11/20/2026 13:00 PM"])
    expect(read("datetime", text)).toBe(`"${text}" has no time of a day, such as 09:12`);
});

test("times are read with and without a time zone", () => {
  expectRows("datetime", [
    ["2026-11-20T09:12:44Z", "2026-11-20T09:12:44.000Z"],
    ["2026-11-20T09:12:44.5+02:00", "2026-11-20T07:12:44.500Z"],
    ["2026-11-20 09:12:44+00", "2026-11-20T09:12:44.000Z"],
    ["2026-11-20 09:12:44.123456 -0530", "2026-11-20T14:42:44.123Z"],
    ["2026-11-20 09:12:44 UTC", "2026-11-20T09:12:44.000Z"],
    // Without a zone, the time is one of the given time zone.
    ["2026-11-20 09:12:44", "2026-11-20T08:12:44.000Z"],
    ["2026-07-20 09:12:44", "2026-07-20T07:12:44.000Z"],
    ["2026-11-20 09:12:44", "2026-11-20T14:12:44.000Z", { timezone: "America/New_York" }],
    ["11/20/2026, 9:12:44\u202fPM", "2026-11-20T20:12:44.000Z"],
    ["11/20/2026 12:05 a.m.", "2026-11-19T23:05:00.000Z"],
    // A day begins at its midnight.
    ["2026-11-20", "2026-11-19T23:00:00.000Z"],
    // Clocks skip from 2 to 3: the time is as much later.
    ["2026-03-29 02:30", "2026-03-29T01:30:00.000Z"],
  ]);
});

test("a time in a date field is the day as people saw it", () => {
  expectRows("date", [
    // A browser in Berlin writes its midnight.
    ["2026-11-19T23:00:00.000Z", "2026-11-20"],
    ["2026-11-20T23:30:00Z", "2026-11-21"],
    ["2026-11-20T09:12:44+09:00", "2026-11-20"],
    // A program writes a day without a time.
    ["2026-11-20T00:00:00.000Z", "2026-11-20", { timezone: "America/New_York" }],
    ["2026-11-20T00:00:00+09:00", "2026-11-20", { timezone: "America/New_York" }],
    ["2026-11-20 00:00:00", "2026-11-20", { timezone: "Pacific/Kiritimati" }],
    ["2026-11-20T03:00:00Z", "2026-11-19", { timezone: "America/New_York" }],
  ]);
});

test("lists are arrays, or texts with commas or semicolons", () => {
  expectRows("list", [
    [
      ["a", " b ", "a", ""],
      ["a", "b"],
    ],
    ["red, green;blue", ["red", "green", "blue"]],
    ['"a, b"; c', ["a, b", "c"]],
    ['["a, b", 5]', ["a, b", "5"]],
    [
      [5, true],
      ["5", "true"],
    ],
    ["one", ["one"]],
    [7, ["7"]],
    [[], null],
    [" ; ", null],
  ]);
  expect(read("list", [{ a: 1 }])).toBe('[{"a":1}] is not a list of texts');
  expect(read("list", { a: 1 })).toContain("is not a list of texts");
  expect(
    read(
      "list",
      Array.from({ length: 101 }, (_, i) => i),
    ),
  ).toMatch(/has more than 100 entries$/);
  expect(read("list", ["x".repeat(201)])).toMatch(/has an entry of more than 200 characters$/);
});

test("an address is one of the web", () => {
  expectRows("url", [
    ["https://example.com/a?b=1", "https://example.com/a?b=1"],
    [" http://example.com ", "http://example.com"],
  ]);
  for (const given of ["example.com", "javascript:alert(1)", "https://", "http://a b.com", 5])
    expect(read("url", given)).toContain("is not an address such as https://example.com");
  expect(read("url", `https://example.com/${"x".repeat(2000)}`)).toContain("is not an address");
});

test("a text stays as it is, and other values are written", () => {
  expectRows("text", [
    [" a ", " a "],
    ["", ""],
    ["null", "null"],
    [5, "5"],
    [true, "true"],
    [["a", "b, c"], 'a; "b, c"'],
    [null, null],
  ]);
  expect(read("text", "x".repeat(2001))).toMatch(/is longer than 2,000 characters$/);
});

test("an empty text, NULL and the zero date of databases are no value", () => {
  for (const type of fieldTypes.filter((one) => one !== "text"))
    for (const given of [null, "", "  ", "NULL", "\\N", "0000-00-00", "0000-00-00 00:00:00"])
      expect(read(type, given), `${type} ${given}`).toBeNull();
});

const anyText = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.constantFrom("yes", "1,5", "2026-11-20 09:12", "20.11.2026", "https://x.com", "a;b", '["x"]'),
  fc.double({ noNaN: true }).map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
);
const anyValue = fc.oneof(anyText, fc.double(), fc.boolean(), fc.array(anyText, { maxLength: 4 }));

test("a stored value reads as itself, in every format", () => {
  const formats = fc.record({
    decimalMark: fc.constantFrom(".", ",", undefined),
    dateOrder: fc.constantFrom("dmy", "mdy", undefined),
    timezone: fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Pacific/Kiritimati"),
  }) as fc.Arbitrary<ValueFormat>;
  fc.assert(
    fc.property(fc.constantFrom(...fieldTypes), anyValue, formats, formats, (type, given, a, b) => {
      const first = parseFieldValue(type, given, a);
      if (first.error === undefined)
        expect(parseFieldValue(type, first.value, b)).toEqual({ value: first.value });
    }),
    { numRuns: 2000 },
  );
});
