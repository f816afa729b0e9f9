import { expect, test } from "vitest";
import { isForeignRequest } from "../../infra/local/local-access.ts";

const foreign = (host: string, origin?: string) =>
  isForeignRequest(
    { headers: { host, ...(origin !== undefined && { origin }) } },
    "https://mail.shop.example",
  );

test.each([
  "127.0.0.1:3000",
  "[::1]:3000",
  "localhost:3000",
  "192.168.1.5:3000",
  "pennymail:3000",
  "app.localhost",
  "mail.shop.example",
])("accepts requests to the host %s from the same origin only", (host) => {
  expect(foreign(host)).toBe(false);
  expect(foreign(host, `http://${host}`)).toBe(false);
  expect(foreign(host, "https://evil.example")).toBe(true);
});

test.each([
  "evil.example:3000",
  "127.0.0.1.evil.example",
  "mail.shop.example.evil.example",
  "localhost.evil.example",
  "",
  "::",
])("treats the host %j as foreign", (host) => {
  expect(foreign(host)).toBe(true);
  expect(foreign(host, `http://${host}`)).toBe(true);
});

test("treats the origin null as foreign", () => {
  for (const origin of ["null", "", "file://"])
    expect(foreign("127.0.0.1:3000", origin)).toBe(true);
});
