import { expect, test } from "vitest";
import { groups } from "../../functions/route-groups.ts";
import { NewApiKey, scopeGroups } from "../../shared/domain/identity/api-keys.ts";

const scopes = [
  ...new Set(
    groups.flatMap(({ routes }) =>
      routes.filter(({ auth }) => auth === "account").map(({ scope }) => scope),
    ),
  ),
];
const isAccepted = (scope: string): boolean =>
  NewApiKey.safeParse({ name: "Key", scopes: [scope] }).success;

test("API keys accept exactly the scopes of the routes that take API keys", () => {
  expect(scopes.filter((scope) => !isAccepted(scope))).toEqual([]);
  expect(scopeGroups.toSorted()).toEqual(
    [...new Set(scopes.map((scope) => scope.split(":")[0]!))].toSorted(),
  );
});
