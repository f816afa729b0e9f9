// How an import reads who gets email: columns and values as other tools export them.
import { describe, expect, test } from "vitest";
import {
  findUnclearProblem,
  mapColumns,
} from "../../shared/domain/audience/imports/column-mapping.ts";
import type { ImportField } from "../../shared/domain/audience/imports/import-options.ts";
import { refuseOtherFormats } from "../../shared/domain/audience/imports/other-formats.ts";
import { parseRow } from "../../shared/domain/audience/imports/parse-row.ts";

/** The status of each row: `none` if the row has none, `no yes` if it only lacks a yes. */
function statusesOf(
  headers: string[],
  rows: string[][],
  mapping: Record<string, ImportField> = {},
): string[] {
  const header = ["email", ...headers];
  const all = rows.map((cells, i) => [`u${i}@example.com`, ...cells]);
  const columns = mapColumns(header, all, { mapping });
  const problem = findUnclearProblem(columns);
  if (problem !== undefined) return [problem];
  return all.map((cells) => {
    const parsed = parseRow(cells, columns);
    if (parsed.error !== undefined) return `error: ${parsed.error}`;
    if (parsed.suppress) return "suppressed";
    return parsed.row.status ?? (parsed.lacksConsent ? "no yes" : "none");
  });
}

/** Statuses of a file with one column beside the address. */
const read = (header: string, cells: string[]): string[] =>
  statusesOf(
    [header],
    cells.map((cell) => [cell]),
  );

const [yes, no, out] = ["subscribed", "unsubscribed", "suppressed"];

describe("exports of other tools", () => {
  test.each<[tool: string, headers: string[], rows: Record<string, string[]>]>([
    [
      "Mailchimp",
      ["UNSUB_TIME", "CLEAN_TIME", "UNSUB_REASON"],
      {
        [no!]: ["2024-02-02 12:00:00", "", "NORMAL"],
        [out!]: ["", "2024-02-02 12:00:00", ""],
        none: ["", "", ""],
      },
    ],
    ["listmonk", ["status"], { [yes!]: ["enabled"], [no!]: ["disabled"], [out!]: ["blocklisted"] }],
    ["Brevo, attribute", ["OPT_IN"], { [yes!]: ["Yes"], [no!]: ["No"], "no yes": [""] }],
    ["Brevo, blocklist", ["EMAIL_BLOCKLISTED"], { [no!]: ["1"], none: ["0"] }],
    [
      "Klaviyo",
      ["Email Marketing Consent"],
      {
        [yes!]: ["SUBSCRIBED"],
        [no!]: ["NEVER_SUBSCRIBED"],
        "no yes": [""],
      },
    ],
    [
      "ActiveCampaign",
      ["Status"],
      {
        [yes!]: ["Active"],
        [no!]: ["Unsubscribed"],
        pending: ["Unconfirmed"],
        [out!]: ["Bounced"],
      },
    ],
    [
      "MailerLite",
      ["Status", "Subscribed", "Unsubscribed"],
      {
        [yes!]: ["active", "2023-01-02 10:00:00", ""],
        [no!]: ["", "2023-01-02 10:00:00", "2024-05-01 08:00:00"],
        [out!]: ["junk", "2023-01-02 10:00:00", ""],
      },
    ],
    ["HubSpot", ["Unsubscribed from all email"], { [no!]: ["true"], none: ["false"] }],
    [
      "HubSpot, opt-outs",
      ["Portal Bounce", "Portal Unsubscribe", "Portal Spam Report"],
      {
        [out!]: ["TRUE", "FALSE", "FALSE"],
        [no!]: ["FALSE", "TRUE", "FALSE"],
        none: ["FALSE", "FALSE", "FALSE"],
      },
    ],
    [
      "Shopify",
      ["Accepts Email Marketing", "Accepts SMS Marketing"],
      {
        [yes!]: ["yes", "no"],
        [no!]: ["no", "yes"],
      },
    ],
    ["Shopify before 2022", ["Accepts Marketing"], { [yes!]: ["yes"], [no!]: ["no"] }],
    [
      "Campaign Monitor",
      ["Status", "Date Unsubscribed"],
      {
        [yes!]: ["Active", ""],
        [no!]: ["", "2024-01-01"],
      },
    ],
    [
      "ConvertKit",
      ["status"],
      {
        [yes!]: ["active"],
        [no!]: ["cancelled"],
        [out!]: ["complained"],
      },
    ],
    ["Mautic", ["doNotEmail"], { [no!]: ["on"], none: ["0"] }],
    [
      "CleverReach",
      ["activated", "deactivated"],
      {
        [no!]: ["1700000000", "1720000000"],
        none: ["1700000000", "0"],
      },
    ],
    [
      "rapidmail",
      ["Status"],
      {
        [yes!]: ["Aktiv"],
        pending: ["Unbestätigt"],
        [out!]: ["Gebounct"],
        [no!]: ["Abgemeldet"],
      },
    ],
    ["Ghost", ["subscribed_to_emails"], { [yes!]: ["true"], [no!]: ["false"] }],
    ["Salesforce", ["Email Opt Out"], { [no!]: ["1"], none: ["0"] }],
  ])("%s", (_, headers, rows) => {
    expect(statusesOf(headers, Object.values(rows))).toEqual(Object.keys(rows));
  });
});

