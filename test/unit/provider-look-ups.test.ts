// The adapters look for mails by our send id in the provider sandbox, whose searches have the delay
// of the real ones.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as z from "zod";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import * as clock from "../../shared/clock.ts";
import type { LookUpOutcome, ProviderAdapter } from "../../shared/providers/provider-adapter.ts";
import { providers } from "../../shared/providers/registry.ts";
import { startRecordingServer } from "../support/provider-apis/recording-server.ts";
import {
  createAccount,
  handOver,
  mailing,
  type ProviderKeys,
  recipient,
  startSandbox,
  useSandbox,
} from "../support/provider-sandbox.ts";

let sandbox: Sandbox;
let keys: Record<string, ProviderKeys>;

beforeAll(async () => {
  sandbox = await startSandbox();
  useSandbox(sandbox);
  keys = await createAccount(sandbox);
});
afterAll(() => sandbox.stop());

const askable = providers.filter(({ lookUp }) => lookUp);

test("six providers have a search that knows our ids, and three of them prove that a mail is missing", () => {
  expect(askable.map(({ key }) => key).toSorted()).toEqual([
    "mailgun",
    "mailjet",
    "mandrill",
    "postmark",
    "sendgrid",
    "sparkpost",
  ]);
  const proving = askable.filter(({ lookUp }) => lookUp!.missing);
  expect(proving.map(({ key }) => key).toSorted()).toEqual(["mailgun", "postmark", "sparkpost"]);
});

const find = (
  provider: ProviderAdapter,
  mails: { sendId: number; to: string }[],
  credentials = keys[provider.key]!.credentials,
): Promise<LookUpOutcome[]> =>
  provider.lookUp!.find({
    mails,
    since: clock.addSeconds(-3600),
    credentials: provider.credentials.parse(credentials) as z.output<typeof provider.credentials>,
  });

describe.each(askable)("$name", (provider) => {
  test("finds a mail with the message id of its events, and misses a mail that was never sent", async () => {
    const one = recipient(`found+${provider.key}@example.net`);
    const [outcome] = await handOver(
      provider,
      keys[provider.key]!.credentials,
      mailing([one]),
      `key-${provider.key}`,
    );
    expect(outcome).toMatchObject({ status: "accepted" });
    const { messageId } = outcome as { messageId?: string };
    const sought = { sendId: one.sendId, to: one.to.email };
    expect(await find(provider, [sought])).toEqual([{ status: "missing" }]);
    clock.advanceClock(120);
    expect(await find(provider, [sought])).toEqual([{ status: "found", messageId }]);
    const other = { sendId: 1, to: one.to.email };
    expect(await find(provider, [other])).toEqual([{ status: "missing" }]);
    if (provider.lookUp!.max > 1)
      expect(await find(provider, [other, sought])).toEqual([
        { status: "missing" },
        { status: "found", messageId },
      ]);
  });

  test.each([
    ["the plan or the key does not permit the search", 401, "{}"],
    ["the search does not exist", 404, "{}"],
    ["the provider fails", 500, "{}"],
    ["the response is a web page", 200, "<html></html>"],
    ["the response is of another kind", 200, '{"hello":1}'],
  ])("does not know of a mail when %s", async (_, status, body) => {
    const server = await startRecordingServer();
    server.setReply({ status, headers: { "content-type": "application/json" }, body });
    const variable = `PROVIDER_URL_${provider.key.toUpperCase()}`;
    const before = process.env[variable];
    process.env[variable] = server.origin;
    const [outcome] = await find(provider, [{ sendId: 7, to: "ada@example.net" }]).finally(() => {
      process.env[variable] = before;
    });
    await server.close();
    expect(outcome).toMatchObject({ status: "unknown" });
    for (const secret of Object.values(keys[provider.key]!.credentials))
      expect(JSON.stringify(outcome)).not.toContain(secret);
  });
});
