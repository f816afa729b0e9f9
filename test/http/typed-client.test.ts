// Types are generated from the OpenAPI document of the service. A customer's program in TypeScript
// compiles with them in strict mode and runs.
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import openapiTypescript from "openapi-typescript";
import { expect, inject, test } from "vitest";
import { request, uniqueEmail } from "../support/api-client.ts";
import { schemaChecker } from "../support/openapi-document.ts";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "test/typed");
const run = promisify(execFile);

interface Journey {
  travel(given: object): Promise<Record<"send" | "events" | "campaign" | "refusal", object>>;
}

// A deployed service has no sandbox to send through.
test.skipIf(new URL(inject("baseUrl")).hostname !== "127.0.0.1")(
  "a program with types of the OpenAPI document compiles, signs up, and sends a campaign",
  async () => {
    const document = JSON.parse((await request("GET", "/openapi.json")).text);
    mkdirSync(join(folder, "generated"), { recursive: true });
    writeFileSync(join(folder, "generated/api.ts"), await openapiTypescript(document));
    await run(process.execPath, [
      join(root, "node_modules/typescript/bin/tsc"),
      "-p",
      folder,
    ]).catch(({ stdout }: { stdout: string }) => {
      throw new Error(stdout);
    });

    const { travel }: Journey = await import(join(folder, "customer-program.ts"));
    const answer = await fetch(`${inject("baseUrl")}/_local/sandbox`);
    const { data } = (await answer.json()) as {
      data: { providers: Record<string, { credentials: object; webhookSecret: string }> };
    };
    const recipient = uniqueEmail();
    const result = await travel({
      baseUrl: inject("baseUrl"),
      email: uniqueEmail(),
      recipient,
      ...data.providers.postmark,
    });
    expect(result).toMatchObject({
      send: {
        toEmail: recipient,
        subject: "Hello Ann",
        status: "delivered",
        events: [{ type: "delivered" }],
      },
      events: [{ type: "delivered", toEmail: recipient }],
      campaign: {
        name: "Spring sale",
        status: "sent",
        stats: { recipients: 1, delivered: 1 },
        accounting: { candidates: 1, delivered: 1 },
      },
      refusal: { code: "not_found" },
    });
    const check = schemaChecker(document);
    const named = { send: "SendDetail", campaign: "CampaignDetail", refusal: "Problem" } as const;
    for (const [name, id] of Object.entries(named))
      expect(
        check({ $ref: `#/components/schemas/${id}` }, result[name as keyof typeof named]),
      ).toEqual([]);
  },
);
