// Parts of the command line that need no service.
import { describe, expect, test } from "vitest";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import { toCliOperation } from "../../infra/sdk/cli-operations.ts";
import { readOperations } from "../../infra/sdk/operations.ts";
import { errorToJson, exitCodeOf, explainError } from "../../shared/clients/cli/exit-codes.ts";
import { createFeed } from "../../shared/clients/cli/feed.ts";
import { operationHelp } from "../../shared/clients/cli/help.ts";
import {
  checkRequired,
  parserOptions,
  readBody,
  readFields,
} from "../../shared/clients/cli/operation-options.ts";
import type { CliOperation } from "../../shared/clients/cli/operations.ts";
import { parseArguments } from "../../shared/clients/cli/parse-arguments.ts";
import { formatRecord, formatTable } from "../../shared/clients/cli/tables.ts";
import type { Terminal } from "../../shared/clients/cli/terminal.ts";
import { ConnectionError, toError } from "../../shared/clients/sdk/errors.ts";
import { PagedList } from "../../shared/clients/sdk/paged-list.ts";

const document = await getOpenApiDocument();
const operations = readOperations(document).map((operation) =>
  toCliOperation(operation, document.components.schemas),
);
const find = (group: string, action: string): CliOperation =>
  operations.find((one) => one.group === group && one.action === action)!;
const parse = (operation: CliOperation, ...args: string[]) =>
  parseArguments(args, parserOptions(operation), [0, 9]).values;

describe("options of operations", () => {
  test("are there for each field, with a help that fits the line", () => {
    expect(operations.length).toBeGreaterThan(150);
    for (const operation of operations) {
      const help = operationHelp(operation);
      expect(help).toContain("Usage: pennymail ");
      expect(help).toContain("--help");
      const longWord = /\S{60}/;
      for (const line of help.split("\n"))
        expect(line.length <= 100 || longWord.test(line), line).toBe(true);
    }
    expect(operationHelp(find("contacts", "removeTag"))).toContain(
      "remove-tag ID TAG-ID [options]",
    );
    expect(operationHelp(find("imports", "create"))).toContain("create FILE [options]");
  });

  test("become values of their types", () => {
    const create = find("contacts", "create");
    const values = parse(
      create,
      ...["--email", "a@example.com", "--site-id", "7", "--tags", "a", "--tags", "b"],
      ...["--lists", "1", "--custom-fields", '{"plan":"pro"}', "--first-name", "null"],
    );
    expect(readBody(create, values)).toEqual({
      email: "a@example.com",
      siteId: 7,
      tags: ["a", "b"],
      lists: [1],
      customFields: { plan: "pro" },
      firstName: null,
    });
    const update = find("webhooks", "update");
    expect(readBody(update, parse(update, "--no-active"))).toEqual({ active: false });
    expect(readBody(update, parse(update, "--active"))).toEqual({ active: true });
    const list = find("sends", "list");
    const query = readFields(list.queryOptions, parse(list, "--limit=5", "--status", "sent"));
    expect(query).toEqual({ limit: 5, status: "sent" });
  });

  test("replace fields of --data, and are not required then", () => {
    const create = find("contacts", "create");
    const values = parse(create, "--data", '{"email":"a@b.c","phone":"1"}', "--phone", "2");
    checkRequired(create, values);
    expect(readBody(create, values)).toEqual({ email: "a@b.c", phone: "2" });
    expect(() => checkRequired(create, parse(create))).toThrow("An option is missing: --email");
    const applyTag = find("contacts", "applyTag");
    checkRequired(applyTag, parse(applyTag));
    expect(readBody(applyTag, parse(applyTag, "--tag-id", "3"))).toEqual({ tagId: 3 });
  });

  test("are refused with what is wrong", () => {
    const create = find("contacts", "create");
    const wrong: [string[], string][] = [
      [["--colour", "red"], "Unknown option '--colour'"],
      [["--site-id", "x"], "--site-id must be a number"],
      [["--lists", "1", "--lists", ""], "--lists must be a number"],
      [["--status", "gone"], "--status must be one of subscribed, unsubscribed, pending"],
      [["--custom-fields", "{"], "--custom-fields must be JSON"],
      [["--data", "[]"], "--data must be a JSON object"],
      [["--data", "@/no/such/file"], "/no/such/file cannot be read"],
    ];
    for (const [args, why] of wrong)
      expect(() => readBody(create, parse(create, ...args)), why).toThrow(why);
  });
});

