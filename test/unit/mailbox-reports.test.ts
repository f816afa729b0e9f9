// Reports of mailbox providers: what is read of them, and what is refused.
import { gzipSync } from "node:zlib";
import { zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { parseMime } from "../../shared/providers/inbound-mail/received-mail.ts";
import { readDmarcReport } from "../../shared/providers/mailbox-reports/dmarc-report.ts";
import { findReport } from "../../shared/providers/mailbox-reports/mailbox-report.ts";
import { unpackReport } from "../../shared/providers/mailbox-reports/report-files.ts";
import { readTlsReport } from "../../shared/providers/mailbox-reports/tls-report.ts";
import {
  gzipOf,
  writeDmarcXml,
  writeReportMail,
  writeTlsJson,
  zipOf,
} from "../support/mailbox-reports.ts";

const from = new Date("2026-11-20T00:00:00Z");
const xml = writeDmarcXml({
  domain: "shop.example",
  reportId: "1",
  from,
  rows: [
    { ip: "192.0.2.1", count: 12 },
    { ip: "2001:DB8::1", count: 2, disposition: "reject", dkim: "fail", spf: "fail" },
    { ip: "not an address", count: 5 },
    { ip: "192.0.2.9", count: 0 },
  ],
});

const report = {
  kind: "dmarc",
  reporter: "google.com",
  reportId: "1",
  domain: "shop.example",
  from: from.getTime(),
  rows: [
    {
      ip: "192.0.2.1",
      count: 12,
      disposition: "none",
      isDkimAligned: true,
      isSpfAligned: true,
      fromDomain: "shop.example",
      dkimDomain: "shop.example",
      spfDomain: "bounce.shop.example",
    },
    {
      ip: "2001:db8::1",
      count: 2,
      disposition: "reject",
      isDkimAligned: false,
      isSpfAligned: false,
    },
  ],
};

describe("a DMARC report", () => {
  const json = writeTlsJson({ domain: "shop.example", reportId: "2", from });
  const files: [string, string, Buffer][] = [
    ["application/zip", "google.com!shop.example!1!2.zip", zipOf("report.xml", xml)],
    ["application/gzip", "report.xml.gz", gzipOf(xml)],
    ["application/octet-stream", "report.xml.gz", gzipOf(xml)],
    ["text/xml", "report.xml", Buffer.from(`\uFEFF${xml}`)],
  ];
  test.each(files)("is read from %s (%s)", async (type, filename, content) => {
    for (const isBody of [false, true]) {
      const mail = await parseMime(writeReportMail({ type, filename, content, isBody }));
      expect(findReport(mail!)).toMatchObject(report);
      expect((findReport(mail!) as typeof report).rows).toHaveLength(2);
    }
  });

  test("is read from the text of a mail, and with namespaces (RFC 9990)", () => {
    expect(findReport({ files: [], text: `\n${xml}` })).toMatchObject(report);
    const prefixed = xml
      .replaceAll(/<(\/?)([a-z_]+)/g, "<$1d:$2")
      .replace("<d:feedback>", '<d:feedback xmlns:d="urn:ietf:params:xml:ns:dmarc-2.0">');
    expect(readDmarcReport(prefixed)).toMatchObject(report);
  });

  test("of TLS is read from JSON and gzip", async () => {
    const expected = {
      kind: "tls",
      reporter: "Company-X",
      reportId: "2",
      from: from.getTime(),
      domains: [
        {
          domain: "shop.example",
          successful: 5326,
          failed: 3,
          failures: [{ result: "certificate-expired", host: "mx1.mail.shop.example", count: 3 }],
        },
      ],
    };
    for (const [type, content] of [
      ["application/tlsrpt+json", Buffer.from(json)],
      ["application/tlsrpt+gzip", gzipOf(json)],
    ] as const) {
      const file = { type, filename: "report", content };
      const mail = await parseMime(writeReportMail(file));
      expect(findReport(mail!)).toEqual(expect.objectContaining(expected));
    }
    expect(readTlsReport('{"policies": 7}')).toBeUndefined();
    expect(readTlsReport(`${"[".repeat(100_000)}"policies"`)).toBeUndefined();
  });

  test("is not read if it is cut off, empty or of another kind", async () => {
    expect(readDmarcReport(xml.slice(0, -40))).toBeUndefined();
    expect(readDmarcReport(writeDmarcXml({ domain: "a.example", from, rows: [] }))).toBeUndefined();
    expect(readDmarcReport(xml.replace(/<report_id>.*<\/report_id>/, ""))).toBeUndefined();
    expect(readDmarcReport(xml.replace(/<begin>\d+/, "<begin>soon"))).toBeUndefined();
    expect(readDmarcReport("<rss><feedback></rss>")).toBeUndefined();
    expect(findReport({ files: [], text: "Yes, please!" })).toBeUndefined();
  });
});

describe("a bomb is refused", () => {
  test("of entities, or with a document type at all", () => {
    const entities = xml.replace(
      "<feedback>",
      '<!DOCTYPE f [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><feedback>',
    );
    expect(readDmarcReport(entities)).toBeUndefined();
    expect(readDmarcReport(xml.replace("<feedback>", "<!doctype f><feedback>"))).toBeUndefined();
    expect(readDmarcReport(xml.replace("google.com", "&b;"))?.reporter).not.toContain("aaaa");
  });

  test("that unpacks to too much, or is packed too well", () => {
    const zeros = Buffer.alloc(12_000_000);
    expect(unpackReport(gzipSync(zeros))).toBeUndefined();
    const zipped = Buffer.from(zipSync({ "r.xml": new Uint8Array(zeros) }));
    expect(unpackReport(zipped)).toBeUndefined();
    // The directory says a small size.
    const lying = Buffer.from(zipped);
    lying.writeUInt32LE(100, 22);
    expect(unpackReport(lying)).toBeUndefined();
    expect(unpackReport(gzipSync(Buffer.alloc(2_000_000, 60)))).toBeUndefined();
    expect(unpackReport(Buffer.alloc(2_000_001, 60))).toBeUndefined();
    const others = Array.from({ length: 100 }, (_, i) => [`${i}.txt`, new Uint8Array(1)] as const);
    const report = ["r.xml", new Uint8Array(Buffer.from(xml))] as const;
    const fits = zipSync(Object.fromEntries([...others.slice(1), report]));
    expect(unpackReport(fits)).toBe(xml);
    expect(unpackReport(zipSync(Object.fromEntries([...others, report])))).toBeUndefined();
  });

  test("of archives in archives, of tags and of records", () => {
    const nested = zipOf("outer.xml", zipOf("inner.xml", xml).toString("latin1"));
    const file = { type: "application/zip", filename: "r.zip", content: nested };
    expect(findReport({ files: [file], text: undefined })).toBeUndefined();
    expect(readDmarcReport(`<feedback>${"<a>".repeat(700_000)}`)).toBeUndefined();
    expect(readDmarcReport(`<feedback>${"<a>".repeat(10_000)}`)).toBeUndefined();
    const rows = Array.from({ length: 10_001 }, () => ({ ip: "192.0.2.1" }));
    expect(readDmarcReport(writeDmarcXml({ domain: "a.example", from, rows }))).toBeUndefined();
    const fits = writeDmarcXml({ domain: "a.example", from, rows: rows.slice(1) });
    expect(readDmarcReport(fits)?.rows).toHaveLength(10_000);
  });

  test("of damaged files", () => {
    const zipped = zipOf("r.xml", xml);
    expect(unpackReport(zipped.subarray(0, 200))).toBeUndefined();
    expect(unpackReport(gzipOf(xml).subarray(0, 200))).toBeUndefined();
    expect(unpackReport(zipOf("picture.png", "x"))).toBeUndefined();
    expect(unpackReport(Buffer.from("PK"))).toBeUndefined();
  });
});
