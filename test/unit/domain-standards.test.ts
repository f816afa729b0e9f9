// BIMI, MTA-STS and TLS reports of a domain, as DNS and web servers have them.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import {
  checkStandards,
  fetchPolicy,
  matchesMx,
  parsePolicy,
} from "../../shared/domain/senders/domains/standards.ts";
import { type DnsServer, type DnsZone, startDnsServer } from "../support/dns-server.ts";

const open: (DnsServer | Server)[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  delete process.env.DNS_SERVERS;
  delete process.env.ALLOW_LOOPBACK_WEBHOOKS;
});

async function check(zone: DnsZone, name = "shop.example.com") {
  const server = await startDnsServer(zone);
  open.push(server);
  process.env.DNS_SERVERS = server.address;
  return checkStandards(name);
}

const reasonsIn = async (records: DnsZone["records"]) => {
  const {
    dmarc_reports: reports,
    bimi,
    mta_sts: mtaSts,
    tls_rpt: tlsRpt,
  } = await check({ records });
  return [reports.reason, bimi.reason, mtaSts.reason, tlsRpt.reason];
};

const bimiOf = async (bimi: string[], dmarc: string, at = "shop.example.com") =>
  (
    await check({
      records: { [`TXT default._bimi.${at}`]: bimi, "TXT _dmarc.shop.example.com": [dmarc] },
    })
  ).bimi;

describe("a domain", () => {
  test("without records lacks nothing that it needs", async () => {
    const results = Object.values(await check({ records: {} }));
    expect(results.map(({ result }) => result)).toEqual(["absent", "absent", "absent", "absent"]);
    expect(await reasonsIn({})).toEqual([
      "dmarc_without_reports",
      "bimi_absent",
      "mta_sts_absent",
      "tls_rpt_absent",
    ]);
  });

  test("is unknown while DNS fails", async () => {
    const faults = { "TXT default._bimi.shop.example.com": "servfail" as const };
    const { bimi, tls_rpt: tlsRpt } = await check({ records: {}, faults });
    expect(bimi).toEqual({ result: "unknown", reason: "lookup_failed", found: null });
    expect(tlsRpt.result).toBe("absent");
  });

  test("has its addresses for reports", async () => {
    const { dmarc_reports: dmarc, tls_rpt: tlsRpt } = await check({
      records: {
        "TXT _dmarc.example.com": ["v=DMARC1; p=none; rua=mailto:a@in.example.com"],
        "TXT _smtp._tls.shop.example.com": [
          "v=TLSRPTv1; rua=mailto:a@in.example.com,https://x.example/y",
        ],
      },
    });
    expect(dmarc).toEqual({
      result: "pass",
      reason: "dmarc_reports_found",
      found: "mailto:a@in.example.com",
    });
    expect(tlsRpt).toMatchObject({ result: "pass", reason: "tls_rpt_found" });
    for (const text of ["v=TLSRPTv1;", "v=TLSRPTv1; rua=a@in.example.com"]) {
      const zone = { records: { "TXT _smtp._tls.shop.example.com": [text] } };
      expect((await check(zone)).tls_rpt).toMatchObject({ result: "wrong", found: text });
    }
  });
});

describe("BIMI", () => {
  const logo = "v=BIMI1; l=https://cdn.example.com/logo.svg; a=https://cdn.example.com/c.pem";
  test.each([
    [[logo], "v=DMARC1; p=quarantine", "bimi_found"],
    [[logo], "v=DMARC1; p=reject; pct=100", "bimi_found"],
    [["v=BIMI1; l=https://cdn.example.com/logo.svg"], "v=DMARC1; p=reject", "bimi_found"],
    [[logo], "v=DMARC1; p=none", "bimi_needs_policy"],
    [[logo], "v=DMARC1; p=reject; pct=50", "bimi_needs_policy"],
    [[logo], "v=DMARC1", "bimi_needs_policy"],
    [["v=BIMI1; l=http://cdn.example.com/logo.svg"], "v=DMARC1; p=reject", "bimi_invalid"],
    [["v=BIMI1; l=https://cdn.example.com/logo.png"], "v=DMARC1; p=reject", "bimi_invalid"],
    [["v=BIMI1"], "v=DMARC1; p=reject", "bimi_invalid"],
    [[logo, logo.replace("logo", "other")], "v=DMARC1; p=reject", "bimi_invalid"],
    [["v=BIMI1; l=; a=;"], "v=DMARC1; p=reject", "bimi_declined"],
    [["words"], "v=DMARC1; p=reject", "bimi_absent"],
  ])("of %j with %s: %s", async (bimi, dmarc, reason) => {
    expect((await bimiOf(bimi, dmarc)).reason).toBe(reason);
  });

  test("of the organizational domain counts for its subdomain", async () => {
    expect(await bimiOf([logo], "v=DMARC1; p=reject", "example.com")).toMatchObject({
      result: "pass",
      found: logo,
    });
  });
});

describe("MTA-STS", () => {
  const policy = "version: STSv1\r\nmode: enforce\r\nmx: mail.x.example\r\nmx: *.y.example\r\n";

  test("needs one valid record and its policy", async () => {
    const reasonOf = async (records: DnsZone["records"]) =>
      (await check({ records })).mta_sts.reason;
    const name = "TXT _mta-sts.shop.example.com";
    expect(await reasonOf({ [name]: ["v=STSv1"] })).toBe("mta_sts_invalid");
    expect(await reasonOf({ [name]: ["v=STSv1; id=1", "v=STSv1; id=2"] })).toBe("mta_sts_invalid");
    const missing = { [name]: ["v=STSv1; id=1;"], "A mta-sts.shop.example.com": ["10.0.0.1"] };
    expect(await reasonOf(missing)).toBe("mta_sts_policy_missing");
  });

  test("policies are parsed, and their hosts match one label", () => {
    expect(parsePolicy(`${policy}max_age: 86400`)).toEqual({
      mode: "enforce",
      mx: ["mail.x.example", "*.y.example"],
    });
    expect(parsePolicy(policy)).toBeUndefined();
    expect(parsePolicy("version: STSv1\nmode: none\nmax_age: 1")).toEqual({ mode: "none", mx: [] });
    expect(parsePolicy("version: STSv1\nmode: testing\nmax_age: 1")).toBeUndefined();
    expect(parsePolicy("version: STSv2\nmode: none\nmax_age: 1")).toBeUndefined();
    expect(parsePolicy("<html>")).toBeUndefined();
    expect(matchesMx("Mail.X.example.", "mail.x.example")).toBe(true);
    expect(matchesMx("a.y.example", "*.y.example")).toBe(true);
    expect(matchesMx("a.b.y.example", "*.y.example")).toBe(false);
    expect(matchesMx("y.example", "*.y.example")).toBe(false);
  });

  test("policies are read without redirects, up to 64 KB, and from no private address", async () => {
    const server = createServer((request, response) => {
      if (request.url === "/moved") response.writeHead(301, { location: "/policy" });
      response.end(request.url === "/large" ? "x".repeat(70_000) : policy);
    });
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await fetchPolicy(`${origin}/policy`)).toBeUndefined();
    process.env.ALLOW_LOOPBACK_WEBHOOKS = "on";
    expect(await fetchPolicy(`${origin}/policy`)).toBe(policy);
    expect(await fetchPolicy(`${origin}/moved`)).toBeUndefined();
    expect(await fetchPolicy(`${origin}/large`)).toBeUndefined();
  });
});