const terminal: Terminal = {
  write: () => {},
  writeError: () => {},
  isInteractive: true,
  showsProgress: false,
  columns: 40,
  usesColor: false,
};

describe("results for people", () => {
  test("are tables with the columns that fit", () => {
    const table = formatTable(
      [
        { id: 1, email: "ada@example.com", phone: null, tags: [{ id: 1, name: "vip" }], html: "x" },
        { id: 20, email: "b@example.com", phone: null, tags: [], html: "a column too far" },
      ],
      terminal,
    );
    expect(table).toBe(
      ["id  email            tags", "1   ada@example.com  vip", "20  b@example.com", ""].join("\n"),
    );
    expect(formatTable([], terminal)).toBe("Nothing found.\n");
  });

  test("are lines of a record, with tables inside", () => {
    const record = { id: 1, name: null, stats: { sent: 2 }, rows: [{ row: 4, email: "x" }] };
    expect(formatRecord(record, terminal)).toBe(
      [
        "id     1",
        "name   -",
        "stats  ",
        "  sent  2",
        "rows   ",
        "  row  email",
        "  4    x",
        "",
      ].join("\n"),
    );
  });

  test("contain no characters that control the terminal", () => {
    const evil = "\x1b[2J\u202eada\n\x9b31m";
    const texts = [formatTable([{ name: evil }], terminal), formatRecord({ name: evil }, terminal)];
    for (const text of texts) {
      expect(text).toContain("ada");
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
    }
  });
});

describe("errors", () => {
  test("have exit codes and say what to do", () => {
    const docs = "https://mail.example/api/v1/docs/errors#unauthorized";
    const facts = { code: "unauthorized", docs, requestId: "r-1" };
    const unauthorized = toError(401, "Unauthorized", facts);
    expect(exitCodeOf(unauthorized)).toBe(4);
    expect(explainError(unauthorized)).toMatch(
      /^Unauthorized\n.*`pennymail login`.*\nSee https:.*#unauthorized\n\(.*r-1\)$/,
    );
    expect(errorToJson(unauthorized)).toMatchObject({ ...facts, error: "Unauthorized" });
    const details = [{ path: "email", message: "is wrong" }];
    const invalid = toError(400, "Two fields are wrong", { code: "validation_failed", details });
    expect(exitCodeOf(invalid)).toBe(1);
    expect(explainError(invalid)).toContain("\n  email: is wrong\n");
    expect(exitCodeOf(new ConnectionError("No", { code: "connection_failed" }))).toBe(3);
  });
});

describe("a feed", () => {
  let ids: number[] = [];
  const read = (position: { cursor?: string }) => {
    const start = Number(position.cursor ?? 0);
    const items = ids.slice(start, start + 3).map((id) => ({ id }));
    const nextCursor = start + 3 < ids.length ? String(start + 3) : null;
    return Promise.resolve({ items, pagination: { total: null, nextCursor } });
  };
  type TestPage = Awaited<ReturnType<typeof read>>;
  const startFeed = () => {
    const next = createFeed(
      () =>
        new PagedList<{ id: number }, TestPage>({
          read,
          next: ({ pagination: { nextCursor } }) =>
            nextCursor ? { cursor: nextCursor } : undefined,
          itemsName: "items",
        }),
    );
    return async () => (await next()).map(({ id }) => id);
  };

  test("returns each new item once, oldest first, and nothing older than its first page", async () => {
    const next = startFeed();
    ids = [13, 12, 11, 10, 9];
    expect(await next()).toEqual([11, 12, 13]);
    expect(await next()).toEqual([]);
    ids = [14, ...ids];
    expect(await next()).toEqual([14]);
    ids = [18, 17, 16, 15, ...ids];
    expect(await next()).toEqual([15, 16, 17, 18]);
    ids = [18, 19, 17, 16, 15, 14, 13, 12, 11, 10, 9];
    expect(await next()).toEqual([19]);
    // One of the first page is deleted, so that an older one moves up.
    ids = [13, 12, 10, 9];
    expect(await next()).toEqual([]);
  });

  test("returns late items below all others if it has read everything", async () => {
    const next = startFeed();
    ids = [];
    expect(await next()).toEqual([]);
    ids = [5];
    expect(await next()).toEqual([5]);
    ids = [5, 6];
    expect(await next()).toEqual([6]);
    ids = [9, 8, 7, 5, 6];
    expect(await next()).toEqual([7, 8, 9]);
  });
});
