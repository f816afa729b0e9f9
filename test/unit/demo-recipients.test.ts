import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { CliError } from "../../infra/local/cli-error.ts";
import { maxRecipients, readRecipients } from "../../infra/local/demo/recipients-csv.ts";

const folder = mkdtempSync(join(tmpdir(), "demo-"));
afterAll(() => rmSync(folder, { recursive: true }));

function written(text: string): string {
  const file = join(folder, "people.csv");
  writeFileSync(file, text);
  return file;
}

describe("a CSV file of people", () => {
  test("reads each column as a variable with a Liquid name", () => {
    const file = written(
      '\uFEFFFirst name;,E-MAIL,URL,plan\n"Ada, the first",ada@example.com,x,Free\n\n Bob ,bob@example.com,,\n'.replace(
        "E-MAIL",
        "Email",
      ),
    );
    expect(readRecipients(file)).toEqual({
      columns: ["firstName", "url", "plan"],
      recipients: [
        {
          email: "ada@example.com",
          variables: { firstName: "Ada, the first", url: "x", plan: "Free" },
        },
        { email: "bob@example.com", variables: { firstName: "Bob", url: "", plan: "" } },
      ],
    });
  });

  test("the shipped sample is valid", () => {
    const { columns, recipients } = readRecipients(
      fileURLToPath(new URL("../../bin/demo-people.csv", import.meta.url)),
    );
    expect(columns).toEqual(["firstName", "plan"]);
    expect(recipients.length).toBeGreaterThan(10);
  });

  test("accepts as many rows as the inbox shows", () => {
    const rows = (n: number) =>
      `email\n${Array.from({ length: n }, (_, i) => `user-${i}@example.com`).join("\n")}`;
    expect(readRecipients(written(rows(maxRecipients))).recipients).toHaveLength(maxRecipients);
    expect(() => readRecipients(written(rows(maxRecipients + 1)))).toThrow("at most");
  });

  test.each([
    ["is empty", ""],
    ["has no column named email", "name\nAda\n"],
    ["has only a header line", "email,name\n"],
    ['line 3: "ada" is not an email address', "email\nbob@example.com\nada\n"],
    ["column 2 needs a name of its own", "email,,x\na@b.example,1,2\n"],
    ["column 3 needs a name of its own", "email,First name,first-name\na@b.example,1,2\n"],
    ["is not valid CSV", 'email,name\na@b.example,"Ada\n'],
    ["is not valid CSV", "email,name\na@b.example,Ada,17\n"],
  ])("is refused in one line when it %s", (why, text) => {
    const message = errorMessageOf(() => readRecipients(written(text)));
    expect(message).toContain(why);
    expect(message).toContain("people.csv");
    expect(message).not.toContain("\n");
  });

  test("names a missing or unreadable file in the error", () => {
    expect(errorMessageOf(() => readRecipients(join(folder, "none.csv")))).toMatch(
      /^The file .*none\.csv does not exist$/,
    );
    expect(errorMessageOf(() => readRecipients(folder))).toContain("cannot be read");
  });
});

function errorMessageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(CliError);
    return (error as Error).message;
  }
  throw new Error("It was taken");
}
