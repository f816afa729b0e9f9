import { expect, test } from "vitest";
import { groups } from "../../functions/http/index.ts";
import { NewApiKey, scopeGroups } from "../../shared/domain/api-keys.ts";

const scopes = [...new Set(groups.flatMap(({ routes }) => routes.filter(({ auth }) => auth === "account").map(({ scope }) => scope)))];
const isTaken = (scope: string): boolean => NewApiKey.safeParse({ name: "Key", scopes: [scope] }).success;

test("a key may have the scope of every route that takes keys, and of no group that has none", () => {
  expect(scopes.filter((scope) => !isTaken(scope))).toEqual([]);
  expect(scopeGroups.toSorted()).toEqual([...new Set(scopes.map((scope) => scope.split(":")[0]!))].toSorted());
});
