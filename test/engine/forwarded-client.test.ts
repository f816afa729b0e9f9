// The address of the client behind requests of the service to itself.
import { beforeAll, expect, test } from "vitest";
import { tags } from "../../functions/http/tags.ts";
import * as clock from "../../shared/clock.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { forwardedClientHeader, signClient } from "../../shared/http/forwarded-client.ts";
import { createAccount, type TestAccount } from "../support/accounts.ts";
import { readAuditItems } from "../support/audit-log.ts";
import { invokeRoute } from "../support/lambda-requests.ts";

let account: TestAccount;
let authorization: string;
beforeAll(async () => {
  account = await createAccount();
  await sites.create(account.caller, sites.NewSite.parse({ name: "Shop" }));
  authorization = await createAuthorization();
});

const createAuthorization = async (): Promise<string> => {
  const { key } = await apiKeys.create(account.caller, apiKeys.NewApiKey.parse({ name: "agent" }));
  return `Bearer ${key}`;
};

const agent = { address: "198.51.100.7", userAgent: "agent/2.0" };
const service = { address: "127.0.0.1", userAgent: "pennymail-mcp" };
let count = 0;

/** The client in the audit entry of a request with this header. */
async function recordedClient(header: string) {
  const { status } = await invokeRoute(tags, "POST /tags", {
    body: { name: `tag ${++count}` },
    address: service.address,
    headers: {
      authorization,
      "user-agent": service.userAgent,
      [forwardedClientHeader]: header,
    },
  });
  expect(status).toBe(201);
  const { address, userAgent } = (await readAuditItems(account.caller.orgId)).at(-1)!;
  return { address, userAgent };
}

test("the audit log has the client of a signed header", async () => {
  expect(await recordedClient(await signClient(agent, authorization))).toEqual(agent);
  const unnamed = { ...agent, userAgent: undefined };
  expect(await recordedClient(await signClient(unnamed, authorization))).toEqual({
    ...agent,
    userAgent: null,
  });
});

test("a header that is forged, of another key or old is ignored", async () => {
  const header = await signClient(agent, authorization);
  const [payload = "", signature = ""] = header.split(".");
  const other = Buffer.from(JSON.stringify({ ...agent, address: "203.0.113.1" }));
  const refused = [
    "x",
    payload,
    `${payload}.${signature}x`,
    `${other.toString("base64url")}.${signature}`,
    await signClient(agent, await createAuthorization()),
  ];
  for (const one of refused) expect(await recordedClient(one)).toEqual(service);
  clock.advanceClock(61);
  expect(await recordedClient(header)).toEqual(service);
});
