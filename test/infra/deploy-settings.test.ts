import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { accountLimits } from "../../infra/aws/concurrency-limit.ts";
import { parseSettings } from "../../infra/aws/settings.ts";

const settings = (context: Record<string, string>) => parseSettings((name) => context[name]);

describe("settings", () => {
  test("are optional: the defaults are stage dev and signup by the first organization only", () => {
    expect(settings({})).toMatchObject({
      stage: "dev",
      protect: true,
      signup: "first",
      warmThroughput: false,
    });
  });

  test("that are not valid are all named in one error", () => {
    const wrong = {
      stage: "Prod!",
      signup: "never",
      defaultPlan: "gold",
      publicUrl: "http://plain.example",
      alarmEmail: "ops",
    };
    for (const name of Object.keys(wrong))
      expect(() => settings(wrong)).toThrow(`The setting ${name}: `);
  });

  test("checks the names of a restored table, bucket and key", () => {
    for (const wrong of [{ tableName: "a b" }, { bucketName: "Upper" }, { keyArn: "alias/mine" }])
      expect(() => settings(wrong)).toThrow(`The setting ${Object.keys(wrong)[0]}: `);
  });

  test("requires a certificate for a domain", () => {
    expect(() => settings({ domainName: "mail.example.com" })).toThrow("certificateArn is missing");
  });
});

describe("settings that depend on each other", () => {
  const systemSender = "postmark:us@example.com";
  const systemSenderSecret = "pennymail/sender";

  test("a system sender needs a secret", () => {
    expect(() => settings({ systemSender })).toThrow("systemSenderSecret is missing");
    expect(settings({ systemSender, systemSenderSecret })).toMatchObject({ systemSender });
  });

  test.each(["1004", 1004, "postmark", "pigeon:us@example.com", "postmark:us"])(
    "the system sender %s is refused, and the error says what is accepted",
    (wrong) => {
      const context: Record<string, unknown> = { systemSender: wrong, systemSenderSecret };
      expect(() => parseSettings((name) => context[name])).toThrow(
        /^The setting systemSender: must be <provider>:<from address>.* config is not accepted/,
      );
    },
  );

  test("the verification of sign-ups needs a system sender", () => {
    expect(() => settings({ emailVerification: "on" })).toThrow("systemSender is missing");
    expect(settings({ emailVerification: "on", systemSender, systemSenderSecret })).toMatchObject({
      emailVerification: "on",
    });
  });

  test("provider URLs are named by provider", () => {
    const providerUrls = JSON.stringify({ sendgrid: "https://stand-in.example" });
    expect(settings({ providerUrls })).toMatchObject({
      providerUrls: { sendgrid: "https://stand-in.example" },
    });
    expect(() => settings({ providerUrls: '{"pigeon":"https://x.example"}' })).toThrow(
      "pigeon is not a provider",
    );
    expect(() => settings({ providerUrls: "{" })).toThrow("The setting providerUrls: ");
  });
});

describe("account", () => {
  afterEach(() => vi.unstubAllEnvs());

  test("returns its concurrency limit to a signed request", async () => {
    const requests: { url: string | undefined; authorization: string | undefined }[] = [];
    const lambda = createServer(({ url, headers: { authorization } }, response) => {
      requests.push({ url, authorization });
      response.end(
        JSON.stringify({
          AccountLimit: { ConcurrentExecutions: 10 },
          ProductionAccessEnabled: false,
        }),
      );
    });
    await new Promise<void>((listening) => lambda.listen(0, "127.0.0.1", listening));
    vi.stubEnv("AWS_ENDPOINT_URL", `http://127.0.0.1:${(lambda.address() as AddressInfo).port}`);
    vi.stubEnv("AWS_REGION", "eu-west-1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    expect(await accountLimits()).toEqual({
      concurrency: 10,
      mailQuota: { sandbox: true },
      problems: [],
    });
    lambda.close();
    expect(requests.map(({ url }) => url).toSorted()).toEqual([
      "/2016-08-19/account-settings",
      "/v2/email/account",
    ]);
    const [lambdaCall] = requests.filter(({ url }) => url?.startsWith("/2016"));
    expect(lambdaCall?.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/lambda\/aws4_request,/,
    );
  });
});
