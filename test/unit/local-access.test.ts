import { expect, test } from "vitest";
import { isForeignRequest } from "../../infra/local/local-access.ts";
import { checkSettings } from "../../infra/local/production.ts";

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

test("a sandbox that others on the network reach needs SANDBOX=shared", () => {
  for (const HOST of ["0.0.0.0", "::", "192.168.1.5", "mail.shop.example"]) {
    expect(() => checkSettings({ HOST })).toThrow(`With HOST=${HOST}, everyone on that network`);
    expect(() => checkSettings({ HOST, SANDBOX: "on" })).toThrow("SANDBOX=shared");
    expect(() => checkSettings({ HOST, SANDBOX: "shared" })).not.toThrow();
  }
  const production = { SANDBOX: "off", PUBLIC_URL: "https://mail.shop.example" };
  expect(() => checkSettings({ HOST: "0.0.0.0", ...production })).not.toThrow();
  for (const HOST of [undefined, "", "localhost", "127.0.0.1", "127.1.2.3", "::1"])
    expect(() => checkSettings({ HOST })).not.toThrow();
});
