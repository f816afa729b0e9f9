import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import { groups } from "../../functions/route-groups.ts";
import { readOperations } from "../../infra/sdk/operations.ts";
import { operationNames } from "../../shared/http/operation-names.ts";
import { createSdkProject, type SdkProject } from "../support/sdk-project.ts";

const root = join(import.meta.dirname, "../..");
let project: SdkProject;
beforeAll(async () => {
  project = await createSdkProject();
});
afterAll(() => project?.remove());

describe("the package", () => {
  test("has no dependencies, and less than 30 kB of minified code", () => {
    const installed = join(project.folder, "node_modules/pennymail/package.json");
    const manifest = JSON.parse(readFileSync(installed, "utf8"));
    expect(manifest).not.toHaveProperty("dependencies");
    expect(manifest).toMatchObject({ name: "pennymail", type: "module" });
    expect(project.minifiedBytes).toBeLessThan(30_000);
    expect(project.packedFiles).toEqual(
      expect.arrayContaining(["LICENSE", "README.md", "index.js", "types/index.d.ts"]),
    );
  });

  test("names no module of Node, so that it works in Workers and browsers", () => {
    const code = readFileSync(join(project.folder, "node_modules/pennymail/index.js"), "utf8");
    expect(code).not.toMatch(/from "|require\(|import\("/);
  });

  test("has types that compile strictly, and exact ones", async () => {
    copyFileSync(join(root, "test/typed/sdk/program.ts"), join(project.folder, "program.ts"));
    await project.compile();
    writeFileSync(
      join(project.folder, "wrong.ts"),
      `import { Pennymail } from "pennymail";
void new Pennymail({ baseUrl: "https://mail.example" }).contacts.create({ mail: "a@b.example" });`,
    );
    await expect(project.compile()).rejects.toThrow("'mail' does not exist");
  });

  test("has a method for each operation, except pages and endpoints of other services", async () => {
    const installed = join(project.folder, "node_modules/pennymail/index.js");
    const { Pennymail } = await import(pathToFileURL(installed).href);
    const client = new Pennymail({ baseUrl: "https://mail.example" });
    const all = groups.flatMap(({ routes }) => routes.map((route) => operationNames(route)));
    const missing = all.filter(({ group, action }) => !client[group]?.[action]);
    expect(
      missing
        .filter(({ group }) => !["providerWebhooks", "inboundWebhooks"].includes(group))
        .map(({ operationId }) => operationId)
        .toSorted(),
    ).toEqual([
      "confirmFormSubmission",
      "getConsole",
      "getConsoleFile",
      "getConsolePart",
      "getConsolePreview",
      "getConsoleRecord",
      "getConsoleScreen",
      "getErrorCodesPage",
      "getFormConfirmationPage",
      "getFormEmbed",
      "getFormPage",
      "getHomePage",
      "getInvitationPage",
      "getMediaFile",
      "getOneClickPage",
      "getOpenApiDocument",
      "getPasswordResetPage",
      "getReferencePage",
      "getReferenceScript",
      "getResendEmail",
      "getSecureMessageFile",
      "getSecureMessagePage",
      "getStockPhotoFile",
      "getTrackingScript",
      "getUnsubscribePage",
      "getVerificationPage",
      "logInWithSso",
      ...["Batch", "Email", "TemplateBatch", "TemplateEmail"].map(
        (name) => `receivePostmark${name}`,
      ),
      ...["receiveResendBatch", "receiveResendEmail"],
      ...["Alias", "Batch", "Group", "Identify", "Import", "Page", "Screen", "Track"].map(
        (type) => `receiveSegment${type}`,
      ),
      "receiveSendgridMail",
      "receiveSsoLogin",
      "receiveStripeEvent",
      "sendMcpMessage",
      "submitInvitationPage",
      "submitPasswordResetPage",
      "submitUnsubscribePage",
      "submitVerificationPage",
      "unsubscribeOneClick",
      "viewArchive",
      "viewArchiveFeed",
      "viewArchivedEmail",
      "viewEmailInBrowser",
      "viewEmailLink",
      "viewSecureMessage",
    ]);
    expect(client.send).toBe(client.emails.send);
  });
});

test("every operation that creates or sends has an Idempotency-Key, so that it can be repeated", async () => {
  const operations = readOperations(await getOpenApiDocument());
  const posts = operations.filter(({ method, isPublic }) => method === "POST" && !isPublic);
  expect(posts.length).toBeGreaterThan(40);
  const without = posts.filter(({ takesIdempotencyKey }) => !takesIdempotencyKey);
  // They change nothing.
  expect(without.map(({ id }) => id).toSorted()).toEqual([
    "checkTemplate",
    "countSegmentContacts",
    "explainRules",
    "previewCampaign",
    "previewCampaignSeries",
    "previewCampaignSeriesDraft",
    "previewContactAction",
    "previewEmailBatch",
    "previewImport",
    "previewSegmentCount",
    "renderSnippet",
    "renderTemplate",
    "testSso",
    "walkSequence",
  ]);
  for (const { id, isRepeatable, method, isPublic } of operations)
    expect(isRepeatable, id).toBe(!(method === "POST" && isPublic));
});
