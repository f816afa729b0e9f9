// Reports as mailbox providers send them.
import { gzipSync } from "node:zlib";
import { zipSync } from "fflate";

export interface SampleRow {
  ip: string;
  count?: number;
  disposition?: string;
  dkim?: string;
  spf?: string;
  fromDomain?: string;
  signer?: string;
}

export interface SampleDmarcReport {
  domain: string;
  reporter?: string;
  reportId?: string;
  /** Start of the day that it is about. */
  from: Date;
  rows: SampleRow[];
}

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000);

const writeRow = (domain: string, row: SampleRow): string => {
  const { ip, count = 1, disposition = "none", dkim = "pass", spf = "pass" } = row;
  const { fromDomain = domain, signer = domain } = row;
  return `
  <record>
    <row>
      <source_ip>${ip}</source_ip>
      <count>${count}</count>
      <policy_evaluated>
        <disposition>${disposition}</disposition><dkim>${dkim}</dkim><spf>${spf}</spf>
      </policy_evaluated>
    </row>
    <identifiers><header_from>${fromDomain}</header_from></identifiers>
    <auth_results>
      <dkim><domain>other.example</domain><result>fail</result><selector>x</selector></dkim>
      <dkim><domain>${signer}</domain><result>pass</result><selector>s1</selector></dkim>
      <spf><domain>bounce.${signer}</domain><result>pass</result></spf>
    </auth_results>
  </record>`;
};

/** As RFC 7489, appendix C shows it. */
export const writeDmarcXml = ({
  domain,
  reporter = "google.com",
  reportId = crypto.randomUUID(),
  from,
  rows,
}: SampleDmarcReport): string => `<?xml version="1.0" encoding="UTF-8" ?>
<feedback>
  <report_metadata>
    <org_name>${reporter}</org_name>
    <email>noreply-dmarc-support@${reporter}</email>
    <report_id>${reportId}</report_id>
    <date_range><begin>${seconds(from)}</begin><end>${seconds(from) + 86_399}</end></date_range>
  </report_metadata>
  <policy_published>
    <domain>${domain}</domain><adkim>r</adkim><aspf>r</aspf><p>none</p><sp>none</sp><pct>100</pct>
  </policy_published>${rows.map((row) => writeRow(domain, row)).join("")}
</feedback>
`;

export interface SampleTlsReport {
  domain: string;
  reportId?: string;
  from: Date;
  failed?: number;
}

/** As RFC 8460, appendix B shows it. */
export const writeTlsJson = ({
  domain,
  reportId = crypto.randomUUID(),
  from,
  failed = 3,
}: SampleTlsReport): string =>
  JSON.stringify({
    "organization-name": "Company-X",
    "date-range": {
      "start-datetime": from.toISOString(),
      "end-datetime": new Date(from.getTime() + 86_399_000).toISOString(),
    },
    "contact-info": "sts-reporting@company-x.example",
    "report-id": reportId,
    policies: [
      {
        policy: {
          "policy-type": "sts",
          "policy-string": ["version: STSv1", "mode: testing", `mx: *.mail.${domain}`],
          "policy-domain": domain,
          "mx-host": [`*.mail.${domain}`],
        },
        summary: {
          "total-successful-session-count": 5326,
          "total-failure-session-count": failed,
        },
        "failure-details": [
          {
            "result-type": "certificate-expired",
            "sending-mta-ip": "2001:db8:abcd:0012::1",
            "receiving-mx-hostname": `mx1.mail.${domain}`,
            "failed-session-count": failed,
          },
        ],
      },
    ],
  });

export const zipOf = (name: string, text: string): Buffer =>
  Buffer.from(zipSync({ [name]: new TextEncoder().encode(text) }));
export const gzipOf = (text: string): Buffer => gzipSync(text);

interface ReportMail {
  from?: string;
  subject?: string;
  messageId?: string;
  type: string;
  filename: string;
  content: Buffer;
  /** The file is the whole mail. */
  isBody?: boolean;
}

/** A mail with the report as its only file. */
export function writeReportMail(mail: ReportMail): Buffer {
  const { from = "noreply-dmarc-support@google.com", type, filename, content } = mail;
  const { messageId = crypto.randomUUID(), subject = "Report domain: shop.example" } = mail;
  const file = [
    `Content-Type: ${type}; name="${filename}"`,
    `Content-Disposition: attachment; filename="${filename}"`,
    "Content-Transfer-Encoding: base64",
    "",
    content.toString("base64").replace(/.{76}/g, "$&\r\n"),
  ];
  const head = [
    `From: ${from}`,
    "To: reports@in.shop.example",
    `Subject: ${subject}`,
    `Message-ID: <${messageId}@reports.example>`,
    "MIME-Version: 1.0",
  ];
  if (mail.isBody) return Buffer.from([...head, ...file, ""].join("\r\n"));
  const parts = ["Content-Type: text/plain", "", "This is a report.", "--=_x", ...file];
  return Buffer.from(
    [
      ...head,
      'Content-Type: multipart/mixed; boundary="=_x"',
      "",
      "--=_x",
      ...parts,
      "--=_x--",
      "",
    ].join("\r\n"),
  );
}
