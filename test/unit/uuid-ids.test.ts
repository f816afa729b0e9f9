// Ids in paths, as numbers and as the UUIDs that other APIs get.
import { expect, test } from "vitest";
import { parsePathParams } from "../../shared/http/validate.ts";
import { toUuid } from "../../shared/kernel/uuid-ids.ts";

test("an id and its UUID are the same id", () => {
  for (const id of [1, 1001, 123_456_789_012_345, Number.MAX_SAFE_INTEGER]) {
    // .NET, Java and validators of version 4 take it.
    expect(toUuid(id)).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(parsePathParams({ id: toUuid(id), siteId: String(id) })).toEqual({ id, siteId: id });
  }
});

test.each([
  "00000000-0000-4000-8000-000000000000",
  "10000000-0000-4000-8000-000000000001",
  "00000000-0000-4999-8999-999999999999",
  "00000000-0000-4000-8000-00000000000a",
  "0",
  "01",
  "1e3",
])("%s is no id", (id) => {
  expect(() => parsePathParams({ id })).toThrow("must be a positive whole number");
});
