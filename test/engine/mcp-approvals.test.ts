// Tokens of approvals, without the API: what voids them.
import { expect, test } from "vitest";
import { getMcpCatalog } from "../../functions/mcp-catalog.ts";
import { advanceClock } from "../../shared/clock.ts";
import { requestApproval } from "../../shared/http/mcp/approvals.ts";

const { operations } = await getMcpCatalog();
const operation = operations.find(({ name }) => name === "sendCampaign")!;

const preview = { wouldReceive: 20, fingerprint: "a", samples: [] };
const request = {
  caller: { orgId: 1, keyId: 2 },
  operation,
  args: { id: 3 },
  token: undefined as string | undefined,
};
const ask = (change: Partial<typeof request>, shown: object = preview) =>
  requestApproval({ ...request, ...change }, async () => shown);
const getToken = async () => ((await ask({})).preview as { approvalToken: string }).approvalToken;
const approved = { idempotencyKey: expect.stringMatching(/^approval-[0-9a-f]{64}$/) };

test("a token approves the same call by the same key", async () => {
  const token = await getToken();
  expect(await ask({ token })).toEqual(approved);
  expect(await ask({ token })).toEqual(await ask({ token }));
});

test("a token approves no other call, key, organization, audience or content", async () => {
  const token = await getToken();
  const voided = { code: "approval_void" };
  for (const other of [
    { caller: { orgId: 1, keyId: 9 } },
    { caller: { orgId: 9, keyId: 2 } },
    { args: { id: 9 } },
    { operation: operations.find(({ name }) => name === "scheduleCampaign")! },
  ])
    await expect(ask({ token, ...other })).rejects.toMatchObject(voided);
  for (const changed of [{ wouldReceive: 21 }, { fingerprint: "b" }])
    await expect(ask({ token }, { ...preview, ...changed })).rejects.toMatchObject(voided);
  const middle = Math.floor(token.length / 2);
  const otherLetter = token[middle] === "A" ? "B" : "A";
  const changedToken = token.slice(0, middle) + otherLetter + token.slice(middle + 1);
  for (const forged of ["", "x", token.slice(1), changedToken])
    await expect(ask({ token: forged })).rejects.toMatchObject(voided);
});

test("a token expires after 15 minutes", async () => {
  const token = await getToken();
  advanceClock(14 * 60);
  expect(await ask({ token })).toEqual(approved);
  advanceClock(60);
  await expect(ask({ token })).rejects.toThrow("has expired");
});
