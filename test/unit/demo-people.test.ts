import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { maxPeople, readPeople } from "../../infra/local/demo/people.ts";
import { Trouble } from "../../infra/local/trouble.ts";

const folder = mkdtempSync(join(tmpdir(), "demo-"));
afterAll(() => rmSync(folder, { recursive: true }));

function written(text: string): string {
  const file = join(folder, "people.csv");
  writeFileSync(file, text);
  return file;
}

describe("a CSV file of people", () => {
  test("gives each column as a variable, under a name that Liquid can read", () => {
    const file = written(
      '\uFEFFFirst name;,E-MAIL,URL,plan\n"Ada, the first",ada@example.com,x,Free\n\n Bob ,bob@example.com,,\n'.replace("E-MAIL", "Email"),
    );
    expect(readPeople(file)).toEqual({
      columns: ["firstName", "url", "plan"],
      people: [
        { email: "ada@example.com", variables: { firstName: "Ada, the first", url: "x", plan: "Free" } },
        { email: "bob@example.com", variables: { firstName: "Bob", url: "", plan: "" } },
      ],
    });
  });

  test("the shipped sample is one", () => {
    const { columns, people } = readPeople(fileURLToPath(new URL("../../bin/demo-people.csv", import.meta.url)));
    expect(columns).toEqual(["firstName", "plan"]);
    expect(people.length).toBeGreaterThan(10);
  });

  test("may have as many people as the inbox shows, and no more", () => {
    const rows = (n: number) => `email\n${Array.from({ length: n }, (_, i) => `user-${i}@example.com`).join("\n")}`;
    expect(readPeople(written(rows(maxPeople))).people).toHaveLength(maxPeople);
    expect(() => readPeople(written(rows(maxPeople + 1)))).toThrow("at most");
  });

  test.each([
    ["is empty", ""],
    ["has no column named email", "name\nAda\n"],
    ["has no people", "email,name\n"],
    ['line 3: "ada" is no email address', "email\nbob@example.com\nada\n"],
    ["column 2 needs a name of its own", "email,,x\na@b.example,1,2\n"],
    ["column 3 needs a name of its own", "email,First name,first-name\na@b.example,1,2\n"],
    ["is not valid CSV", 'email,name\na@b.example,"Ada\n'],
    ["is not valid CSV", "email,name\na@b.example,Ada,17\n"],
  ])("is refused in one line when it %s", (why, text) => {
    const told = trouble(() => readPeople(written(text)));
    expect(told).toContain(why);
    expect(told).toContain("people.csv");
    expect(told).not.toContain("\n");
  });

  test("that is not there, or no file, is told by its name", () => {
    expect(trouble(() => readPeople(join(folder, "none.csv")))).toMatch(/^There is no file .*none\.csv$/);
    expect(trouble(() => readPeople(folder))).toContain("cannot be read");
  });
});

function trouble(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(Trouble);
    return (error as Error).message;
  }
  throw new Error("It was taken");
}