describe("other spellings", () => {
  test.each([
    ["unsubscribed", "true"],
    ["Unsubscribed", "WAHR"],
    ["opt_out", "1"],
    ["Opt-Out", "x"],
    ["Accepts Marketing", "no"],
    ["Newsletter", "no"],
    ["Newsletter", "0"],
    ["newsletter", "FALSCH"],
    ["Abgemeldet", "ja"],
    ["Einwilligung", "nein"],
    ["Newsletter abonniert", "Nein"],
    ["Keine Werbung", "Ja"],
    ["Désabonné", "oui"],
    ["Consentement", "non"],
    ["Abonné", "FAUX"],
    ["Suscrito", "no"],
    ["Dado de baja", "Sí"],
    ["Acepta marketing", "FALSO"],
    ["Iscritto", "no"],
    ["Toestemming", "nee"],
    ["email consent", "never subscribed"],
    ["Do not contact", "✓"],
    ["Werbung erlaubt?", "Nein"],
  ])("%s: %s does not subscribe", (header, cell) => {
    expect(read(header, [cell])).toEqual([no]);
  });

  test.each([
    ["Newsletter", "yes"],
    ["Newsletter", "✔"],
    ["opt_in", "2024-03-01"],
    ["Einwilligung", "WAHR"],
    ["Consentement", "VRAI"],
    ["Consent", "email"],
  ])("%s: %s subscribes", (header, cell) => {
    expect(read(header, [cell])).toEqual([yes]);
  });

  test("a date column with no date is no unsubscription", () => {
    const cells = "0,false,NULL,never,nie,-,n/a,none,0000-00-00,1970-01-01 00:00:00,no".split(",");
    for (const header of ["unsubscribed_at", "Abmeldedatum", "bounced_at", "unsubscribed"])
      expect(read(header, cells)).toEqual(cells.map(() => "none"));
    expect(read("unsubscribed_at", ["12.03.2024", "yes", "unknown date"])).toEqual([no, no, no]);
  });

  test("the strictest of several columns decides", () => {
    expect(
      statusesOf(
        ["Newsletter", "Accepts Marketing", "Opt-out"],
        [
          ["yes", "yes", "no"],
          ["yes", "no", "no"],
          ["yes", "yes", "yes"],
        ],
      ),
    ).toEqual([yes, no, no]);
  });

  test("a cell that says neither yes nor no is an error", () => {
    const rows = Array.from({ length: 3 }, () => ["yes"]);
    const columns = mapColumns(
      ["email", "Newsletter"],
      rows.map(([cell]) => ["a@example.com", cell!]),
    );
    expect(parseRow(["b@example.com", "perhaps"], columns)).toEqual({
      email: "b@example.com",
      error: "subscribed: must be yes, no or a date",
    });
  });
});

describe("a column that may be about consent", () => {
  test.each([
    ["Opted out of email: One to One", "Yes"],
    ["GDPR", "no"],
    ["DOUBLE_OPT-IN", "No"],
    ["Marketing contact status", "Non-marketing contact"],
    ["Active", "0"],
    ["Last unsubscribe", "2024-01-01"],
    ["State", "Unsubscribed"],
  ])("%s: %s needs an answer", (header, cell) => {
    expect(read(header, [cell])).toEqual([
      expect.stringContaining(`"${header}" may say who gets email`),
    ]);
    const asField = { [header]: `customFields.${header}` as const };
    expect(statusesOf([header], [[cell]], asField)).toEqual(["none"]);
  });

  test("asks if one of its cells says no", () => {
    const [problem] = read("Newsletter type", ["weekly", "no"]);
    expect(problem).toContain('"Newsletter type" may say who gets email');
  });

  test.each([
    ["Newsletter type", ["weekly", "daily"]],
    ["Marketing channel", ["Google", "fair"]],
    ["Accepts SMS Marketing", ["no"]],
    ["OPTIN_TIME", ["2024-01-01 10:00:00", ""]],
    ["Unsubscribe reason", ["too many", ""]],
    ["State", ["CA", "OK", "NO"]],
    ["Plan", ["yes", "no"]],
    ["About", ["yes"]],
  ])("%s with other values does not", (header, cells) => {
    expect(read(header, cells)).toEqual(cells.map(() => "none"));
  });
});

test("a delimiter at the end of the rows makes no column", () => {
  const rows = [["a@example.com", "Ada", ""]];
  expect(mapColumns(["email", "First name", ""], rows)).toEqual([
    { header: "email", field: "email" },
    { header: "First name", field: "firstName" },
  ]);
  expect(mapColumns(["email", "", "First name", ""], [["a@example.com", "x", "Ada", "y"]])).toEqual(
    [
      { header: "email", field: "email" },
      { header: "Column 2", field: "customFields.Column 2" },
      { header: "First name", field: "firstName" },
      { header: "Column 4", field: "customFields.Column 4" },
    ],
  );
});

test.each([
  ["an Excel workbook (.xlsx)", "PK\x03\x04\x14\x00[Content_Types].xml"],
  ["an OpenDocument spreadsheet (.ods)", "PK\x03\x04 mimetypeapplication/vnd.oasis.opendocument."],
  ["a ZIP archive", "PK\x03\x04 members_export.csv"],
  ["an Excel workbook (.xls)", "\xd0\xcf\x11\xe0\xa1\xb1"],
  ["a gzip archive", "\x1f\x8b\x08"],
  ["a PDF document", "%PDF-1.7"],
])("%s is refused by its name", (name, bytes) => {
  expect(() => refuseOtherFormats(Buffer.from(bytes, "latin1"))).toThrow(
    `The file is ${name}, not CSV: `,
  );
});
