// The tools of the MCP server, for every operation.
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { getMcpCatalog } from "../../functions/mcp-catalog.ts";
import { groups } from "../../functions/route-groups.ts";
import { approvalRules } from "../../shared/http/mcp/approval-rules.ts";
import { findOperations } from "../../shared/http/mcp/find-operations.ts";
import { operationNames } from "../../shared/http/operation-names.ts";

const catalog = await getMcpCatalog();
const { operations } = catalog;
const changing = operations.filter(({ isReadOnly }) => !isReadOnly);

describe("the catalog", () => {
  test("has every operation that an API key may call", () => {
    const callable = groups
      .flatMap(({ routes }) => routes)
      .filter(({ auth, wireFormat }) => auth === "account" && !wireFormat)
      .map((route) => operationNames(route).operationId);
    expect(operations.map(({ name }) => name).toSorted()).toEqual(callable.toSorted());
  });

  test("has names that hosts of tools accept", () => {
    for (const { name } of operations) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  test("has one argument of each name, and valid schemas without references", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const { name, inputSchema, pathParameters, queryParameters } of operations) {
      const own = [...pathParameters, ...queryParameters];
      expect(new Set(own).size, name).toBe(own.length);
      const reserved = ["body", "idempotencyKey", "fromCharacter", "approvalToken"];
      expect(own.filter((parameter) => reserved.includes(parameter))).toEqual([]);
      expect(() => ajv.compile(inputSchema), name).not.toThrow();
      expect(JSON.stringify(inputSchema), name).not.toContain('"$ref"');
    }
  });

  test("counts GET requests and previews as reading, and nothing else", () => {
    const reading = operations.filter(({ isReadOnly, method }) => isReadOnly && method !== "GET");
    expect(reading.map(({ name }) => name).toSorted()).toEqual([
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
      "walkSequence",
    ]);
    expect(changing.filter(({ method }) => method === "GET")).toEqual([]);
  });

  test("finds operations by any form of their words", () => {
    const firstOf = (words: string) => findOperations(operations, words)[0]?.name;
    expect(firstOf("upload a csv file of contacts to import")).toBe("createImport");
    expect(firstOf("Campaigns: pause")).toBe("pauseCampaign");
    expect(firstOf("suppressions list")).toBe("listSuppressions");
    expect(findOperations(operations, "the of a")).toEqual([]);
    expect(findOperations(operations, "e").length).toBeLessThanOrEqual(15);
  });
});

test("an agent deletes nothing that is in use unless it says so", () => {
  const careful = operations.filter(({ queryParameters }) => queryParameters.includes("ifUnused"));
  expect(careful.map(({ name }) => name).toSorted()).toEqual([
    "deleteList",
    "deleteMedia",
    "deleteSegment",
    "deleteSendingConfig",
    "deleteTag",
    "deleteTemplate",
    "deleteTopic",
  ]);
  for (const { inputSchema } of careful)
    expect(inputSchema.properties!.ifUnused).toMatchObject({ default: "true" });
});

/** Calls that mail at most ten people, each for a reason. A new one must be looked at. */
const mailsFew = [
  ...["createContact", "updateContact", "deleteContact", "applyContactTag", "removeContactTag"],
  ...["deletePerson", "mergeContact", "requestConfirmation"],
  ...[
    "updateContactTopics",
    "adjustContactScore",
    "createList",
    "updateList",
    "deleteList",
    "removeListContacts",
  ],
  ...["createTemplate", "deleteTemplate", "createSegment", "deleteSegment"],
  // Up to five test mails.
  "sendTemplateTests",
  // A draft, and up to ten proofs.
  ...["createCampaign", "deleteCampaign", "sendCampaignProofs", "pauseCampaign", "cancelCampaign"],
  "unscheduleCampaign",
  ...["deleteHoliday", "cancelContactAction"],
  // A new sequence has no enrollments, and steps are added after the contacts that wait.
  ...["createSequence", "createSequenceFromPlaybook", "createSequenceSteps", "deleteSequence"],
  ...["cancelSequenceEnrollment", "rotateSequenceWebhookUrl"],
  ...["updateSequenceDraft", "deleteSequenceDraft"],
  // Checks, which mail nobody.
  ...["validateEmails", "checkSenders", "checkCampaignAudit"],
  "updateCampaignArchive",
];
const groupsThatMail = [
  ...["emails", "campaigns", "holidays", "sequences", "contacts", "lists", "imports"],
  ...["templates", "segments", "contactActions"],
];

describe("the approval rules", () => {
  test("are of operations that change something", () => {
    const names = changing.map(({ name }) => name);
    expect(Object.keys(approvalRules).filter((name) => !names.includes(name))).toEqual([]);
  });

  test("cover every operation that can mail people, unless it mails at most ten", () => {
    const canMail = changing.filter(
      ({ group, isPaid }) => isPaid || groupsThatMail.includes(group),
    );
    expect(canMail.length).toBeGreaterThan(30);
    const known = [...Object.keys(approvalRules), ...mailsFew];
    expect(known.filter((name, i) => known.indexOf(name) !== i)).toEqual([]);
    expect(canMail.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
  });
});
