// PUBLIC_URL in odd forms: normalized or refused, in production and in the sandbox.
import { describe, expect, test } from "vitest";
import { checkSettings } from "../../infra/local/production.ts";
import { readPublicUrl } from "../../shared/kernel/service-address.ts";

const rule = "must be the address at which recipients and providers reach this service, such as ";

describe("PUBLIC_URL", () => {
  test.each([
    ["https://mail.example.com", "https://mail.example.com"],
    ["https://mail.example.com/", "https://mail.example.com"],
    ["https://mail.example.com//", "https://mail.example.com"],
    [" https://mail.example.com\n", "https://mail.example.com"],
    ["HTTPS://Mail.Example.com", "https://mail.example.com"],
    ["https:mail.example.com", "https://mail.example.com"],
    ["https://mail.example.com:443", "https://mail.example.com"],
    ["https://mail.example.com:8443/", "https://mail.example.com:8443"],
    ["https://mail.example.com.", "https://mail.example.com"],
    ["https://mail.example.com.:8443", "https://mail.example.com:8443"],
    ["https://m\u00e4il.example", "https://xn--mil-qla.example"],
    ["https://example.com/mail/", "https://example.com/mail"],
    ["https://example.com//mail", "https://example.com/mail"],
    ["http://[2001:db8::1]:3000/", "http://[2001:db8::1]:3000"],
  ])("%j is %s", (given, url) => {
    expect(readPublicUrl(given)).toEqual({ url });
  });

  test.each([
    ["https://mail.example.com?a=1", "must have no query (?)"],
    ["https://mail.example.com/?", "must have no query (?)"],
    ["https://mail.example.com/#top", "must have no fragment (#)"],
    ["https://mail.example.com/#", "must have no fragment (#)"],
    ["https://ada:secret@mail.example.com", "must have no user name and password"],
    ["https://example.com/a b", "has a path with unusual characters"],
    ["https://example.com/a;b", "has a path with unusual characters"],
    ["mail.example.com", rule],
    ["//mail.example.com", rule],
    ["ftp://mail.example.com", rule],
    ["https://", rule],
  ])("%s is refused in production and in the sandbox", (PUBLIC_URL, fault) => {
    const message = expect.stringMatching(/^PUBLIC_URL must|^PUBLIC_URL has/);
    const error = expect.objectContaining({ message });
    expect(readPublicUrl(PUBLIC_URL).fault).toContain(fault);
    expect(() => checkSettings({ PUBLIC_URL, SANDBOX: "off" })).toThrow(error);
    expect(() => checkSettings({ PUBLIC_URL })).toThrow(error);
  });
});
