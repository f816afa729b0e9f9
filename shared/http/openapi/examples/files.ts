// Example bodies that are not JSON: files, pages, scripts and the events of providers.
import { audienceExamples, Contact, Suppression } from "./accounts-and-audience.ts";
import { inboundMailExamples } from "./inbound-mail.ts";
import { providerEventExamples } from "./provider-events.ts";

const lines = (...rows: string[]): string => `${rows.join("\r\n")}\r\n`;

const cell = (value: unknown): string => {
  const text = Array.isArray(value) ? value.map(({ name }) => name).join(",") : `${value ?? ""}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A CSV file with one column per field of the record. */
export const csvOf = (record: object): string =>
  lines(Object.keys(record).join(","), Object.values(record).map(cell).join(","));

const exportedContact = Object.fromEntries(
  (
    "id,email,firstName,lastName,phone,company,timezone,status,tags,lists,score,source," +
    "sendCount,openCount,clickCount,lastSentAt,lastOpenedAt,lastClickedAt,createdAt,updatedAt," +
    "externalId,locale"
  )
    .split(",")
    .map((column) => [column, Contact[column as keyof typeof Contact]])
    .concat([["customFields.plan", Contact.customFields.plan]]),
);

const exportedAuditEntry = {
  id: "2026-12-01T08:59:12.440Z#Wb3kQz1x",
  at: "2026-12-01T08:59:12.440Z",
  action: "updateMember",
  actorType: "user",
  actorId: 1,
  actorName: "ada@example.com",
  target: "members/2",
  outcome: "done",
  changedFields: "role",
  changes: '[{"field":"role","from":"viewer","to":"marketer"}]',
  count: 1,
  address: "203.0.113.7",
  userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  requestId: "b1946ac9-2492-4d23-87c6-235b4d2611f2",
  link: 12,
};

const peopleFile = lines(
  "Email,First name,Plan",
  "ann@example.com,Ann,pro",
  "bob@example.com,Bob,team",
);

/** A page with this heading. */
export const pageExample = (title: string): string =>
  `<!doctype html>\n<html lang="en">\n<title>${title}</title>\n<h1>${title}</h1>\n</html>\n`;
const pageTitles: Record<string, string> = {
  getFormPage: "Newsletter",
  getFormConfirmationPage: "Please confirm",
  confirmFormSubmission: "Thank you",
  getSecureMessagePage: "A secure message from My shop",
  viewSecureMessage: "Your contract",
  getOneClickPage: "Unsubscribe",
  getUnsubscribePage: "Unsubscribe",
  submitUnsubscribePage: "You are unsubscribed",
  getErrorCodesPage: "Error codes",
  getPasswordResetPage: "Choose a new password",
  submitPasswordResetPage: "Your password is changed",
};

const providerEventKey = /^receive(\w+)Events$/;

/** Examples of requests by operation id and content type. */
const requests: Record<string, unknown> = {
  "createImport text/csv": peopleFile,
  "createImport text/tab-separated-values": peopleFile.replaceAll(",", "\t"),
  "createImport text/plain": peopleFile,
  "previewImport text/csv": peopleFile,
  "previewImport text/tab-separated-values": peopleFile.replaceAll(",", "\t"),
  "previewImport text/plain": peopleFile,
  "importSuppressions text/csv": lines("email,reason", "ada@example.com,manual"),
  ...inboundMailExamples,
  "receiveStripeEvent application/json": {
    id: "evt_1SZkq2LkdIwHu7ix",
    type: "invoice.paid",
    created: 1_796_029_206,
    data: { object: { id: "in_1SZkq1LkdIwHu7ix", customer: "cus_TJ8uQm", status: "paid" } },
  },
};

/** Examples of responses by operation id and content type. */
const responses: Record<string, unknown> = {
  "exportContacts text/csv": csvOf(exportedContact),
  "exportSuppressions text/csv": csvOf(Suppression),
  "exportAuditLog text/csv": csvOf(exportedAuditEntry),
  "exportAuditLog application/x-ndjson": `${JSON.stringify(audienceExamples.AuditEntry)}\n`,
  "getImportErrors text/csv": lines(
    "row,email,message",
    "7,ann@example,email must be one valid email address",
  ),
  "viewArchiveFeed text/xml": lines(
    '<?xml version="1.0" encoding="utf-8"?>',
    '<rss version="2.0"><channel><title>My shop</title>',
    "<link>https://mail.example/archive/1</link><description>My shop</description>",
    "<item><title>Three new breads</title><link>https://mail.example/archive/1/7</link>",
    '<guid isPermaLink="true">https://mail.example/archive/1/7</guid>',
    "<pubDate>Tue, 24 Nov 2026 09:00:00 GMT</pubDate></item></channel></rss>",
  ),
  "getFormEmbed application/javascript": "(() => { /* Shows the form. */ })();",
  "getTrackingScript application/javascript": "(() => { /* Reports page views. */ })();",
  "getReferenceScript text/javascript": "(() => { /* Shows the API reference. */ })();",
  "getConsoleFile text/javascript": "(() => { /* Shows the console. */ })();",
  "getConsoleFile font/woff2": "wOF2",
  "getConsoleFile text/css": ":root { color-scheme: light dark }",
  "sendMcpMessage application/json": {
    jsonrpc: "2.0",
    id: 1,
    result: {
      tools: [{ name: "sendEmail", description: "Send an email", inputSchema: { type: "object" } }],
    },
  },
  "getOpenApiDocument application/json": {
    openapi: "3.1.0",
    info: { title: "Pennymail", version: "1" },
    paths: {},
  },
};

/** The example of a request body that no schema describes; undefined if there is none. */
export function requestExample(operationId: string, contentType: string): unknown {
  const [, provider] = providerEventKey.exec(operationId) ?? [];
  return provider
    ? providerEventExamples[provider.toLowerCase()]
    : requests[`${operationId} ${contentType}`];
}

/** The example of a response that no schema describes; undefined if there is none. */
export const responseBodyExample = (operationId: string, contentType: string): unknown =>
  contentType === "text/html"
    ? pageExample(pageTitles[operationId] ?? "Pennymail")
    : responses[`${operationId} ${contentType}`];
